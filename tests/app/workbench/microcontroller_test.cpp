// SPDX-License-Identifier: GPL-3.0-or-later
// From a keyword spotter to counted instructions on two emulated Cortex-M boards, in a real window
// of a small screen with real key strokes and clicks. TENON_SCREENSHOTS names a folder for
// pictures.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/app/workbench/real_events.h"
#include "tests/support/need_qt.h"
#include "views/frame/run_sheet.h"
#include "views/pages/deploy/deploy_page.h"
#include "views/pages/executors/executors_page.h"
#include "views/pages/passes/passes_page.h"

#include <QDir>
#include <QMenu>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tenon;
using namespace tenon::app;

namespace {

class MicrocontrollerTest : public QObject
{
    Q_OBJECT

private:
    template <class Condition>
    static bool waitFor(Condition condition)
    {
        return QTest::qWaitFor(condition, kEventPatienceMs);
    }
    static bool settle(MainWindow& window)
    {
        return waitFor([&] { return window.isSettled(); });
    }
    /// The keyword spotter of MLPerf Tiny in int8, or the sample where there are no outside data.
    static QString model()
    {
        const QString data = qEnvironmentVariable("TENON_TEST_DATA");
        return data.isEmpty() ? QStringLiteral(TENON_SAMPLE_MODEL)
                              : data + QStringLiteral("/models/mlperftiny-kws-int8/model.onnx");
    }
    /// Both themes, for whoever wants to look.
    static void keepPicture(MainWindow& window, const QString& name)
    {
        const QString folder = qEnvironmentVariable("TENON_SCREENSHOTS");
        if (folder.isEmpty()) return;
        for (const bool isDark : {false, true}) {
            window.setDark(isDark);
            QTest::qWait(100);
            const QString path =
                QDir(folder).filePath(name + (isDark ? QStringLiteral("-dark") : QString()));
            QVERIFY(window.grab().save(path + QStringLiteral(".png")));
        }
        window.setDark(false);
    }

    /// On the Deploy page, by its button and the menu.
    static void makeBoard(MainWindow& window, const QString& machine)
    {
        pressKey(window, QStringLiteral("alt+5"));
        auto& page = window.part<views::DeployPage>();
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        QVERIFY(settle(window));
        clickOn(page.virtualButton(), page.virtualButton().rect().center());
        QMenu* menu = nullptr;
        QVERIFY(waitFor([&] {
            menu = page.findChild<QMenu*>();
            return menu && menu->isVisible();
        }));
        const QString number = machine.section(QLatin1Char('-'), 1).toUpper(); // "AN386"
        QAction* kind = nullptr;
        for (QAction* each : menu->actions())
            if (each->text().contains(number)) kind = each;
        QVERIFY2(kind, qPrintable(number));
        clickOn(*menu, menu->actionGeometry(kind).center());
        QVERIFY2(waitFor([&] { return window.boards().board().name == machine; }),
                 qPrintable(window.workspace().state().bannerText));
        QVERIFY(settle(window));
    }
    static void seeThatItFits(MainWindow& window, const QString& machine)
    {
        pressKey(window, QStringLiteral("ctrl+shift+b"));
        QVERIFY(waitFor([&] { return window.workspace().document()->isCompiled(); }));
        pressKey(window, QStringLiteral("alt+4"));
        auto& page = window.part<views::ExecutorsPage>();
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        QVERIFY(settle(window));
        QVERIFY(waitFor([&] { return !page.fit().state().verdict.isEmpty(); }));
        QVERIFY2(page.fit().state().fits, qPrintable(page.fit().state().verdict));
        QVERIFY2(page.fit().state().verdict.contains(machine),
                 qPrintable(page.fit().state().verdict));
        QVERIFY(page.fit().rows().rowCount() > 0);
        // What is planned stands on the gauges, too, before anything is linked.
        QVERIFY(page.fit().state().flashBytes > 0 && page.fit().state().ramBytes > 0);
        QVERIFY2(page.flashGauge().accessibleName().contains(QStringLiteral("KiB of")),
                 qPrintable(page.flashGauge().accessibleName()));
    }
    /// Ctrl+R; the calls are counted one by one and add up.
    static void measure(MainWindow& window, const QString& machine)
    {
        const auto isMeasured = [&] {
            const auto& measured = window.workspace().document()->measurement;
            return measured && measured->board.contains(machine);
        };
        pressKey(window, QStringLiteral("ctrl+r"));
        QVERIFY2(waitFor([&] { return isMeasured() || !window.deploy().state().error.isEmpty(); }),
                 qPrintable(window.deploy().state().caption));
        QVERIFY2(isMeasured(), qPrintable(window.deploy().state().error));
        QVERIFY(settle(window));
        const auto& measured = window.workspace().document()->measurement;
        QVERIFY(measured->unit == views::CostUnit::Instructions);
        QCOMPARE(measured->runs, 1);
        QCOMPARE(measured->calls.size(), window.workspace().document()->calls.size());
        double sum = 0;
        for (const views::CallTime& call : measured->calls) sum += call.medianUs;
        QVERIFY2(std::abs(sum - measured->medianUs) < 0.01 * measured->medianUs,
                 qPrintable(QString::number(sum)));
        QVERIFY2(
            window.workspace().state().measurementText.contains(QStringLiteral(" instructions, ")),
            qPrintable(window.workspace().state().measurementText));
        QCOMPARE(window.deploy().history().rowCount(), 1);
    }
    /// In thousands, as times are in microseconds; whole ones.
    static qint64 instructions(MainWindow& window)
    {
        return std::llround(window.workspace().document()->measurement->medianUs * 1000);
    }
    static void seeThemOnTheGraph(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+5"));
        auto& deployed = window.part<views::DeployPage>();
        QVERIFY(waitFor([&] { return deployed.isVisible(); }));
        clickOn(deployed.graphButton(), deployed.graphButton().rect().center());
        auto& page = window.part<views::PassesPage>();
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        QVERIFY(settle(window));
        QVERIFY(settle(window));
        int counted = 0;
        for (const views::SceneItem& item : window.passes().scene()->items) {
            counted += item.figure.endsWith(QStringLiteral(" instr."));
            QVERIFY2(!item.figure.contains(QStringLiteral(" ms")), qPrintable(item.figure));
        }
        // Every call has its count on its card, behind the last pass.
        QVERIFY2(counted >= static_cast<int>(window.workspace().document()->calls.size()),
                 qPrintable(QString::number(counted)));
    }
    /// The last run beside that of the other board.
    static void compareRuns(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+5"));
        auto& page = window.part<views::DeployPage>();
        QVERIFY(waitFor([&] { return page.isVisible(); }));
        QCOMPARE(window.deploy().runs().rowCount(), 2);
        const QModelIndex row = page.history().model()->index(0, 0);
        clickOn(*page.history().viewport(), page.history().visualRect(row).center());
        pressKey(window, QStringLiteral("Return"));
        auto* sheet = window.findChild<views::RunSheet*>();
        QVERIFY(sheet);
        QVERIFY(waitFor([&] { return sheet->isVisible(); }));
        QVERIFY(sheet->calls().model()->rowCount() > 0);
        const auto& runs = window.deploy().runs().rows();
        QVERIFY(runs[0].unit == views::CostUnit::Instructions);
        QVERIFY(runs[0].board != runs[1].board);
        QVERIFY(runs[0].medianUs < runs[1].medianUs); // vectors of bytes on the M55
        keepPicture(window, QStringLiteral("compare"));
        pressKey(window, QStringLiteral("Escape"));
        QVERIFY(waitFor([&] { return !sheet->isVisible(); }));
    }

private slots:
    void countsInstructionsOnTwoBoardsAndComparesThem()
    {
        for (const char* tool : {"qemu-system-arm", "arm-none-eabi-gcc"}) NEED_TOOL(tool);
        const QTemporaryDir folder;
        EngineOptions options;
        options.configFolder = folder.filePath(QStringLiteral("config"));
        MainWindow window(makeEngine(options), {},
                          {false, false, model(), 2, folder.filePath(QStringLiteral("settings"))});
        window.move(0, 0);
        window.resize(1366, 768);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window, kEventPatienceMs));
        window.openModel(model());
        QVERIFY(settle(window));

        makeBoard(window, QStringLiteral("mps2-an386"));
        QVERIFY(window.workspace().state().target.contains(QStringLiteral("cortex-m4")));
        keepPicture(window, QStringLiteral("board"));
        seeThatItFits(window, QStringLiteral("mps2-an386"));
        keepPicture(window, QStringLiteral("fits"));
        measure(window, QStringLiteral("mps2-an386"));
        const qint64 small = instructions(window);
        keepPicture(window, QStringLiteral("measured"));
        seeThemOnTheGraph(window);
        keepPicture(window, QStringLiteral("graph"));
        pressKey(window, QStringLiteral("alt+6"));
        QVERIFY(settle(window));
        keepPicture(window, QStringLiteral("benchmark"));

        makeBoard(window, QStringLiteral("mps3-an547"));
        QVERIFY(window.workspace().state().target.contains(QStringLiteral("cortex-m55")));
        measure(window, QStringLiteral("mps3-an547"));
        QVERIFY(instructions(window) < small);
        keepPicture(window, QStringLiteral("measured-m55"));
        compareRuns(window);
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1366x768x24", [&] {
        MicrocontrollerTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "microcontroller_test.moc"
