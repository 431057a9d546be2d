// SPDX-License-Identifier: GPL-3.0-or-later
// The project sheet in the window with the real engine: found in the palette, filled in, the
// project made, built and run, with what the tools said in the log.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/support/need_qt.h"
#include "views/frame/project_sheet.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class ProjectTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    static void choose(views::PillTabs& tabs, const QString& text)
    {
        for (int i = 0; i < tabs.count(); ++i)
            if (tabs.tabText(i) == text)
                QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(i).center());
    }

    /// Fills the form in for a project of this computer.
    void fillIn(views::ProjectSheet& sheet)
    {
        const views::ProjectState& state = sheet.project().state();
        choose(sheet.kind(), QStringLiteral("crt-host"));
        QCOMPARE(state.kind, QStringLiteral("crt-host"));
        QCOMPARE(state.target, QStringLiteral("c"));
        sheet.folder().selectAll();
        QTest::keyClicks(&sheet.folder(), m_folder.path());
        QVERIFY2(state.problem.isEmpty(), qPrintable(state.problem)); // it is there, and empty
        QTest::keyClicks(&sheet.folder(), QStringLiteral("/digits"));
        QTest::keyClicks(&sheet.workspace(), QStringLiteral("SRAM=nothing"));
        QVERIFY(!sheet.createButton().isEnabled());
        QVERIFY2(state.problem.contains(QStringLiteral("has no size that can be read")),
                 qPrintable(state.problem));
        sheet.workspace().selectAll();
        QTest::keyClicks(&sheet.workspace(), QStringLiteral("SRAM=64KiB@.sram"));
        QVERIFY2(state.commandLine.contains(QStringLiteral("--template crt-host --target 'c' "
                                                           "--workspace-pools SRAM=64KiB@.sram")),
                 qPrintable(state.commandLine));
        QVERIFY2(sheet.createButton().isEnabled(), qPrintable(state.problem));
        QVERIFY(!sheet.buildButton().isEnabled());
    }
    static void press(views::ProjectSheet& sheet, views::PillButton& button)
    {
        QVERIFY(QTest::qWaitFor([&] { return button.isEnabled(); }, 120000));
        QTest::mouseClick(&button, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return sheet.project().state().working.isEmpty(); }, 120000));
    }

private slots:
    void makesBuildsAndRunsAProject()
    {
        NEED_TOOL("make");
        NEED_TOOL("cc");
        MainWindow window(makeEngine({}), {}, {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        window.resize(1400, 900);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        auto* sheet = window.findChild<views::ProjectSheet*>();
        QVERIFY(sheet && !sheet->isVisible());
        window.openOverlay(QStringLiteral("palette")); // as a user finds it
        QTest::keyClicks(window.focusWidget(), QStringLiteral("Project"));
        QTest::keyClick(window.focusWidget(), Qt::Key_Return);
        QVERIFY(QTest::qWaitFor([&] { return sheet->isVisible(); }, 5000));
        fillIn(*sheet);

        const views::ProjectState& state = sheet->project().state();
        press(*sheet, sheet->createButton());
        QVERIFY2(QFileInfo::exists(state.made + QStringLiteral("/model.tar")),
                 qPrintable(state.log));
        press(*sheet, sheet->buildButton());
        QVERIFY2(QFileInfo::exists(state.made + QStringLiteral("/build/app")),
                 qPrintable(state.log));
        press(*sheet, sheet->flashButton());
        QVERIFY2(sheet->log().toPlainText().contains(QStringLiteral("there is nothing to flash")),
                 qPrintable(state.log));
        press(*sheet, sheet->runButton());
        QVERIFY2(sheet->log().toPlainText().contains(
                     QStringLiteral("probabilities Tensor[(1, 10), float32]")),
                 qPrintable(state.log));

        // Another template is another project: nothing is built under its name.
        const QString made = state.made;
        choose(sheet->kind(), QStringLiteral("arduino"));
        QCOMPARE(state.folder, made + QStringLiteral("-arduino"));
        QVERIFY2(sheet->createButton().isEnabled(), qPrintable(state.problem));
        QVERIFY(!sheet->buildButton().isEnabled() && !sheet->runButton().isEnabled());
        choose(sheet->kind(), QStringLiteral("crt-host"));
        QCOMPARE(state.folder, made);
        QVERIFY(sheet->buildButton().isEnabled());
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(ProjectTest)
#include "project_test.moc"
