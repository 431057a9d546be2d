// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory page with the real compiler: its totals are the planner's to the byte, its table has
// the map's rectangles, and choosing a planner compiles with it.
#include "app/engine/engine.h"
#include "app/engine/memory_builder.h"
#include "app/workbench/main_window.h"
#include "compiler/driver/compile.h"
#include "compiler/executor/memory.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "views/pages/memory/memory_page.h"

#include <QTest>

#include <algorithm>

using namespace tenon;
using namespace tenon::app;

class MemoryPageTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 240000);
    }
    static compiler::CompileResultPtr compileHere(const std::string& planner,
                                                  const std::string& target = "llvm -mcpu=native")
    {
        auto loaded = compiler::loadOnnx(TENON_SAMPLE_MODEL, {});
        if (!loaded) return nullptr;
        compiler::CompileOptions options;
        options.planner = planner;
        options.target = target;
        core::JobContext job;
        auto result = compiler::compile(
            std::make_shared<const compiler::Loaded>(*std::move(loaded)), options, job);
        return result ? *result : nullptr;
    }
    static void compare(const views::MemoryPlan& shown, const compiler::ProgramMemory& planned)
    {
        QCOMPARE(shown.arenaBytes, planned.workspaceBytes());
        QCOMPARE(shown.lowerBoundBytes, planned.plan.lowerBoundBytes);
        QCOMPARE(shown.buffers.size(), planned.problem.buffers.size());
        for (size_t i = 0; i < shown.buffers.size(); ++i) {
            QCOMPARE(shown.buffers[i].bytes, planned.problem.buffers[i].sizeBytes);
            QCOMPARE(shown.buffers[i].offset, planned.plan.placements[i].offset);
        }
        QCOMPARE(*std::max_element(shown.liveBytes.begin(), shown.liveBytes.end()),
                 planned.plan.lowerBoundBytes);
        for (const views::PlannerResult& result : shown.planners) {
            const auto other =
                compiler::planMemory(result.algorithm.toStdString(), planned.problem);
            QVERIFY(other);
            QCOMPARE(result.bytes, other->totalBytes());
        }
    }

private slots:
    /// Kernels in C are lent memory that is no tensor's.
    void showsTheScratchOfKernels()
    {
        const auto result = compileHere("hill_climb", "c -mcpu=cortex-m4");
        QVERIFY(result);
        const views::MemoryPlan shown = memoryPlanOf(result->program, result->memory);
        compare(shown, result->memory);
        QVERIFY(std::any_of(shown.buffers.begin(), shown.buffers.end(),
                            [](const views::PlannedBuffer& buffer) {
                                return buffer.type == QStringLiteral("scratch") &&
                                       buffer.writer == buffer.firstCall;
                            }));
    }

    void totalsAreThePlanners()
    {
        MainWindow window(makeEngine({}), {}, {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.showPerspective(QStringLiteral("memory")));
        window.workspace().compile();
        QVERIFY(settle(window));
        const auto compiled = compileHere("hill_climb");
        QVERIFY(compiled);
        compare(window.memory().plan(), compiled->memory);

        views::MemoryPage& page = window.part<views::MemoryPage>();
        QCOMPARE(page.map().rectangleCount(), page.table().model()->rowCount());
        QCOMPARE(page.map().rectangleCount(),
                 static_cast<int>(window.memory().placements().size()));
        for (int i = 0; i < page.map().rectangleCount(); ++i) {
            const views::BufferRow& row = window.memory().placements()[static_cast<size_t>(i)];
            const views::BufferRow& first = window.memory().placements()[0];
            const double scale =
                page.map().pixelRect(0).height() / static_cast<double>(first.bytes);
            QVERIFY(std::abs(page.map().pixelRect(i).height() -
                             static_cast<double>(row.bytes) * scale) < 0.01);
        }
        const QPoint inside = page.map().pixelRect(1).center().toPoint();
        QTest::mouseClick(&page.map(), Qt::LeftButton, {}, inside);
        QVERIFY(window.memory().state().selectedBuffer >= 0);
        QVERIFY(window.workspace().selection().node().isValid());

        window.memory().choosePlanner(QStringLiteral("linear_scan"));
        QVERIFY(settle(window));
        const auto other = compileHere("linear_scan");
        QVERIFY(other);
        compare(window.memory().plan(), other->memory);

        window.memory().setPools(QStringLiteral("fast=8KiB,slow"));
        QVERIFY(settle(window));
        QVERIFY(window.memory().state().isWhatIf);
        QCOMPARE(window.memory().plan().pools.size(), size_t{2});
        QVERIFY(window.memory().plan().pools[0].peakBytes <= 8 * 1024);
        window.memory().setPools(QStringLiteral("tiny=64"));
        QVERIFY(settle(window));
        QVERIFY(!window.memory().state().problem.isEmpty());
        QVERIFY(!page.grab().isNull());
    }
};

QTEST_MAIN(MemoryPageTest)
#include "memory_test.moc"
