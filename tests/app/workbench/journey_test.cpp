// SPDX-License-Identifier: GPL-3.0-or-later
// The main journey in a real window: an X server, real key and mouse events, the real engine.
#include "app/workbench/engine.h"
#include "app/workbench/main_window.h"

#include <QApplication>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <cstdio>

using namespace tenon;
using namespace tenon::app;

namespace {

// Everything is waited for by its effect, with patience for a machine that does other work.
constexpr int kPatienceMs = 400000;

class JourneyTest : public QObject
{
    Q_OBJECT

private:
    template <class Condition>
    static bool waitFor(Condition condition)
    {
        return QTest::qWaitFor(condition, kPatienceMs);
    }
    static bool settle(MainWindow& window)
    {
        return waitFor([&] { return window.isSettled(); });
    }
    static void xdotool(const QStringList& arguments)
    {
        QProcess process;
        process.start(QStringLiteral("xdotool"), arguments);
        QVERIFY(process.waitForStarted(kPatienceMs));
        QVERIFY(waitFor([&] { return process.state() == QProcess::NotRunning; }));
        QCOMPARE(process.exitCode(), 0);
    }
    static void key(MainWindow& window, const QString& name)
    {
        xdotool({QStringLiteral("windowfocus"), QString::number(window.winId()),
                 QStringLiteral("key"), name});
    }
    static void click(const QWidget& widget, QPoint place)
    {
        const QPoint at = widget.mapToGlobal(place);
        xdotool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
                 QStringLiteral("click"), QStringLiteral("1")});
    }
    /// The title of a frame that can be clicked, or an empty point.
    static QPoint titleOfAFrame(views::GraphCanvas& canvas, int& frame)
    {
        for (const uint32_t item : canvas.visibleItems()) {
            const QPoint place =
                (canvas.pixelRect(static_cast<int>(item)).topLeft() + QPointF(24, 12)).toPoint();
            if (!canvas.scene().items[item].isFrame || !canvas.rect().contains(place)) continue;
            frame = static_cast<int>(item);
            return place;
        }
        return {};
    }

    /// The real engine; while `isEndless`, its benchmark runs until it is cancelled.
    static views::Engine engineWith(const std::shared_ptr<std::atomic<bool>>& isEndless)
    {
        views::Engine engine = makeEngine({});
        EngineOptions endless;
        endless.repeats = 10000000; // of 20 ms: days
        engine.benchmark = [quick = engine.benchmark, slow = makeEngine(endless).benchmark,
                            isEndless](views::DocumentPtr document,
                                       const views::BuildOptions& options, core::JobContext& job) {
            return (*isEndless ? slow : quick)(std::move(document), options, job);
        };
        return engine;
    }

    static void openSample(MainWindow& window)
    {
        QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
        auto* start = window.findChild<views::StartPage*>();
        for (auto* button : start->findChildren<views::PillButton*>())
            if (button->text().contains(QStringLiteral("sample")))
                click(*button, button->rect().center());
        QVERIFY(waitFor([&] { return window.workspace().state().hasDocument; }));
        QVERIFY(settle(window));
    }

    static void stepToFusion(MainWindow& window)
    {
        key(window, QStringLiteral("alt+2"));
        QVERIFY(waitFor([&] { return window.passesPage().isVisible(); }));
        for (int i = 0; i < 40 && window.passes().state().title != QStringLiteral("FuseOps"); ++i) {
            const int version = window.passes().state().version;
            key(window, QStringLiteral("f"));
            QVERIFY(waitFor([&] { return window.passes().state().version != version; }));
        }
        QCOMPARE(window.passes().state().title, QStringLiteral("FuseOps"));
    }

private slots:
    void opensStepsSelectsCompilesCancelsAndMeasures()
    {
        const auto isEndless = std::make_shared<std::atomic<bool>>(true);
        MainWindow window(engineWith(isEndless), {},
                          {true, true, QStringLiteral(TENON_SAMPLE_MODEL), 2});
        window.move(0, 0);
        window.resize(1600, 1000);
        window.show();
        openSample(window);
        stepToFusion(window);

        views::GraphCanvas& canvas = window.passesPage().canvas();
        int frame = -1;
        const QPoint title = titleOfAFrame(canvas, frame);
        QVERIFY(frame >= 0);
        click(canvas, title);
        QVERIFY(waitFor([&] { return canvas.selectedItem() == frame; }));
        QVERIFY(!window.passes().lineage().rows.empty());

        key(window, QStringLiteral("ctrl+shift+b"));
        QVERIFY(waitFor([&] { return window.workspace().document()->isCompiled(); }));
        QVERIFY(settle(window));

        auto* tabs = window.passesPage().inspectorPanel().findChild<views::PillTabs*>();
        click(*tabs, tabs->tabRect(tabs->count() - 1).center());
        const auto shownCode = [&] {
            QString all;
            for (const auto* view : window.passesPage().findChildren<views::CodeView*>())
                if (view->isVisible()) all += view->toPlainText();
            return all;
        };
        QVERIFY2(waitFor([&] { return shownCode().contains(QStringLiteral("ret")); }),
                 qPrintable(window.inspector().state().codeMessage));

        key(window, QStringLiteral("ctrl+r"));
        QVERIFY(waitFor(
            [&] { return window.workspace().jobs().state().step == QStringLiteral("measuring"); }));
        key(window, QStringLiteral("shift+F5"));
        QVERIFY(waitFor([&] { return !window.workspace().state().isBusy; }));
        QVERIFY2(window.workspace().jobs().state().outcome.contains(QStringLiteral("cancelled")),
                 qPrintable(window.workspace().jobs().state().outcome));
        QVERIFY(!window.workspace().document()->measurement);

        *isEndless = false;
        key(window, QStringLiteral("ctrl+r"));
        QVERIFY2(waitFor([&] { return window.workspace().document()->measurement.has_value(); }),
                 qPrintable(window.workspace().state().bannerText));
        QVERIFY(waitFor([&] {
            const auto& items = canvas.scene().items;
            return std::any_of(items.begin(), items.end(),
                               [](const views::SceneItem& i) { return !i.figure.isEmpty(); });
        }));
    }
};

/// 77 tells CTest that the test was skipped; a required tool makes it fail instead.
int skip(const char* tool)
{
    const QByteArray required = qgetenv("TENON_REQUIRE");
    std::printf("SKIP %s is not installed\n", tool);
    return required.contains("xvfb") ? 1 : 77;
}

} // namespace

int main(int argc, char** argv)
{
    if (QStandardPaths::findExecutable(QStringLiteral("Xvfb")).isEmpty()) return skip("Xvfb");
    if (QStandardPaths::findExecutable(QStringLiteral("xdotool")).isEmpty()) return skip("xdotool");
    QProcess server;
    server.start(QStringLiteral("Xvfb"),
                 {QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                  QStringLiteral("0"), QStringLiteral("1600x1000x24")});
    if (!server.waitForReadyRead(120000)) return skip("a working Xvfb");
    qputenv("DISPLAY", ':' + server.readAllStandardOutput().trimmed());
    qputenv("QT_QPA_PLATFORM", "xcb");
    qputenv("QTEST_FUNCTION_TIMEOUT", "1400000"); // ctest's limit comes after it
    int code = 1;
    {
        QApplication application(argc, argv);
        JourneyTest test;
        code = QTest::qExec(&test, argc, argv);
    }
    server.kill();
    server.waitForFinished();
    return code;
}

#include "journey_test.moc"
