// SPDX-License-Identifier: GPL-3.0-or-later
// Files that come into the window and go out of it: dropped, saved; and what the fields around them
// take back.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/frame/changed_note.h"
#include "views/frame/drop_hint.h"

#include <QDragEnterEvent>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class FilesTest : public QObject
{
    Q_OBJECT

private:
    static WindowOptions options() { return {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1}; }
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    static bool openSample(MainWindow& window)
    {
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        return settle(window);
    }
    static bool enter(MainWindow& window, const QMimeData& data)
    {
        QDragEnterEvent event({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        event.ignore();
        QApplication::sendEvent(&window, &event);
        return event.isAccepted();
    }

private slots:
    void asksForModelsOfAllKindsFirst()
    {
        const QString first = modelFileFilters().first();
        for (const char* suffix : {"*.onnx", "*.tflite", "*.tar"})
            QVERIFY2(first.contains(QLatin1String(suffix)), qPrintable(first));
        QVERIFY2(first.contains(QLatin1String("(*.onnx")), qPrintable(first)); // what most have
        QVERIFY(modelFileFilters().at(1).contains(QLatin1String("*.onnx")));
    }

    void saysWhatADropWillOpenAndOpensIt()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        auto* hint = window.findChild<views::DropHint*>();
        QMimeData files;
        files.setUrls({QUrl::fromLocalFile(QStringLiteral(TENON_SAMPLE_MODEL)),
                       QUrl::fromLocalFile(QStringLiteral("/another.onnx"))});
        QVERIFY(enter(window, files));
        QVERIFY(hint->isVisible());
        QVERIFY2(hint->text().contains(QStringLiteral("digits/model.onnx, the first of 2")),
                 qPrintable(hint->text()));
        QDragLeaveEvent leave;
        QApplication::sendEvent(&window, &leave);
        QVERIFY(!hint->isVisible());
        QVERIFY(enter(window, files));
        QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &drop);
        QVERIFY(!hint->isVisible());
        QVERIFY(settle(window));
        QCOMPARE(window.workspace().state().title, QStringLiteral("digits/model.onnx"));
    }

    void saysThatTheFileChangedOnTheDiskAndReadsItAgain()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("mine.onnx"));
        QVERIFY(QFile::copy(QStringLiteral(TENON_SAMPLE_MODEL), path));
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        window.openModel(path);
        QVERIFY(settle(window));
        auto* note = window.findChild<views::ChangedNote*>();
        QVERIFY(!note->isVisible());
        QVERIFY(QFile::remove(path));
        QVERIFY(QTest::qWaitFor([&] { return note->isVisible(); }, 60000));
        QVERIFY(note->accessibleName().contains(QStringLiteral("no longer there")));
        QVERIFY(QFile::copy(QStringLiteral(TENON_SAMPLE_MODEL), path));
        QVERIFY(QTest::qWaitFor(
            [&] { return note->accessibleName().contains(QStringLiteral("changed on the disk")); },
            60000));
        for (auto* button : note->findChildren<views::PillButton*>())
            if (button->text() == QStringLiteral("Reload"))
                QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(window.workspace().state().isBusy);
        QVERIFY(settle(window));
        QVERIFY(!note->isVisible());
        QVERIFY(window.workspace().state().bannerTitle.isEmpty());
    }

    void saysWhatIsWrongWithAFile()
    {
        const QTemporaryDir folder;
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        const auto open = [&](const QString& path, const char* reason) {
            window.openModel(path);
            return settle(window) &&
                   window.workspace().state().bannerText.contains(QLatin1String(reason)) &&
                   !window.workspace().state().hasDocument;
        };
        const auto write = [&](const char* name, const QByteArray& content) {
            QFile file(folder.filePath(QLatin1String(name)));
            if (file.open(QIODevice::WriteOnly)) file.write(content);
            return file.fileName();
        };
        QFile sample(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(sample.open(QIODevice::ReadOnly));
        QVERIFY(open(folder.filePath(QStringLiteral("none.onnx")), "No such file"));
        QVERIFY(open(folder.path(), "a folder, not a file"));
        QVERIFY(open(write("empty.onnx", {}), "empty"));
        QVERIFY(open(write("half.onnx", sample.read(sample.size() / 2)), "cut off"));
        QVERIFY(open(write("words.onnx", "this is no model"),
                     "the file is text and no ONNX model; it begins with `this is no model`"));
        // Nothing was imported, so there are no findings to go to.
        for (auto* button : window.findChildren<views::PillButton*>())
            if (button->text() == QStringLiteral("Show issues")) QVERIFY(!button->isVisible());
    }

    void exportsAReportOfAllPages()
    {
        const QTemporaryDir folder;
        MainWindow window(makeEngine({}), {}, options());
        const QString path = folder.filePath(QStringLiteral("digits.html"));
        QVERIFY(!window.exportView(path)); // a report is about a model
        QVERIFY(openSample(window));
        window.workspace().compile();
        QVERIFY(settle(window));
        QVERIFY(window.exportView(path));
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString html = QString::fromUtf8(file.readAll());
        QVERIFY(html.contains(QStringLiteral("<svg")));
        QVERIFY(!html.contains(QStringLiteral("<?xml")));
        const auto& rows = window.workspace().calls().rows();
        QVERIFY(!rows.empty());
        for (const auto& row : rows) QVERIFY(html.contains(row.name.toHtmlEscaped()));
        QVERIFY(html.contains(QStringLiteral("AOT")));
        const auto failed =
            window.exportView(folder.filePath(QStringLiteral("no/such/folder/digits.html")));
        QVERIFY(!failed &&
                failed.error().message.find("could not be written") != std::string::npos);
    }

    void goesBackToWhereOneWas()
    {
        MainWindow window(makeEngine({}), {}, options());
        QVERIFY(openSample(window));
        QVERIFY(window.showPerspective(QStringLiteral("inspect")));
        QVERIFY(window.selectNode(QStringLiteral("nn.relu")));
        const core::NodeId relu = window.workspace().selection().node();
        QVERIFY(window.selectNode(QStringLiteral("nn.conv2d")));
        const core::NodeId conv = window.workspace().selection().node();
        QVERIFY(window.showPerspective(QStringLiteral("memory")));
        const auto go = [&](const char* way) {
            window.actions().action(QLatin1String(way))->trigger();
            return std::pair(window.session().perspective, window.workspace().selection().node());
        };
        QCOMPARE(go("back"), std::pair(QStringLiteral("inspect"), conv));
        QCOMPARE(go("back"), std::pair(QStringLiteral("inspect"), relu));
        QCOMPARE(go("forward"), std::pair(QStringLiteral("inspect"), conv));
        QVERIFY(window.selectNode(QStringLiteral("nn.dense"))); // another way from here
        const core::NodeId dense = window.workspace().selection().node();
        QCOMPARE(go("forward"), std::pair(QStringLiteral("inspect"), dense));
        QCOMPARE(go("back"), std::pair(QStringLiteral("inspect"), conv));
        window.workspace().reload(); // its nodes are others
        QVERIFY(settle(window));
        const auto here =
            std::pair(window.session().perspective, window.workspace().selection().node());
        QCOMPARE(go("back"), here);
    }

    void takesNoLinks()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        QMimeData link;
        link.setUrls({QUrl(QStringLiteral("https://example.org/model.onnx"))});
        QVERIFY(!enter(window, link));
        QVERIFY(!window.findChild<views::DropHint*>()->isVisible());
    }

    void savesForTheTargetAndCompilesFirst()
    {
        const QTemporaryDir folder;
        MainWindow window(makeEngine({}), {}, options());
        QVERIFY(openSample(window));
        QVERIFY(!window.workspace().document()->isCompiled());
        const QString library = folder.filePath(QStringLiteral("digits.so"));
        window.workspace().save(library);
        QVERIFY(settle(window));
        QVERIFY2(QFileInfo(library).size() > 1000,
                 qPrintable(window.workspace().state().bannerText));
        QVERIFY(window.workspace().document()->isCompiled());
        QVERIFY(window.workspace().jobs().state().news.contains(library));
        for (const auto& [target, format] :
             {std::pair(QStringLiteral("c"), QStringLiteral("*.tar")),
              std::pair(QStringLiteral("llvm -mtriple=wasm32"), QStringLiteral("*.wasm")),
              std::pair(QStringLiteral("llvm -mcpu=native"), QStringLiteral("*.so"))})
            QVERIFY(window.workspace()
                        .engine()
                        .saveFormats(target)
                        .join(QLatin1Char(' '))
                        .contains(format));
        const QString model = folder.filePath(QStringLiteral("whole.onnx"));
        window.workspace().save(model);
        QVERIFY(settle(window));
        window.openModel(model);
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().state().canBuild,
                 qPrintable(window.workspace().state().bannerText));
        window.workspace().setTarget(QStringLiteral("c"));
        const QString sources = folder.filePath(QStringLiteral("digits.tar"));
        window.workspace().save(sources);
        QVERIFY(settle(window));
        QVERIFY2(QFileInfo(sources).size() > 1000,
                 qPrintable(window.workspace().state().bannerText));
    }

    void proposesToSaveBesideTheModelAndThenWhereOneSavedLast()
    {
        const QTemporaryDir models;
        const QTemporaryDir results;
        const QString model = models.filePath(QStringLiteral("digits.onnx"));
        QVERIFY(QFile::copy(QStringLiteral(TENON_SAMPLE_MODEL), model));
        QStringList proposed;
        WindowOptions asked = options();
        asked.askForFile = [&](QWidget*, const views::FileQuestion& question,
                               const views::TakeFile& take) {
            proposed << question.start;
            take(results.filePath(QStringLiteral("other.onnx")));
        };
        MainWindow window(makeEngine({}), {}, asked);
        window.show();
        window.openModel(model);
        QVERIFY(settle(window));
        for (int i = 0; i < 2; ++i) {
            QTest::keyClick(&window, Qt::Key_S, Qt::ControlModifier);
            QVERIFY(settle(window));
        }
        QCOMPARE(proposed, QStringList({models.filePath(QStringLiteral("digits.so")),
                                        results.filePath(QStringLiteral("digits.so"))}));
        QVERIFY(QFileInfo(results.filePath(QStringLiteral("other.onnx"))).size() > 1000);
    }

    void saysWhyAModelWasNotSaved()
    {
        const QTemporaryDir folder;
        MainWindow window(makeEngine({}), {}, options());
        QVERIFY(openSample(window));
        const QString path = folder.filePath(QStringLiteral("digits.xyz"));
        window.workspace().save(path);
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().bannerTitle.contains(QStringLiteral("digits.xyz")));
        QVERIFY(window.workspace().state().bannerText.contains(QStringLiteral(".so")));
        QVERIFY(!QFileInfo::exists(path));
        // Among the findings of the import it says what it is about.
        const auto& issues = window.workspace().issues();
        QVERIFY(issues.index(0, 1).data().toString().startsWith(QStringLiteral("digits.xyz was")));
    }

    void takesBackATargetOnEscape()
    {
        MainWindow window(makeEngine({}), {}, options());
        QVERIFY(openSample(window));
        const QString before = window.workspace().state().target;
        auto* field = window.findChild<views::TargetField*>();
        QFocusEvent focus(QEvent::FocusIn, Qt::ShortcutFocusReason);
        QApplication::sendEvent(field, &focus);
        field->setText(QStringLiteral("llvm -m"));
        QVERIFY(!window.workspace().state().isTargetValid);
        QTest::keyClick(field, Qt::Key_Escape);
        QCOMPARE(window.workspace().state().target, before);
        QVERIFY(window.workspace().state().isTargetValid);
    }
};

QTEST_MAIN(FilesTest)
#include "files_test.moc"
