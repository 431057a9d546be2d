// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory page's rows and presenter without a display: table and chart rows, position,
// selection, planners, what-ifs.
#include "tests/views/fixtures.h"
#include "views/presenters/memory_presenter.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class MemoryTest : public QObject
{
    Q_OBJECT

private:
    struct Bench
    {
        Bench()
            : workspace(tests::fakeEngine(), 1)
            , memory(workspace)
        {
            QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &memory,
                             [this] { memory.setDocument(workspace.document()); });
        }
        bool wait()
        {
            return QTest::qWaitFor(
                [this] { return !workspace.state().isBusy && !memory.state().isPlanning; }, 30000);
        }
        bool open()
        {
            workspace.open(QStringLiteral("small.onnx"));
            if (!wait()) return false;
            workspace.compile();
            return wait() && memory.state().hasPlan;
        }
        WorkspacePresenter workspace;
        MemoryPresenter memory;
    };

private slots:
    void hasNothingBeforeACompile()
    {
        Bench bench;
        bench.workspace.open(QStringLiteral("small.onnx"));
        QVERIFY(bench.wait());
        QVERIFY(!bench.memory.state().hasPlan);
        QCOMPARE(bench.memory.buffers().rowCount(), 0);
        bench.memory.showPeak();
        bench.memory.selectBuffer(0);
        bench.memory.setAlignment(16);
        QVERIFY(!bench.memory.state().isPlanning);
    }

    void beginsAtThePeakWithItsLargestBuffer()
    {
        Bench bench;
        QVERIFY(bench.open());
        const MemoryState& state = bench.memory.state();
        QCOMPARE(state.call, 1);
        QCOMPARE(state.selectedBuffer, 1);
        QCOMPARE(state.aliveTitle, QStringLiteral("Alive at call 1"));
        QCOMPARE(state.aliveCaption, QStringLiteral("2 buffers · 1,124 B"));
        QCOMPARE(bench.memory.alive().rows()[0].label, QStringLiteral("t1"));
        QCOMPARE(state.whyTitle, QStringLiteral("Why is t1 alive?"));
        QVERIFY(state.curveCaption.contains(QStringLiteral("hill_climb")));
        QVERIFY(!state.curveCaption.contains(QStringLiteral("run time")));
    }

    void saysWhatIsNotInThePlan()
    {
        Bench bench;
        QVERIFY(bench.open());
        Document document = *bench.workspace.document();
        document.memory->valuesAtRunTime = 1;
        bench.memory.setDocument(std::make_shared<const Document>(std::move(document)));
        QVERIFY(bench.memory.state().curveCaption.endsWith(
            QStringLiteral("more at run time for 1 value")));
    }

    void tableRowsAreTheMapsRectanglesToTheByte()
    {
        Bench bench;
        QVERIFY(bench.open());
        const auto& rows = bench.memory.placements();
        const MemoryPlan& plan = bench.memory.plan();
        QCOMPARE(rows.size(), plan.buffers.size());
        QCOMPARE(bench.memory.buffers().rowCount(), static_cast<int>(rows.size()));
        qint64 top = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            QCOMPARE(rows[i].bytes, plan.buffers[i].bytes);
            QCOMPARE(rows[i].bottom, plan.buffers[i].offset);
            top = std::max(top, rows[i].bottom + rows[i].bytes);
            const QModelIndex bytes = bench.memory.buffers().index(static_cast<int>(i), 5);
            QCOMPARE(bytes.data().toString().remove(QLatin1Char(',')).toLongLong(), rows[i].bytes);
        }
        QCOMPARE(top, plan.arenaBytes);
        QAbstractItemModelTester(&bench.memory.buffers());
        QAbstractItemModelTester(&bench.memory.planners());
    }

    void walksAlongTheCallsAndStopsAtTheEnds()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.memory.stepCall(-5);
        QCOMPARE(bench.memory.state().call, 0);
        QCOMPARE(bench.memory.alive().rowCount(), 1);
        bench.memory.showCall(99);
        QCOMPARE(bench.memory.state().call, bench.memory.state().callCount - 1);
        bench.memory.showPeak();
        QCOMPARE(bench.memory.state().call, 1);
    }

    void saysWhoWritesABufferAndWhoStillNeedsIt()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.memory.selectBuffer(0);
        QStringList lines;
        for (const MemoryFact& fact : bench.memory.why().rows())
            lines << fact.label + QStringLiteral(": ") + fact.value;
        const QString text = lines.join(QLatin1Char('\n'));
        QVERIFY2(text.contains(QStringLiteral("written by: call · call 0")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("last read by: call · call 1")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("100 B + 28 B padding")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("offset 1,024")), qPrintable(text));
    }

    void followsTheSelectionOfOtherPagesAndLeadsToTheGraph()
    {
        Bench bench;
        QVERIFY(bench.open());
        const DocumentPtr document = bench.workspace.document();
        bench.workspace.selection().select(document->calls[0].node);
        QCOMPARE(bench.memory.state().selectedBuffer, 0);
        QCOMPARE(bench.memory.state().call, 0);
        bench.memory.selectBuffer(1);
        QCOMPARE(bench.workspace.selection().node(), document->calls[1].node);
        bench.memory.selectBuffer(-1);
        QVERIFY(bench.memory.state().whyTitle.isEmpty());
        bench.memory.selectBuffer(77); // there is none
        QCOMPARE(bench.memory.state().selectedBuffer, -1);
    }

    void comparesPlannersAndCompilesWithTheChosenOne()
    {
        Bench bench;
        QVERIFY(bench.open());
        const auto& rows = bench.memory.planners().rows();
        QCOMPARE(rows.size(), size_t{3}); // two planners and "no reuse"
        QCOMPARE(rows[0].algorithm, QStringLiteral("hill_climb"));
        QVERIFY(rows[0].isChosen && rows[0].isProvenOptimal);
        QVERIFY(rows[1].ratio > 1);
        QVERIFY(rows[2].isReference);
        QCOMPARE(rows[2].bytes, bench.memory.plan().withoutReuseBytes);
        const int revision = bench.workspace.document()->revision;
        bench.memory.choosePlanner(QStringLiteral("linear_scan"));
        QVERIFY(bench.wait());
        QVERIFY(bench.workspace.document()->revision > revision);
        QCOMPARE(bench.memory.plan().algorithm, QStringLiteral("linear_scan"));
        QVERIFY(!bench.memory.state().isWhatIf);
        QCOMPARE(bench.memory.state().question.algorithm, QStringLiteral("linear_scan"));
    }

    void answersWhatIfsWithoutCompiling()
    {
        Bench bench;
        QVERIFY(bench.open());
        const int revision = bench.workspace.document()->revision;
        bench.memory.setAlignment(16);
        QVERIFY(bench.wait());
        QVERIFY(bench.memory.state().isWhatIf);
        QCOMPARE(bench.memory.plan().alignment, 16);
        QVERIFY(bench.memory.state().curveCaption.startsWith(QStringLiteral("what if")));
        bench.memory.setPools(QStringLiteral("too small"));
        QVERIFY(bench.wait());
        QVERIFY(!bench.memory.state().isWhatIf);
        QVERIFY(bench.memory.state().problem.contains(QStringLiteral("too small")));
        QVERIFY(bench.memory.state().hasPlan); // the compiled one is shown
        bench.memory.dropWhatIf();
        QVERIFY(bench.memory.state().problem.isEmpty());
        QCOMPARE(bench.memory.plan().alignment, 64);
        QCOMPARE(bench.workspace.document()->revision, revision);
    }

    void beginsWithTheAlignmentOfTheTarget()
    {
        Engine engine = tests::fakeEngine();
        engine.compile = [compile =
                              engine.compile](DocumentPtr document, const BuildOptions& options,
                                              core::JobContext& job) -> core::Result<DocumentPtr> {
            auto made = std::make_shared<Document>(**compile(document, options, job));
            made->memory->alignment = 16;
            return DocumentPtr(made);
        };
        WorkspacePresenter workspace(engine, 1);
        MemoryPresenter memory(workspace);
        connect(&workspace, &WorkspacePresenter::documentChanged, &memory,
                [&] { memory.setDocument(workspace.document()); });
        const auto wait = [&] {
            return QTest::qWaitFor(
                [&] { return !workspace.state().isBusy && !memory.state().isPlanning; }, 30000);
        };
        workspace.open(QStringLiteral("small.onnx"));
        QVERIFY(wait());
        workspace.compile();
        QVERIFY(wait());
        QCOMPARE(memory.state().question.alignment, 16);
        QVERIFY(!memory.state().isWhatIf);
        memory.setAlignment(64);
        QVERIFY(wait());
        QVERIFY(memory.state().isWhatIf);
        QCOMPARE(memory.plan().alignment, 64);
        memory.dropWhatIf();
        QCOMPARE(memory.state().question.alignment, 16);
        QVERIFY(!memory.state().isWhatIf);
    }

    void forgetsEverythingWithANewModel()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.open(QStringLiteral("other.onnx"));
        QVERIFY(bench.wait());
        QVERIFY(!bench.memory.state().hasPlan);
        QCOMPARE(bench.memory.buffers().rowCount(), 0);
        QCOMPARE(bench.memory.state().selectedBuffer, -1);
    }
};

QTEST_GUILESS_MAIN(MemoryTest)
#include "memory_test.moc"
