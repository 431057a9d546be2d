// SPDX-License-Identifier: GPL-3.0-or-later
// The main journey in a real window: an X server, real key and mouse events, the real engine.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/app/workbench/real_events.h"
#include "views/pages/deploy/deploy_page.h"
#include "views/pages/executors/executors_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/memory/planner_list.h"
#include "views/pages/passes/passes_page.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>

using namespace tenon;
using namespace tenon::app;

namespace {

constexpr int kPatienceMs = kEventPatienceMs;

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
    views::Engine engineWith(const std::shared_ptr<std::atomic<bool>>& isEndless) const
    {
        EngineOptions options;
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        options.repeats = 5;
        views::Engine engine = makeEngine(options);
        options.repeats = 10000000; // of 20 ms: days
        engine.boards.deploy =
            [quick = engine.boards.deploy, slow = makeEngine(options).boards.deploy, isEndless](
                const auto& question, const auto& ask, const auto& watch, core::JobContext& job) {
                return (*isEndless ? slow : quick)(question, ask, watch, job);
            };
        return engine;
    }
    QString settingsFile() const { return m_folder.filePath(QStringLiteral("settings.json")); }
    WindowOptions options() const
    {
        return {false, true, QStringLiteral(TENON_SAMPLE_MODEL), 2, settingsFile()};
    }
    static void show(MainWindow& window)
    {
        window.move(0, 0);
        window.resize(1600, 1000);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window, kPatienceMs));
    }
    static bool isMeasuring(MainWindow& window)
    {
        const auto& steps = window.deploy().report().steps;
        return steps.size() == 10 && steps[7].state == views::StepState::Running;
    }
    static bool isSelectedExecutor(MainWindow& window, int executor)
    {
        return window.executors().state().selected == executor;
    }

    static void openSample(MainWindow& window)
    {
        auto* start = window.findChild<views::StartPage*>();
        for (auto* button : start->findChildren<views::PillButton*>())
            if (button->text().contains(QStringLiteral("sample")))
                clickOn(*button, button->rect().center());
        QVERIFY(waitFor([&] { return window.workspace().state().hasDocument; }));
        QVERIFY(settle(window));
    }

    static void stepToFusion(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+2"));
        QVERIFY(waitFor([&] { return window.part<views::PassesPage>().isVisible(); }));
        for (int i = 0; i < 40 && window.passes().state().title != QStringLiteral("FuseOps"); ++i) {
            const int version = window.passes().state().version;
            pressKey(window, QStringLiteral("f"));
            QVERIFY(waitFor([&] { return window.passes().state().version != version; }));
        }
        QCOMPARE(window.passes().state().title, QStringLiteral("FuseOps"));
        stepInside(window);
    }

    /// Into the pass, on to its second rewrite, and out again.
    static void stepInside(MainWindow& window)
    {
        const auto isAt = [&](const char* place) {
            return window.passes().state().title.contains(QLatin1String(place));
        };
        pressKey(window, QStringLiteral("i"));
        QVERIFY(waitFor([&] { return isAt("rewrite 1 of"); }));
        QVERIFY(settle(window));
        pressKey(window, QStringLiteral("Page_Down"));
        QVERIFY(waitFor([&] { return isAt("rewrite 2 of"); }));
        QCOMPARE(window.passes().deltas().rows().size(), size_t{1});
        pressKey(window, QStringLiteral("shift+i"));
        QVERIFY(waitFor([&] { return !window.workspace().document()->stepped; }));
        QVERIFY(settle(window));
        QCOMPARE(window.passes().state().title, QStringLiteral("FuseOps"));
    }

    static void lookAtAssembly(MainWindow& window)
    {
        auto* tabs =
            window.part<views::PassesPage>().inspectorPanel().findChild<views::PillTabs*>();
        clickOn(*tabs, tabs->tabRect(tabs->count() - 1).center());
        const auto shownCode = [&] {
            QString all;
            for (const auto* view :
                 window.part<views::PassesPage>().findChildren<views::CodeView*>())
                if (view->isVisible()) all += view->toPlainText();
            return all;
        };
        QVERIFY2(waitFor([&] { return shownCode().contains(QStringLiteral("ret")); }),
                 qPrintable(window.inspector().state().codeMessage));
    }

    /// Another planner by a click; the model is compiled with it.
    static void switchPlanner(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+3"));
        QVERIFY(waitFor([&] { return window.part<views::MemoryPage>().isVisible(); }));
        auto* list = window.part<views::MemoryPage>().findChild<views::PlannerList*>();
        const auto& rows = window.memory().planners().rows();
        int other = -1;
        for (size_t i = 0; i < rows.size() && other < 0; ++i)
            if (!rows[i].isChosen && !rows[i].isReference && rows[i].problem.isEmpty())
                other = static_cast<int>(i);
        QVERIFY(other >= 0);
        const QString algorithm = rows[static_cast<size_t>(other)].algorithm;
        clickOn(*list->viewport(), list->visualRect(list->model()->index(other, 0)).center());
        QVERIFY(waitFor([&] { return window.memory().plan().algorithm == algorithm; }));
        QVERIFY(settle(window));
        QCOMPARE(window.workspace().options().planner, algorithm);
    }

    static void compareExecutors(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+4"));
        QVERIFY(waitFor([&] { return window.part<views::ExecutorsPage>().isVisible(); }));
        QVERIFY(waitFor([&] { return window.executors().state().hasFootprint; }));
        views::StackChart& flash = window.part<views::ExecutorsPage>().flash();
        QVERIFY(flash.bars().size() >= 2);
        for (const int executor : {1, 0}) {
            clickOn(flash, flash.pixelRect(executor, 0).center().toPoint());
            QVERIFY(waitFor([&] { return isSelectedExecutor(window, executor); }));
        }
    }

    /// From the page's own button to a cancel in the middle of the measurement.
    static void deployAndCancel(MainWindow& window)
    {
        pressKey(window, QStringLiteral("alt+5"));
        QVERIFY(waitFor([&] { return window.part<views::DeployPage>().isVisible(); }));
        QVERIFY(settle(window));
        QVERIFY(window.part<views::DeployPage>().checks().model()->rowCount() > 0);
        auto* notice = window.part<views::DeployPage>().findChild<views::EmptyNotice*>(
            QStringLiteral("deployNotice"));
        auto* button = notice->findChild<views::PillButton*>();
        clickOn(*button, button->rect().center());
        QVERIFY(waitFor([&] { return isMeasuring(window); }));
        pressKey(window, QStringLiteral("shift+F5"));
        QVERIFY(waitFor([&] { return !window.workspace().state().isBusy; }));
        QVERIFY2(window.workspace().jobs().state().outcome.contains(QStringLiteral("cancelled")),
                 qPrintable(window.workspace().jobs().state().outcome));
        QVERIFY(window.deploy().report().isCancelled);
        QVERIFY(!window.workspace().document()->measurement);
    }

    static bool hasTimes(views::GraphCanvas& canvas)
    {
        const auto& items = canvas.scene().items;
        return std::any_of(items.begin(), items.end(),
                           [](const views::SceneItem& i) { return !i.figure.isEmpty(); });
    }

    QTemporaryDir m_folder;

private slots:
    void opensStepsComparesDeploysCancelsMeasuresAndComesBack()
    {
        const auto isEndless = std::make_shared<std::atomic<bool>>(true);
        Session before;
        {
            MainWindow window(engineWith(isEndless), {}, options());
            show(window);
            openSample(window);
            stepToFusion(window);

            views::GraphCanvas& canvas = window.part<views::PassesPage>().canvas();
            int frame = -1;
            const QPoint title = titleOfAFrame(canvas, frame);
            QVERIFY(frame >= 0);
            clickOn(canvas, title);
            QVERIFY(waitFor([&] { return canvas.selectedItem() == frame; }));
            QVERIFY(!window.passes().lineage().rows.empty());

            pressKey(window, QStringLiteral("ctrl+shift+b"));
            QVERIFY(waitFor([&] { return window.workspace().document()->isCompiled(); }));
            QVERIFY(settle(window));
            lookAtAssembly(window);
            switchPlanner(window);
            compareExecutors(window);
            deployAndCancel(window);

            *isEndless = false;
            pressKey(window, QStringLiteral("ctrl+r"));
            QVERIFY2(
                waitFor([&] { return window.workspace().document()->measurement.has_value(); }),
                qPrintable(window.workspace().state().bannerText));
            QVERIFY(settle(window));
            QCOMPARE(window.deploy().history().rowCount(), 1);
            views::DataTable& calls = window.part<views::DeployPage>().calls();
            const QModelIndex slowest = calls.model()->index(0, 6);
            clickOn(*calls.viewport(), calls.visualRect(slowest).center());
            QVERIFY(waitFor([&] {
                return window.workspace().selection().node() ==
                       window.workspace().calls().rows().front().node;
            }));
            pressKey(window, QStringLiteral("alt+2"));
            QVERIFY(waitFor([&] { return canvas.isVisible() && hasTimes(canvas); }));
            pressKey(window, QStringLiteral("alt+5"));
            QVERIFY(waitFor([&] { return window.part<views::DeployPage>().isVisible(); }));
            before = window.session();
            window.close();
        }
        MainWindow window(engineWith(isEndless), loadSettings(settingsFile()), options());
        show(window);
        window.restoreSession();
        QVERIFY(settle(window));
        const Session after = window.session();
        QCOMPARE(after.model, before.model);
        QCOMPARE(after.perspective, QStringLiteral("deploy"));
        QCOMPARE(after.board, QStringLiteral("local"));
        QCOMPARE(after.planner, before.planner);
        QCOMPARE(after.pass, before.pass);
        QVERIFY(after.isCompiled);
        QCOMPARE(window.deploy().history().rowCount(), 1);
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1600x1000x24", [&] {
        JourneyTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "journey_test.moc"
