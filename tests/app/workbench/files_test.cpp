// SPDX-License-Identifier: GPL-3.0-or-later
// Files that come into the window and go out of it: dropped, saved; and what the fields around them
// take back.
#include "app/workbench/drop_hint.h"
#include "app/workbench/engine.h"
#include "app/workbench/main_window.h"

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
    void saysWhatADropWillOpenAndOpensIt()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        auto* hint = window.findChild<DropHint*>();
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

    void takesNoLinks()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        QMimeData link;
        link.setUrls({QUrl(QStringLiteral("https://example.org/model.onnx"))});
        QVERIFY(!enter(window, link));
        QVERIFY(!window.findChild<DropHint*>()->isVisible());
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
            QVERIFY(window.workspace().engine().saveFormats(target).value(0).contains(format));
        window.workspace().setTarget(QStringLiteral("c"));
        const QString sources = folder.filePath(QStringLiteral("digits.tar"));
        window.workspace().save(sources);
        QVERIFY(settle(window));
        QVERIFY2(QFileInfo(sources).size() > 1000,
                 qPrintable(window.workspace().state().bannerText));
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
        auto* field = window.findChild<TargetField*>();
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
