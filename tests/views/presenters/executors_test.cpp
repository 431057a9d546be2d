// SPDX-License-Identifier: GPL-3.0-or-later
// Footprints without a display: bars and table from the same numbers, estimates and measurements
// apart, and fits against budgets.
#include "tests/views/fixtures.h"
#include "views/models/footprint_rows.h"
#include "views/presenters/executors_presenter.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ExecutorsTest : public QObject
{
    Q_OBJECT

private:
    static Footprint footprint(bool isExact)
    {
        ExecutorFootprint graph{QStringLiteral("graph")};
        graph.flash = {{QStringLiteral("kernels"), 1000},
                       {QStringLiteral("constants"), 3000},
                       {QStringLiteral("metadata"), 700},
                       {QStringLiteral("runtime"), isExact ? 9000 : FootprintPart::kUnknown}};
        graph.ram = {{QStringLiteral("workspace"), 5000}, {QStringLiteral("io"), 100}};
        graph.isExact = isExact;
        ExecutorFootprint aot = graph;
        aot.name = QStringLiteral("AOT packed");
        aot.flash[2].bytes = 50;
        aot.ram[0].bytes = 4000;
        ExecutorFootprint none{QStringLiteral("AOT C")};
        none.problem = QStringLiteral("this target has no C interface");
        return {QStringLiteral("c -mcpu=cortex-m4"),
                QStringLiteral("counted"),
                QStringLiteral("nothing"),
                {graph, aot, none}};
    }
    struct Bench
    {
        explicit Bench(bool canMeasure)
            : workspace(engine(canMeasure, target), 1)
            , executors(workspace)
        {
            QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &executors,
                             [this] { executors.setDocument(workspace.document()); });
        }
        static Engine engine(bool canMeasure, const QString& target)
        {
            Engine made = tests::fakeEngine();
            made.estimateFootprint = [&target](DocumentPtr,
                                               core::JobContext&) -> core::Result<Footprint> {
                Footprint counted = footprint(false);
                counted.target = target;
                return counted;
            };
            if (canMeasure)
                made.measureFootprint = [](DocumentPtr,
                                           core::JobContext&) -> core::Result<Footprint> {
                    return footprint(true);
                };
            made.budgets = [] {
                return std::vector<MemoryBudget>{
                    {QStringLiteral("big"), QStringLiteral("Big board"), 1 << 20, 1 << 20},
                    {QStringLiteral("tiny"), QStringLiteral("Tiny board"), 20000, 4500},
                    {QStringLiteral("m4"), QStringLiteral("M4 board"), 1 << 19, 1 << 19,
                     QStringLiteral("c -mcpu=cortex-m4")},
                    {QStringLiteral("linux"), QStringLiteral("Linux board"), 0, 1 << 30}};
            };
            return made;
        }
        bool wait()
        {
            return QTest::qWaitFor(
                [this] { return !workspace.state().isBusy && !executors.state().isWorking; },
                30000);
        }
        bool open()
        {
            workspace.open(QStringLiteral("small.onnx"));
            if (!wait()) return false;
            workspace.compile();
            return wait() && executors.state().hasFootprint;
        }
        QString target = QStringLiteral("c -mcpu=cortex-m4"); ///< before what reads it
        WorkspacePresenter workspace;
        ExecutorsPresenter executors;
    };

private slots:
    void tableRowsAddUpToTheBars()
    {
        const Footprint shown = footprint(true);
        const auto rows = partRows(shown);
        for (const bool isFlash : {true, false}) {
            const QString memory = isFlash ? QStringLiteral("flash") : QStringLiteral("RAM");
            const auto bars = isFlash ? flashBars(shown) : ramBars(shown);
            for (size_t executor = 0; executor < bars.size(); ++executor) {
                const StackBar& bar = bars[executor];
                if (!bar.problem.isEmpty()) continue;
                qint64 parts = 0, total = 0, painted = 0;
                for (const PartRow& row : rows)
                    if (row.memory == memory)
                        (row.isTotal ? total : parts) += std::max<qint64>(0, row.bytes[executor]);
                for (const StackPart& part : bar.parts) painted += part.bytes;
                QCOMPARE(parts, bar.totalBytes);
                QCOMPARE(total, bar.totalBytes);
                QCOMPARE(painted, bar.totalBytes);
            }
        }
    }

    void saysWhatIsNotKnown()
    {
        const Footprint shown = footprint(false);
        QVERIFY(!flashBars(shown)[0].isComplete);
        QVERIFY(!flashBars(shown)[0].isExact);
        QVERIFY(!flashBars(shown)[2].problem.isEmpty());
        PartsModel model;
        model.setFootprint(shown);
        QAbstractItemModelTester tester(&model);
        QCOMPARE(model.index(3, 2).data().toString(), QStringLiteral("not known"));
        QCOMPARE(model.index(0, 2).data(Qt::ToolTipRole).toString(), QStringLiteral("estimated"));
        QCOMPARE(model.index(0, 4).data().toString(), QStringLiteral("not known")); // no interface
    }

    void comparesTheChosenExecutorWithTheFirst()
    {
        PartsModel model;
        model.setFootprint(footprint(true));
        const auto text = [&](int row, int column) {
            return model.index(row, column).data().toString();
        };
        QCOMPARE(model.headerData(5, Qt::Horizontal, Qt::DisplayRole).toString(),
                 QStringLiteral("AOT packed − graph"));
        QCOMPARE(text(2, 1), QStringLiteral("metadata"));
        QCOMPARE(text(2, 5), QStringLiteral("−650 B"));
        QCOMPARE(text(2, 6), QStringLiteral("−92.9 %"));
        QCOMPARE(text(0, 5), QStringLiteral("0 B"));
        QCOMPARE(text(4, 5), QStringLiteral("−650 B")); // the total of flash
        model.setCompared(2);
        QCOMPARE(text(2, 5), QString()); // nothing is known of it
    }

    void givesNothingNoSign()
    {
        Footprint large = footprint(true);
        for (ExecutorFootprint& executor : large.executors)
            if (!executor.flash.empty()) executor.flash[1].bytes = 100000000;
        PartsModel model;
        model.setFootprint(large);
        QCOMPARE(model.index(4, 5).data().toString(), QStringLiteral("−650 B"));
        QCOMPARE(model.index(4, 6).data().toString(), QStringLiteral("0.0 %"));
    }

    void leavesConstantsOutWhenAskedTo()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        const int all = bench.executors.table().rowCount();
        const qint64 flash = bench.executors.state().flash.usedBytes;
        bench.executors.setConstantsShown(false);
        QCOMPARE(bench.executors.table().rowCount(), all - 1);
        QCOMPARE(flashBars(*bench.executors.shown())[0].totalBytes, qint64{1700});
        QCOMPARE(bench.executors.state().flash.usedBytes, flash); // what has to fit is all of it
    }

    void compilesAgainForAnotherTargetWhileItIsLookedAt()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=other"));
        QVERIFY(bench.wait());
        QVERIFY(bench.workspace.document()->target != QStringLiteral("llvm -mcpu=other"));
        bench.executors.setLookedAt(true);
        QVERIFY(bench.wait());
        QCOMPARE(bench.workspace.document()->target, QStringLiteral("llvm -mcpu=other"));
        bench.workspace.setTarget(QStringLiteral("none of these")); // not valid: nothing happens
        QVERIFY(bench.wait());
        QCOMPARE(bench.workspace.document()->target, QStringLiteral("llvm -mcpu=other"));
    }

    void fitsAreLowerLimitsUntilMeasured()
    {
        QCOMPARE((Fit{2048, 4096, true}.text()), QStringLiteral("2.00 KiB of 4.00 KiB"));
        QCOMPARE((Fit{2048, 4096, false}.text()), QStringLiteral("at least 2.00 KiB of 4.00 KiB"));
        QVERIFY((Fit{4097, 4096, false}.text().contains(QStringLiteral("does not fit"))));
        QVERIFY((Fit{4097, 0, true}.fits())); // no budget of this kind
        QVERIFY((Fit{4096, 4096, true}.fits()));
    }

    void estimatesOnceCompiledAndMeasuresWhenAsked()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        QVERIFY(!bench.executors.state().isExact);
        QVERIFY(bench.executors.state().canMeasure);
        QCOMPARE(bench.executors.state().how, QStringLiteral("estimated (hatched)"));
        bench.executors.measure();
        QVERIFY(bench.wait());
        QVERIFY(bench.executors.state().isExact);
        QCOMPARE(bench.executors.state().how, QStringLiteral("measured"));
        QCOMPARE(bench.executors.footprint()->executors[0].flash[3].bytes, 9000);
    }

    void offersNoMeasurementWhereNothingCanLink()
    {
        Bench bench(false);
        QVERIFY(bench.open());
        QVERIFY(!bench.executors.state().canMeasure);
        bench.executors.measure();
        QVERIFY(!bench.executors.state().isWorking);
    }

    void comparesTheSelectedExecutorWithTheChosenBoard()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        const ExecutorsState& state = bench.executors.state();
        QCOMPARE(state.budgetTitle, QStringLiteral("M4 board")); // what was compiled for
        QVERIFY(state.ram.fits());
        bench.executors.chooseBudget(QStringLiteral("tiny"));
        QVERIFY(!state.ram.fits()); // 5100 of 4500
        bench.executors.select(1);
        QVERIFY(state.ram.fits()); // 4100 of 4500
        bench.executors.select(7);
        QCOMPARE(state.selected, 1);
        bench.executors.select(2);
        QCOMPARE(state.ram.budgetBytes, 0); // nothing is known of it, so nothing is compared
        bench.executors.chooseBudget(QStringLiteral("nobody's"));
        QCOMPARE(state.budgetTitle, QStringLiteral("Tiny board"));
        bench.executors.chooseBudget(QStringLiteral("linux"));
        QCOMPARE(state.flash.budgetBytes, 0);
        bench.executors.setBoardBudget({QStringLiteral("mine"), QStringLiteral("My board"), 0, 9});
        QCOMPARE(state.budgetTitle, QStringLiteral("My board"));
        bench.executors.setBoardBudget({}); // back to this computer: nothing is known of it
        QCOMPARE(state.budgetTitle, QStringLiteral("M4 board"));
    }

    void comparesWithNoBoardThatHasAnotherProcessor()
    {
        Bench bench(true);
        bench.target = QStringLiteral("llvm -mcpu=native");
        QVERIFY(bench.open());
        const ExecutorsState& state = bench.executors.state();
        QVERIFY(state.hasBudgets);
        QVERIFY2(state.budgetTitle.isEmpty(), qPrintable(state.budgetTitle));
        QCOMPARE(state.ram.budgetBytes, 0);
        QVERIFY(state.ram.usedBytes > 0);
    }
};

QTEST_GUILESS_MAIN(ExecutorsTest)
#include "executors_test.moc"
