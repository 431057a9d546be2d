// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window offscreen with the real engine: every page, overlay and theme with the sample
// model; errors stay inside the window.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "core/ir/tir/text.h"
#include "views/pages/benchmark/benchmark_page.h"
#include "views/pages/inspect/inspect_page.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

namespace {

/// Works in this process, but the kernels whose loop IR contains `word` become a trap.
class TrappingService : public compiler::KernelService
{
public:
    explicit TrappingService(std::string word)
        : m_word(std::move(word))
    {
    }
    core::Result<compiler::KernelProducts> compile(const tir::PrimFunc& unscheduled,
                                                   const std::string& symbol,
                                                   const compiler::MachineSpec& machine,
                                                   const core::TargetFacts& facts) override
    {
        auto products = m_real->compile(unscheduled, symbol, machine, facts);
        if (!products || tir::print(unscheduled).find(m_word) == std::string::npos) return products;
        auto trap = emitText({.text = "declare void @llvm.trap()\ndefine hidden i32 @" + symbol +
                                      "() {\n  call void @llvm.trap()\n  unreachable\n}\n",
                              .machine = machine});
        if (!trap) return trap.error();
        products->object = *trap;
        return products;
    }
    core::Result<std::string> emitText(const compiler::TextRequest& request) override
    {
        return m_real->emitText(request);
    }
    core::Status link(const compiler::LinkRequest& request) override
    {
        return m_real->link(request);
    }

private:
    std::string m_word;
    std::shared_ptr<compiler::KernelService> m_real = compiler::inProcessKernelService();
};

} // namespace

class WindowTest : public QObject
{
    Q_OBJECT

private:
    static WindowOptions options() { return {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1}; }
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    /// Opens the sample and deploys it to this computer.
    static bool deploySample(MainWindow& window)
    {
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        if (!settle(window)) return false;
        window.deploy().deploy();
        return settle(window);
    }

private slots:
    void startsEmptyAndOpensTheSample()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        QVERIFY(!window.workspace().state().hasDocument);
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().state().hasDocument,
                 qPrintable(window.workspace().state().bannerText));
        QCOMPARE(window.workspace().state().errorCount, 0);
        for (const views::Page& page : window.pages()) {
            QVERIFY(window.showPerspective(page.name));
            QVERIFY(!window.grab().isNull());
        }
        QVERIFY(!window.showPerspective(QStringLiteral("no such page")));
        window.setDark(true);
        for (const char* overlay : {"palette", "keys", "log", "target"}) {
            window.openOverlay(QLatin1String(overlay));
            QVERIFY(!window.grab().isNull());
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window,
                            Qt::Key_Escape);
        }
    }

    void keepsEveryLabelReadableWhenTheThemeChanges()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        for (const views::Page& page : window.pages()) {
            QVERIFY(window.showPerspective(page.name)); // what was shown has been polished
            QVERIFY(!window.grab().isNull());
        }
        for (const bool isDark : {true, false, true}) {
            window.setDark(isDark);
            const QColor panel = views::loadTheme(isDark).panel;
            for (const auto* label : window.findChildren<views::ThemedLabel*>()) {
                const QColor ink = label->palette().color(QPalette::WindowText);
                QVERIFY2(views::contrastRatio(ink, panel) > 2.5, qPrintable(label->text()));
            }
        }
    }

    void looksAtTheBeginningOfAnotherModel()
    {
        const QTemporaryDir folder;
        const QString other = folder.filePath(QStringLiteral("other.onnx"));
        QVERIFY(QFile::copy(QStringLiteral(TENON_SAMPLE_MODEL), other));
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        views::GraphCanvas& canvas = window.part<views::InspectPage>().canvas();
        const QPointF start = canvas.camera().centre;
        const QPointF away = start + QPointF(300, 700);
        canvas.setCamera({away, canvas.camera().zoom});
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL)); // the same again: the view stays
        QVERIFY(settle(window));
        QCOMPARE(canvas.camera().centre, away);
        window.openModel(other);
        QVERIFY(settle(window));
        QCOMPARE(canvas.camera().centre, start);
    }

    void explainsALongTargetInFullHeight()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.workspace().setTarget(
            QStringLiteral("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4"));
        window.openOverlay(QStringLiteral("target"));
        QTest::qWait(10);
        auto* explanation = window.findChild<views::TargetExplanation*>();
        QVERIFY(explanation->isVisible());
        for (const auto* label : explanation->findChildren<views::ThemedLabel*>())
            QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                     qPrintable(label->text()));
        auto* field = window.findChild<views::TargetField*>();
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_VERIFY(!explanation->isVisible());
    }

    void takesBackATargetOnEscape()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        const QString before = window.workspace().state().target;
        auto* field = window.findChild<views::TargetField*>();
        QFocusEvent focus(QEvent::FocusIn, Qt::ShortcutFocusReason);
        QApplication::sendEvent(field, &focus);
        // Left of the list of suggestions, which opens under the field.
        const auto* explanation = window.findChild<views::TargetExplanation*>();
        QVERIFY(explanation->isVisible());
        QVERIFY(explanation->geometry().right() < field->mapTo(&window, QPoint()).x());
        field->setText(QStringLiteral("llvm -m"));
        QVERIFY(!window.workspace().state().isTargetValid);
        QTest::keyClick(field, Qt::Key_Escape);
        QCOMPARE(window.workspace().state().target, before);
        QVERIFY(window.workspace().state().isTargetValid);
    }

    void showsEveryKeyInFullHeightInTheSmallestWindow()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(window.minimumSize());
        window.show();
        window.openOverlay(QStringLiteral("keys"));
        auto* sheet = window.findChild<views::ShortcutSheet*>();
        QVERIFY(sheet->isVisible());
        QVERIFY(!window.grab().isNull()); // lays it out
        for (const auto* label : sheet->findChildren<views::ThemedLabel*>())
            QVERIFY2(label->height() >= label->fontMetrics().height(), qPrintable(label->text()));
    }

    void keepsEveryTabAndTheGraphInASmallWindow()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1024, 700);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(!window.grab().isNull()); // lays it out
        auto* title = window.findChild<views::TitleBar*>();
        views::PillTabs& tabs = title->tabs();
        QCOMPARE(tabs.count(), 8);
        for (int i = 0; i < tabs.count(); ++i) {
            QVERIFY(tabs.rect().contains(tabs.tabRect(i)));
            const QString text = tabs.tabText(i);
            QVERIFY(tabs.tabRect(i).width() > tabs.fontMetrics().horizontalAdvance(text));
        }
        QVERIFY(tabs.geometry().right() <
                window.findChild<views::TargetField*>()->geometry().left());
        window.resize(980, 620); // as small as it gets
        QVERIFY(!window.grab().isNull());
        for (int i = 0; i < tabs.count(); ++i) QVERIFY(tabs.rect().contains(tabs.tabRect(i)));
        QVERIFY(window.part<views::InspectPage>().canvas().width() > 400);
        window.resize(1600, 1000);
        QVERIFY(!window.grab().isNull());
        QVERIFY(window.part<views::InspectPage>().canvas().width() > 800);
    }

    /// A label cuts lines in half where its text takes more than its height.
    void cutsNoLineInHalf()
    {
        const views::ThemeSource themes(false);
        views::ThemedLabel label(themes, views::ThemedLabel::Role::Body,
                                 QStringLiteral("gggg ").repeated(60).trimmed());
        label.setWordWrap(true);
        label.setAlignment(Qt::AlignCenter);
        const int line = label.fontMetrics().lineSpacing();
        const auto inkOnEdge = [&](int height) {
            label.resize(120, height);
            const QImage shown = label.grab().toImage();
            const QRgb ground = shown.pixel(0, shown.height() / 2);
            for (int x = 0; x < shown.width(); ++x)
                if (shown.pixel(x, 0) != ground || shown.pixel(x, shown.height() - 1) != ground)
                    return true;
            return false;
        };
        for (int height = line; height < 4 * line; height += 3)
            QVERIFY2(!inkOnEdge(height), qPrintable(QString::number(height)));
        QCOMPARE(label.toolTip(), label.text());
        label.resize(120, label.heightForWidth(120));
        QVERIFY(!label.grab().isNull() && label.toolTip().isEmpty());
    }

    void compilesAndShowsAssemblyOfAFusedKernel()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1600, 1000);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.workspace().compile();
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->isCompiled(),
                 qPrintable(window.workspace().state().bannerText));
        window.showPerspective(QStringLiteral("passes"));
        QVERIFY(window.showPass(QStringLiteral("FuseOps")));
        QVERIFY(window.selectNode(QStringLiteral("conv2d")));
        window.showCodeTab(QStringLiteral("assembly"));
        QVERIFY(settle(window));
        bool isShown = false;
        for (const views::CodeView* view : window.findChildren<views::CodeView*>())
            isShown |= view->toPlainText().contains(QStringLiteral("ret"));
        QVERIFY(isShown);
    }

    void keepsAliveOnBadFiles()
    {
        QTemporaryDir folder;
        const QString bad = folder.filePath(QStringLiteral("bad.onnx"));
        QFile file(bad);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("\x08\x07\x3a\xff\xff\xff garbage");
        file.close();
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        for (const QString& path : {bad, folder.filePath(QStringLiteral("missing.onnx"))}) {
            window.openModel(path);
            QVERIFY(settle(window));
            QVERIFY(!window.workspace().state().bannerTitle.isEmpty());
            QVERIFY(!window.workspace().state().bannerText.isEmpty());
        }
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().bannerTitle.isEmpty());
        QVERIFY(window.workspace().state().hasDocument);
    }

    void namesTheKernelThatCrashesAndStaysAlive()
    {
        EngineOptions engine;
        engine.kernels = std::make_shared<TrappingService>("\"dense\"");
        MainWindow window(makeEngine(engine), {}, options());
        QVERIFY(deploySample(window));
        const views::WorkspaceState& state = window.workspace().state();
        QVERIFY(window.workspace().document()->isCompiled());
        QVERIFY2(state.bannerText.contains(QStringLiteral("SIGILL")), qPrintable(state.bannerText));
        QVERIFY2(state.bannerText.contains(QStringLiteral("dense")), qPrintable(state.bannerText));
        QVERIFY2(state.bannerText.contains(QStringLiteral("of nodes")),
                 qPrintable(state.bannerText));
        QVERIFY2(state.bannerText.contains(QStringLiteral("-mcpu")), qPrintable(state.bannerText));
        const int withCrash = state.issueCount; // others are remarks on this computer
        QVERIFY(state.bannerNode.isValid());
        QVERIFY(!window.workspace().document()->measurement);
        // From the banner to the node, and on with the work.
        auto* banner = window.findChild<views::Banner*>();
        emit banner->nodeRequested();
        QVERIFY(settle(window));
        QCOMPARE(window.workspace().selection().node(), state.bannerNode);
        QVERIFY(window.part<views::InspectPage>().canvas().selectedItem() >= 0);
        QVERIFY(state.canBuild);
        window.workspace().compile();
        QVERIFY(settle(window));
        QVERIFY(state.bannerTitle.isEmpty());
        QCOMPARE(state.issueCount, withCrash - 1);
        QVERIFY(!window.grab().isNull());
    }

    void measuresAgainWithTheThreadsThatAreChosen()
    {
        const QTemporaryDir folder;
        EngineOptions engine;
        engine.configFolder = folder.path(); // of the history
        engine.repeats = 2;
        MainWindow window(makeEngine(engine), {}, options());
        QVERIFY(deploySample(window));
        const auto& document = window.workspace().document();
        QVERIFY2(document->measurement, qPrintable(window.workspace().state().bannerText));
        QVERIFY(!document->measurement->peak.isEmpty());
        const auto& rows = window.workspace().calls().rows();
        QVERIFY(std::any_of(rows.begin(), rows.end(), [](const views::CallRow& row) {
            return !row.method.isEmpty() && row.shareOfBound > 0;
        }));
        window.part<views::BenchmarkPage>().threadTabs().setCurrentIndex(1);
        QVERIFY(settle(window));
        QCOMPARE(window.workspace().document()->measurement->threads, 1);
    }

    void exportsPagesAndGraphs()
    {
        const QTemporaryDir folder;
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        for (const char* page : {"inspect", "passes", "benchmark"})
            for (const char* ending : {".svg", ".png"}) {
                QVERIFY(window.showPerspective(QLatin1String(page)));
                const QString path = folder.filePath(QLatin1String(page) + QLatin1String(ending));
                const core::Status done = window.exportView(path);
                QVERIFY2(done, done ? "" : done.error().message.c_str());
                QVERIFY(QFileInfo(path).size() > 1000);
            }
    }

    void everyCommandIsInThePalette()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        views::PaletteModel* model = window.findChild<views::PaletteModel*>();
        QVERIFY(model);
        model->load();
        for (const views::ActionSpec& spec : window.actions().specs()) {
            if (spec.id.startsWith(QLatin1String("recent"))) continue;
            // Gestures are no commands: they have keys, and a command that does the same.
            if (!spec.run) {
                QVERIFY2(spec.isLocal && !spec.keys.isEmpty(), qPrintable(spec.id));
                continue;
            }
            QString text = spec.text;
            text.replace(QStringLiteral("&&"), QStringLiteral("&"));
            model->setQuery(text);
            QVERIFY2(model->rowCount() > 0 && model->entry(0)->text == text, qPrintable(text));
        }
    }

    void noTwoActionsShareAKey()
    {
        MainWindow window(makeEngine({}), {}, options());
        QSet<QString> seen;
        for (const views::ActionSpec& spec : window.actions().specs())
            for (const QString& keys : spec.keys.split(QStringLiteral(", "), Qt::SkipEmptyParts)) {
                QVERIFY2(!seen.contains(keys), qPrintable(keys));
                seen.insert(keys);
            }
    }
};

QTEST_MAIN(WindowTest)
#include <algorithm>

#include "window_test.moc"
