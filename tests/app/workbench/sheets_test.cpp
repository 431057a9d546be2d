// SPDX-License-Identifier: GPL-3.0-or-later
// Controls inside of sheets, menus of tables, the strip of a step, and files that are dropped: a
// real window, an X server, real keys, clicks and drags.
#include "tests/app/workbench/window_user.h"
#include "views/frame/options_sheet.h"
#include "views/frame/target_sheet.h"
#include "views/frame/trial_sheet.h"
#include "views/pages/common/colour_button.h"
#include "views/pages/compare/compare_page.h"
#include "views/pages/passes/passes_page.h"
#include "views/pages/quantize/quantize_page.h"

#include <QClipboard>
#include <QDrag>
#include <QImage>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>

#include <algorithm>

using namespace tenon;
using namespace tenon::app;

namespace {

/// Stands beside the window as a file browser does.
class FileSource : public QWidget
{
public:
    QString path;

protected:
    void mousePressEvent(QMouseEvent*) override {}
    void mouseMoveEvent(QMouseEvent*) override
    {
        if (path.isEmpty()) return;
        auto* file = new QMimeData;
        file->setUrls({QUrl::fromLocalFile(std::exchange(path, {}))});
        auto* drag = new QDrag(this);
        drag->setMimeData(file);
        drag->exec(Qt::CopyAction);
    }
};

class SheetsTest : public WindowUser
{
    Q_OBJECT

private:
    static void click(const QWidget& widget) { clickOn(widget, widget.rect().center()); }
    template <class Widget>
    static Widget* named(const QWidget& parent, const QString& name)
    {
        for (Widget* widget : parent.findChildren<Widget*>())
            if (widget->accessibleName() == name) return widget;
        return nullptr;
    }
    template <class Sheet>
    Sheet& opened(const char* key) const
    {
        auto& sheet = m_window->part<Sheet>();
        press(key);
        if (!waitFor([&] { return sheet.isVisible(); })) qFatal("%s opens nothing", key);
        return sheet;
    }
    /// Of the menu that is open.
    static void choose(const QString& text)
    {
        QMenu* menu = nullptr;
        QVERIFY(waitFor([&] {
            menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            return menu != nullptr && menu->isVisible();
        }));
        for (QAction* action : menu->actions())
            if (action->text().startsWith(text))
                return clickOn(*menu, menu->actionGeometry(action).center());
        QStringList texts;
        for (const QAction* action : menu->actions()) texts << action->text();
        QFAIL(qPrintable(text + QStringLiteral(" is none of ") + texts.join(QLatin1Char('|'))));
    }
    void drop(const QString& path)
    {
        m_source->path = path;
        dragBetween(m_source->mapToGlobal(QPoint(40, 40)), m_window->mapToGlobal(QPoint(600, 8)));
        QVERIFY(settle());
    }
    void turnOff(const QString& name, views::OptionsSheet& sheet) const
    {
        QListView& passes = sheet.passes();
        QModelIndex pass;
        for (int row = 0; row < passes.model()->rowCount(); ++row)
            if (passes.model()->index(row, 0).data().toString().startsWith(name))
                pass = passes.model()->index(row, 0);
        QVERIFY(pass.isValid());
        passes.scrollTo(pass);
        const QRect place = passes.visualRect(pass);
        clickOn(*passes.viewport(), {place.left() + 10, place.center().y()});
        QVERIFY(waitFor([&] { return pass.data(Qt::CheckStateRole).toInt() == Qt::Unchecked; }));
        QVERIFY2(sheet.options().state().commandLine.contains(name),
                 qPrintable(sheet.options().state().commandLine));
    }
    QString folderWithExample(const QString& name)
    {
        const QString path = m_folder.filePath(name);
        QDir().mkpath(path);
        return path;
    }
    void write(const QString& path, const QByteArray& bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    }

    QString m_answer; ///< to the question for a file
    std::unique_ptr<FileSource> m_source;

private slots:
    void initTestCase()
    {
        makeWindow([this](QWidget*, const views::FileQuestion&, const views::TakeFile& take) {
            take(m_answer);
        });
        m_source = std::make_unique<FileSource>();
        m_source->setGeometry(1400, 20, 100, 100);
        m_source->show();
        compileSample();
    }
    void cleanupTestCase() { m_window.reset(); }

    void chooseOptionsAndCompileWithThem()
    {
        auto& sheet = opened<views::OptionsSheet>("ctrl+shift+o");
        const views::OptionsState& state = sheet.options().state();
        auto* executor = named<views::PillTabs>(sheet, QStringLiteral("executor"));
        QVERIFY(executor);
        const QString before = state.draft.executor;
        const int other = executor->currentIndex() == 0 ? 1 : 0;
        clickOn(*executor, executor->tabRect(other).center());
        QVERIFY(waitFor([&] { return state.draft.executor != before; }));
        const QString chosen = state.draft.executor;
        click(*named<QLineEdit>(sheet, QStringLiteral("threads")));
        typeText(*m_window, QStringLiteral("x"));
        QVERIFY(waitFor([&] { return !state.problem.isEmpty(); }));
        QVERIFY(!sheet.compileButton().isEnabled());
        press("BackSpace");
        typeText(*m_window, QStringLiteral("1"));
        QVERIFY(waitFor([&] { return state.problem.isEmpty() && state.draft.threads == 1; }));

        turnOff(QStringLiteral("FoldScaleAxis"), sheet);
        const views::DocumentPtr old = m_window->workspace().document();
        click(sheet.compileButton());
        QVERIFY(waitFor([&] { return !sheet.isVisible(); }));
        QVERIFY(waitFor([&] {
            const views::DocumentPtr& now = m_window->workspace().document();
            return now != old && now->isCompiled();
        }));
        QVERIFY(settle());
        QCOMPARE(m_window->workspace().options().executor, chosen);
        QCOMPARE(m_window->workspace().options().threads, 1);
        QVERIFY(m_window->workspace().options().disabledPasses.contains(
            QStringLiteral("FoldScaleAxis")));
        for (const views::PassStep& step : m_window->workspace().document()->passes)
            if (step.name == QStringLiteral("FoldScaleAxis")) QVERIFY(step.isSkipped);
    }

    void changeTheKindOfATarget()
    {
        auto& sheet = opened<views::TargetSheet>("ctrl+t");
        click(sheet.text());
        press("ctrl+a");
        typeText(*m_window, QStringLiteral("llvm -mcpu=native -num-cores=1"));
        QVERIFY(waitFor([&] { return sheet.target().state().isValid; }));
        views::TargetParts parts = sheet.target().state().parts;
        parts.kind = QStringLiteral("c"); // whose processors are others
        sheet.target().setParts(parts);
        QCOMPARE(sheet.target().state().text, QStringLiteral("c -num-cores=1"));
        parts = sheet.target().state().parts;
        parts.kind = QStringLiteral("llvm");
        sheet.target().setParts(parts);
        QCOMPARE(sheet.target().state().parts.cpu, QStringLiteral("native"));
        press("Escape");
        QVERIFY(waitFor([&] { return !sheet.isVisible(); }));
        QVERIFY(settle());
    }

    void typeATargetWithCompletion()
    {
        auto& sheet = opened<views::TargetSheet>("ctrl+t");
        const QString before = m_window->workspace().state().target;
        QVERIFY(waitFor([&] { return sheet.processor().hasFocus(); }));
        typeText(*m_window, QStringLiteral("znver"));
        QWidget* offered = sheet.processor().completer()->popup();
        QVERIFY(waitFor([&] { return offered->isVisible(); }));
        pressKey(*m_window, QStringLiteral("Down"));
        pressKey(*m_window, QStringLiteral("Return"));
        QVERIFY(waitFor([&] {
            return sheet.processor().text().startsWith(QStringLiteral("znver")) &&
                   sheet.processor().text().size() > 5;
        }));
        const QString processor = sheet.processor().text();
        QVERIFY(waitFor([&] { return sheet.text().text().contains(processor); }));
        click(sheet.text());
        press("ctrl+a");
        typeText(*m_window, QStringLiteral("llvm -mcpu=nosuchthing"));
        QVERIFY(waitFor([&] { return !sheet.target().state().isValid; }));
        QVERIFY2(sheet.target().state().message.contains(QStringLiteral("nosuchthing")),
                 qPrintable(sheet.target().state().message));
        press("ctrl+a");
        typeText(*m_window, QStringLiteral("llvm -mcpu=haswell"));
        QVERIFY(waitFor([&] { return sheet.target().state().isValid; }));
        QCOMPARE(sheet.processor().text(), QStringLiteral("haswell"));
        QVERIFY(!sheet.target().names().cpus.contains(QStringLiteral("cortex-m4")));
        press("ctrl+a");
        typeText(*m_window, QStringLiteral("c"));
        QVERIFY(waitFor(
            [&] { return sheet.target().names().cpus.contains(QStringLiteral("cortex-m4")); }));
        press("ctrl+a");
        typeText(*m_window, QStringLiteral("llvm -mcpu=haswell"));
        QVERIFY(waitFor([&] { return sheet.target().state().isValid; }));
        press("Escape");
        QVERIFY(waitFor([&] { return !sheet.isVisible(); }));
        QVERIFY(settle());
        QCOMPARE(m_window->workspace().state().target, QStringLiteral("llvm -mcpu=haswell"));
        QVERIFY(before != m_window->workspace().state().target);
    }

    /// A whole target, typed where its processor belongs, is one wrong word: nothing moves under
    /// the fingers, and none of it becomes another option.
    void typeATargetIntoAPartOfIt()
    {
        auto& sheet = opened<views::TargetSheet>("ctrl+t");
        QVERIFY(waitFor([&] { return sheet.processor().hasFocus(); }));
        const QString typed = QStringLiteral("llvm -mcpu=haswell");
        press("ctrl+a");
        typeText(*m_window, typed);
        QVERIFY(waitFor([&] { return sheet.processor().text().size() >= typed.size(); }));
        QCOMPARE(sheet.processor().text(), typed);
        QVERIFY(waitFor([&] { return !sheet.target().state().isValid; }));
        QCOMPARE(sheet.target().state().parts.cpu, QStringLiteral("llvm"));
        QVERIFY(!sheet.text().text().contains(QStringLiteral("haswell")));
        press("Escape"); // of the suggestions, where there are some
        sheet.target().takeBack();
        sheet.close();
        QVERIFY(waitFor([&] { return !sheet.isVisible(); }));
        QVERIFY(settle());
    }

    void chooseColoursFromTheirMenu()
    {
        press("alt+2");
        auto& page = m_window->part<views::PassesPage>();
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        click(*page.findChild<views::ColourButton*>());
        choose(QStringLiteral("By MACs"));
        QVERIFY(waitFor([&] { return m_window->passes().looks().isColoured; }));
        QCOMPARE(m_window->passes().looks().figure, views::CardFigure::Macs);
    }

    void scrubAStepByMouseAndArrows()
    {
        press("alt+2");
        auto& page = m_window->part<views::PassesPage>();
        page.canvas().setReducedMotion(true);
        m_window->showPass(QStringLiteral("SimplifyInference"));
        QVERIFY(settle());
        QSlider& slider = page.scrubber();
        QVERIFY(waitFor([&] { return slider.isVisible() && slider.value() == slider.maximum(); }));
        clickOn(slider, {slider.width() / 2, slider.height() / 2});
        QVERIFY(waitFor([&] { return slider.value() < slider.maximum(); }));
        const int held = slider.value();
        press("Left");
        QVERIFY(waitFor([&] { return slider.value() < held; }));
        press("Right");
        QVERIFY(waitFor([&] { return slider.value() == held; }));
        const QString shown = m_window->passes().state().title;
        press("End");
        QVERIFY(waitFor([&] { return slider.value() == slider.maximum(); }));
        QCOMPARE(m_window->passes().state().title, shown);
    }

    void copyAndSaveATableFromItsMenu()
    {
        press("alt+2");
        auto& page = m_window->part<views::PassesPage>();
        views::DataTable& table = page.deltas();
        QVERIFY(waitFor([&] { return table.isVisible() && table.model()->rowCount() > 0; }));
        const QModelIndex first = table.model()->index(0, 0);
        const QPoint place = table.visualRect(first).center();
        clickOn(*table.viewport(), place);
        QVERIFY(waitFor([&] { return table.selectionModel()->isRowSelected(0); }));
        QGuiApplication::clipboard()->clear();
        rightClickOn(*table.viewport(), place);
        choose(QStringLiteral("Copy"));
        QVERIFY(waitFor([&] {
            return QGuiApplication::clipboard()->text().startsWith(first.data().toString());
        }));
        m_answer = m_folder.filePath(QStringLiteral("changes.csv"));
        rightClickOn(*table.viewport(), place);
        choose(QStringLiteral("Export as CSV"));
        QVERIFY(waitFor([&] { return QFileInfo::exists(m_answer); }));
        QFile file(m_answer);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), table.model()->rowCount() + 1);
    }

    void takeWhatIsDropped()
    {
        const QString picture = m_folder.filePath(QStringLiteral("grey.png"));
        QImage image(32, 32, QImage::Format_RGB32);
        image.fill(Qt::gray);
        QVERIFY(image.save(picture));
        drop(picture);
        auto& sheet = m_window->part<views::TrialSheet>();
        QVERIFY(waitFor([&] { return sheet.isVisible() && sheet.file().text() == picture; }));
        QVERIFY(settle());
        QCOMPARE(sheet.trial().results().rows().size(), size_t{5});
        const QString labels = m_folder.filePath(QStringLiteral("names.txt"));
        write(labels, "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        drop(labels);
        QVERIFY(waitFor([&] { return sheet.labels().text() == labels; }));
        press("Escape");
        QVERIFY(waitFor([&] { return !sheet.isVisible(); }));

        const QString examples = folderWithExample(QStringLiteral("examples"));
        drop(examples); // no page asks for them
        QVERIFY2(m_window->workspace().state().bannerText.contains(QStringLiteral("is a folder")),
                 qPrintable(m_window->workspace().state().bannerText));
        m_window->showPerspective(QStringLiteral("quantize"));
        drop(examples);
        QCOMPARE(m_window->part<views::QuantizePage>().form().data().text(), examples);
        m_window->showPerspective(QStringLiteral("compare"));
        drop(examples);
        QCOMPARE(m_window->part<views::ComparePage>().presenter().state().data, examples);

        const QString none = m_folder.filePath(QStringLiteral("none.onnx"));
        write(none, "no model");
        drop(none);
        QVERIFY2(m_window->workspace().state().bannerText.contains(QStringLiteral("no ONNX model")),
                 qPrintable(m_window->workspace().state().bannerText));
        drop(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(m_window->workspace().state().bannerText.isEmpty());
        QCOMPARE(m_window->workspace().state().path, QStringLiteral(TENON_SAMPLE_MODEL));
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1600x900x24", [&] {
        SheetsTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "sheets_test.moc"
