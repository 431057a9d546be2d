// SPDX-License-Identifier: GPL-3.0-or-later
// Clicks into the list of boards: what a click leads to replaces the rows that were clicked.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/app/workbench/fake_boards.h"
#include "tests/support/need_qt.h"
#include "views/frame/target_sheet.h"
#include "views/pages/deploy/deploy_page.h"

#include <QMenu>
#include <QSaveFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class BoardsTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 240000);
    }
    static views::Engine engine()
    {
        views::Engine engine = makeEngine({});
        tests::useFakeBoards(engine);
        return engine;
    }
    static WindowOptions options() { return {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1}; }
    static void clickRow(views::BoardList& list, int row)
    {
        const QPoint at = list.visualRect(list.model()->index(row, 0)).center();
        QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, at);
    }

private slots:
    void choosesAnotherBoardByAClickAfterADeployment()
    {
        MainWindow window(engine(), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.showPerspective(QStringLiteral("deploy")));
        QVERIFY(settle(window));
        window.deploy().deploy();
        QVERIFY(settle(window));
        QVERIFY2(window.deploy().state().error.isEmpty(),
                 qPrintable(window.deploy().state().error));
        views::BoardList& list = window.part<views::DeployPage>().boards();
        for (const int row : {1, 0, 1, 2}) {
            const QString name = window.boards().boards()[static_cast<size_t>(row)].name;
            clickRow(list, row);
            QCOMPARE(window.boards().board().name, name);
            QVERIFY(settle(window));
        }
    }

    /// The command line keeps the same list.
    void showsBoardsThatAnotherProgramAdds()
    {
        const QTemporaryDir config;
        EngineOptions real;
        real.configFolder = config.path();
        MainWindow window(makeEngine(real), {}, options());
        QVERIFY(settle(window));
        QCOMPARE(window.boards().boards().size(), size_t{1});
        for (size_t boards = 2; boards < 4; ++boards) { // also when it is replaced once more
            QStringList rows;
            for (size_t i = 1; i < boards; ++i)
                rows << QStringLiteral("{\"name\": \"b%1\", \"kind\": \"ssh\", \"host\": "
                                       "\"127.0.0.1\", \"port\": 9, \"target\": "
                                       "\"llvm -mtriple=aarch64-linux-gnu\"}")
                            .arg(i);
            const QString text = QStringLiteral("{\"version\": 1, \"boards\": [%1]}")
                                     .arg(rows.join(QLatin1Char(',')));
            QSaveFile file(config.filePath(QStringLiteral("boards.json")));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text.toUtf8());
            QVERIFY(file.commit());
            QVERIFY(
                QTest::qWaitFor([&] { return window.boards().boards().size() == boards; }, 60000));
        }
        QCOMPARE(window.boards().model().rowCount(), 3);
        QVERIFY(window.boards().select(QStringLiteral("b1")));
        QCOMPARE(window.boards().state().state, views::BoardState::Mismatch);
        QVERIFY2(window.boards().state().statusText.contains(
                     QStringLiteral("target is for this computer")),
                 qPrintable(window.boards().state().statusText));
    }

    /// A microcontroller's code is not this computer's, but is counted here all the same.
    void saysWhatThisComputerEmulates()
    {
        for (const char* tool : {"arm-none-eabi-gcc", "qemu-system-arm"}) NEED_TOOL(tool);
        const QTemporaryDir config;
        EngineOptions real;
        real.configFolder = config.path();
        MainWindow window(makeEngine(real), {}, options());
        QVERIFY(settle(window));
        window.workspace().setTarget(QStringLiteral("c -mcpu=cortex-m4"));
        QCOMPARE(window.boards().state().state, views::BoardState::Guest);
        QVERIFY2(window.boards().state().statusText.contains(QStringLiteral("emulates cortex-m4")),
                 qPrintable(window.boards().state().statusText));
        QCOMPARE(window.boards().model().rows().front().stateText,
                 QStringLiteral("emulates cortex-m4"));
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.deploy().deploy();
        QVERIFY(settle(window));
        const auto& measured = window.workspace().document()->measurement;
        QVERIFY2(measured, qPrintable(window.deploy().state().error));
        QVERIFY2(window.workspace().state().measurementDetail.startsWith(
                     QStringLiteral("counted on an emulated cortex-m4 on this computer")),
                 qPrintable(window.workspace().state().measurementDetail));
        QVERIFY(window.deploy().state().overheadText.isEmpty()); // nothing was sent
        window.workspace().setTarget(QStringLiteral("llvm -mcpu=native"));
        QCOMPARE(window.boards().state().state, views::BoardState::Ready);
    }

    /// The target editor shows what cost models reckon with, and what a board's own figures change.
    void measuresABoardAndCompilesWithItsFigures()
    {
        MainWindow window(engine(), {}, options());
        window.show();
        QVERIFY(window.boards().choose(QStringLiteral("pi")));
        QVERIFY(settle(window));
        auto& sheet = window.part<views::TargetSheet>();
        sheet.openForm();
        const auto figure = [&](const QString& name) {
            for (const views::TargetFigure& row : sheet.figures().rows())
                if (row.name == name) return row;
            return views::TargetFigure();
        };
        QCOMPARE(figure(QStringLiteral("float_macs")).value, QStringLiteral("4"));
        QVERIFY(figure(QStringLiteral("float_macs")).source.contains(QStringLiteral("Cortex-A72")));
        QVERIFY(sheet.measure().isEnabled());
        QTest::mouseClick(&sheet.measure(), Qt::LeftButton);
        QVERIFY(!sheet.measure().isEnabled());
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().target.endsWith(
            QStringLiteral("-machine=float_macs=7,l2_bytes=524288")));
        QCOMPARE(figure(QStringLiteral("float_macs")).value, QStringLiteral("7"));
        QCOMPARE(figure(QStringLiteral("float_macs")).source, QStringLiteral("-machine"));
        QCOMPARE(figure(QStringLiteral("l2_bytes")).value, QStringLiteral("512"));
        QVERIFY(window.boards().select(QStringLiteral("asking"))); // emulated
        QVERIFY(!sheet.measure().isEnabled());
    }

    /// The sender's own row goes out of the list while its name is on the way.
    void keepsTheNameThatASignalCarries()
    {
        MainWindow window(engine(), {}, options());
        views::BoardList& list = window.part<views::DeployPage>().boards();
        QString seen;
        connect(&list, &views::BoardList::chosen, this, [&](const QString& name) {
            window.boards().model().setRows({});
            seen = name;
        });
        window.show();
        QVERIFY(window.showPerspective(QStringLiteral("deploy")));
        QVERIFY(settle(window));
        clickRow(list, 1);
        QCOMPARE(seen, QStringLiteral("pi"));
    }

    void answersForAnIndexOfRowsThatAreGone()
    {
        MainWindow window(engine(), {}, options());
        views::BoardModel& model = window.boards().model();
        const QModelIndex last = model.index(3, 0);
        model.setRows({});
        QVERIFY(!model.data(last, Qt::DisplayRole).isValid());
        QVERIFY(!model.row(last));
    }

    void opensItsMenusWithoutWaitingInside()
    {
        auto window = std::make_unique<MainWindow>(engine(), Settings(), options());
        window->resize(1280, 800);
        window->show();
        window->actions().action(QStringLiteral("choose-board"))->trigger();
        QVERIFY(qobject_cast<QMenu*>(QApplication::activePopupWidget()));
        window.reset(); // takes the menu with it
        QVERIFY(!QApplication::activePopupWidget());
    }
};

QTEST_MAIN(BoardsTest)
#include "boards_test.moc"
