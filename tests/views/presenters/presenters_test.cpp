// SPDX-License-Identifier: GPL-3.0-or-later
// Presenters: opening, failing, cancelling, measuring, stepping, selecting; no display.
#include "tests/views/fixtures.h"
#include "views/presenters/deploy_presenter.h"
#include "views/presenters/inspect_presenter.h"
#include "views/presenters/inspector_presenter.h"
#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

#include <QSignalSpy>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class PresentersTest : public QObject
{
    Q_OBJECT

private:
    struct Bench
    {
        explicit Bench(bool waits = false)
            : workspace(tests::fakeEngine(waits), 1)
            , passes(workspace.jobs(), workspace.selection())
            , inspector(workspace.engine(), workspace.jobs(), workspace.selection())
            , prompt(workspace.jobs())
            , boards(workspace, prompt)
            , deploy(workspace, boards, prompt)
        {
            QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &passes,
                             [this](bool isSame) {
                                 passes.setDocument(workspace.document(), isSame);
                                 inspector.setDocument(workspace.document());
                             });
        }
        bool open()
        {
            workspace.open(QStringLiteral("small.onnx"));
            return QTest::qWaitFor(
                [this] { return passes.state().isReady && !workspace.state().isBusy; }, 10000);
        }
        WorkspacePresenter workspace;
        PassesPresenter passes;
        InspectorPresenter inspector;
        BoardPrompt prompt;
        BoardsPresenter boards;
        DeployPresenter deploy;
    };

private slots:
    void opensAModel()
    {
        Bench bench;
        QSignalSpy opened(&bench.workspace, &WorkspacePresenter::opened);
        QVERIFY(bench.open());
        QCOMPARE(opened.count(), 1);
        QVERIFY(bench.workspace.state().canBuild);
        QCOMPARE(bench.workspace.state().facts, QStringLiteral("6 nodes · opset 13"));
        QCOMPARE(bench.passes.state().countText, QStringLiteral("3, 2 with changes"));
    }

    void keepsTheOldModelWhenANewOneCannotBeRead()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.open(QStringLiteral("bad"));
        QVERIFY(
            QTest::qWaitFor([&] { return !bench.workspace.state().bannerTitle.isEmpty(); }, 10000));
        QVERIFY(bench.workspace.state().bannerText.contains(QStringLiteral("conv_7")));
        QVERIFY(bench.workspace.state().hasDocument);
        bench.workspace.dismissBanner();
        QVERIFY(bench.workspace.state().bannerTitle.isEmpty());
    }

    void listsAFailedJobAmongTheIssues()
    {
        Engine engine = tests::fakeEngine();
        engine.boards.deploy = [](const DeployQuestion&, const BoardAsk&, const DeployWatcher&,
                                  core::JobContext&) {
            DeployOutcome outcome;
            outcome.error = core::makeError(core::DiagnosticCode::BoardFailure, "the code crashed",
                                            {.node = "block1.Relu"});
            return outcome;
        };
        WorkspacePresenter workspace(engine, 1);
        BoardPrompt prompt(workspace.jobs());
        BoardsPresenter boards(workspace, prompt);
        DeployPresenter deploy(workspace, boards, prompt);
        workspace.open(QStringLiteral("small.onnx"));
        QVERIFY(QTest::qWaitFor([&] { return workspace.state().canBuild; }, 60000));
        deploy.deploy();
        QVERIFY(QTest::qWaitFor([&] { return !workspace.state().bannerTitle.isEmpty(); }, 60000));
        QCOMPARE(workspace.state().bannerText,
                 QStringLiteral("the code crashed (at node block1.Relu)"));
        QCOMPARE(workspace.state().issueCount, 1);
        QCOMPARE(workspace.issues().rows().front().node, workspace.state().bannerNode);
        QVERIFY(workspace.state().bannerNode.isValid());
        QVERIFY(workspace.state().canBuild); // a fault of the run is none of the model
        workspace.compile();
        QCOMPARE(workspace.state().issueCount, 0);
        QVERIFY(QTest::qWaitFor([&] { return !workspace.state().isBusy; }, 60000));
    }

    void seekingANodeOpensTheGroupsAroundIt()
    {
        Engine engine = tests::fakeEngine();
        engine.open = [](const QString&, const BuildOptions&, const Engine::Read&,
                         core::JobContext&) -> core::Result<DocumentPtr> {
            return tests::branchingDocument();
        };
        WorkspacePresenter workspace(engine, 1);
        InspectPresenter inspect(workspace.jobs(), workspace.selection());
        connect(&workspace, &WorkspacePresenter::documentChanged, &inspect,
                [&](bool isSame) { inspect.setDocument(workspace.document(), isSame); });
        workspace.open(QStringLiteral("branching.onnx"));
        QVERIFY(QTest::qWaitFor([&] { return inspect.isReady(); }, 60000));
        QCOMPARE(inspect.scene()->items.size(), size_t{4}); // the If is one card at first
        QSignalSpy moved(&inspect, &InspectPresenter::selectionMoved);
        workspace.selection().seek(inspect.findNode(QStringLiteral("tanh")));
        QVERIFY(QTest::qWaitFor([&] { return inspect.isReady() && moved.count() > 1; }, 60000));
        QVERIFY(inspect.scene()->items.size() > 6);
        const int item = inspect.scene()->itemAt(inspect.selectedPlace());
        QVERIFY(item >= 0);
        QCOMPARE(inspect.scene()->items[static_cast<size_t>(item)].title, QStringLiteral("tanh"));
        QVERIFY(inspect.find(QStringLiteral("sigmoid")));
    }

    void refusesToBuildForABadTarget()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.setTarget(QStringLiteral("llvmm"));
        QVERIFY(bench.workspace.state().canBuild); // still starts with llvm
        bench.workspace.setTarget(QStringLiteral("abacus"));
        QVERIFY(!bench.workspace.state().canBuild);
        QVERIFY(bench.workspace.state().targetMessage.contains(QStringLiteral("abacus")));
    }

    void saysWhoseTimesAreShownWhenAnotherTargetIsNamed()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=one"));
        QVERIFY(bench.workspace.state().staleText.isEmpty()); // nothing was built for any
        bench.deploy.deploy();
        QVERIFY(QTest::qWaitFor([&] { return !bench.workspace.state().measurementText.isEmpty(); },
                                60000));
        QVERIFY(bench.workspace.state().staleText.isEmpty());
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=two"));
        const WorkspaceState& state = bench.workspace.state();
        QVERIFY(state.staleText.contains(QStringLiteral("llvm -mcpu=one")));
        QVERIFY(state.measurementDetail.startsWith(state.staleText));
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=one"));
        QVERIFY(state.staleText.isEmpty());
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=two"));
        bench.workspace.compile();
        QVERIFY(
            QTest::qWaitFor([&] { return state.staleText.isEmpty() && state.canBuild; }, 60000));
        QVERIFY(state.measurementText.isEmpty());
    }

    void cancelsALongCompile()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        bench.workspace.compile();
        QVERIFY(bench.workspace.state().isBusy);
        bench.workspace.cancel();
        QVERIFY(bench.workspace.jobs().state().isCancelling);
        QVERIFY(QTest::qWaitFor([&] { return !bench.workspace.state().isBusy; }, 10000));
        QVERIFY(bench.workspace.jobs().state().outcome.contains(QStringLiteral("cancelled")));
        QVERIFY(bench.workspace.state().bannerTitle.isEmpty());
        QVERIFY(!bench.workspace.document()->isCompiled());
    }

    void measuresAndShowsTimesOnTheGraph()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.deploy.deploy();
        QVERIFY(QTest::qWaitFor(
            [&] {
                return !bench.workspace.state().measurementText.isEmpty() &&
                       !bench.workspace.state().isBusy;
            },
            10000));
        QCOMPARE(bench.workspace.state().measurementText,
                 QStringLiteral("300 µs ± 1.00 µs, n = 3"));
        QCOMPARE(bench.workspace.state().peerText,
                 QStringLiteral("peer 1.0 takes 600 µs (590 µs to 610 µs) on the same inputs and "
                                "threads; Tenon takes 0.50 times that"));
        QCOMPARE(bench.workspace.calls().rowCount(), 2);
        QCOMPARE(bench.workspace.calls().rows().front().shareOfBound, 0.5);
        QVERIFY(QTest::qWaitFor(
            [&] {
                bench.passes.showVersion(3);
                return std::ranges::any_of(bench.passes.scene()->items, [](const SceneItem& i) {
                    return i.figure == QStringLiteral("200 µs");
                });
            },
            10000));
    }

    void choosingABoardCompilesForItAndAsksAboutItsKey()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.compile();
        QVERIFY(QTest::qWaitFor([&] { return bench.boards.state().canChange; }, 60000));
        QVERIFY(!bench.boards.choose(QStringLiteral("nobody's")));
        QVERIFY(bench.boards.choose(QStringLiteral("pi")));
        QCOMPARE(bench.workspace.state().target, QStringLiteral("llvm -mcpu=cortex-a72"));
        QVERIFY(QTest::qWaitFor([&] { return bench.prompt.question().has_value(); }, 60000));
        QCOMPARE(bench.boards.state().state, BoardState::Busy);
        QVERIFY(!bench.boards.choose(QStringLiteral("local"))); // first the question
        bench.prompt.refuse();
        QVERIFY(QTest::qWaitFor([&] { return bench.boards.state().canChange; }, 60000));
        QCOMPARE(bench.boards.state().state, BoardState::Offline);
        QVERIFY(bench.boards.state().problem.contains(QStringLiteral("vouched")));
        QVERIFY(bench.workspace.state().bannerText.contains(QStringLiteral("vouched")));
        QVERIFY(QTest::qWaitFor(
            [&] {
                return bench.workspace.document()->target ==
                       QStringLiteral("llvm -mcpu=cortex-a72");
            },
            60000));
        bench.boards.probe();
        QVERIFY(QTest::qWaitFor([&] { return bench.prompt.question().has_value(); }, 60000));
        bench.prompt.accept({});
        QVERIFY(QTest::qWaitFor([&] { return bench.boards.state().canChange; }, 60000));
        QCOMPARE(bench.boards.state().state, BoardState::Ready);
        QCOMPARE(bench.boards.checks().rowCount(), 2);
        QVERIFY(bench.boards.state().statusText.contains(QStringLiteral("Test board")));
        QVERIFY(bench.boards.state().statusText.contains(QStringLiteral("51 °C")));
        // The proposal is another target: taken only when asked for.
        QVERIFY(bench.boards.state().canUseProposal);
        bench.boards.useProposedTarget();
        QCOMPARE(bench.workspace.state().target, QStringLiteral("llvm -mcpu=probed"));
    }

    void aBoardWithoutTargetGetsTheProbedOne()
    {
        Bench bench;
        QVERIFY(bench.open());
        QVERIFY(bench.boards.choose(QStringLiteral("new")));
        QVERIFY(QTest::qWaitFor([&] { return bench.prompt.question().has_value(); }, 60000));
        bench.prompt.accept({});
        QVERIFY(QTest::qWaitFor([&] { return bench.boards.state().canChange; }, 60000));
        QCOMPARE(bench.workspace.state().target, QStringLiteral("llvm -mcpu=probed"));
    }

    void cancellingAnswersTheOpenQuestion()
    {
        Bench bench;
        QVERIFY(bench.boards.choose(QStringLiteral("pi")));
        QVERIFY(QTest::qWaitFor([&] { return bench.prompt.question().has_value(); }, 60000));
        bench.boards.cancel();
        QVERIFY(QTest::qWaitFor([&] { return bench.boards.state().canChange; }, 60000));
        QVERIFY(QTest::qWaitFor([&] { return !bench.prompt.question(); }, 60000));
    }

    void showsTheStepsOfADeploymentAlsoAfterItWasCancelled()
    {
        Bench bench(true);
        QVERIFY(bench.open());
        QVERIFY(bench.deploy.state().canDeploy);
        bench.deploy.deploy();
        QVERIFY(!bench.deploy.state().canDeploy);
        QVERIFY(QTest::qWaitFor([&] { return bench.deploy.steps().rowCount() == 2; }, 60000));
        bench.workspace.cancel();
        QVERIFY(QTest::qWaitFor([&] { return bench.deploy.state().canDeploy; }, 60000));
        QCOMPARE(bench.deploy.steps().rows()[0].state, StepState::Failed);
        QVERIFY(bench.workspace.state().bannerTitle.isEmpty()); // a cancel is no failure
    }

    void saysHowMuchFasterInPercent()
    {
        QCOMPARE(changeText(0.487) + changeText(1.031), QStringLiteral("51 % faster3.1 % slower"));
    }

    void takesATimeBudgetInSeconds()
    {
        Bench bench;
        QVERIFY(bench.open());
        for (const char* wrong : {"", "x", "-3", "0", "1e99", "10 min"}) {
            bench.deploy.setBudget(QLatin1String(wrong));
            QVERIFY2(!bench.deploy.state().isBudgetValid, wrong);
        }
        bench.deploy.setBudget(QStringLiteral(" 0.5 s "));
        QVERIFY(bench.deploy.state().isBudgetValid);
    }

    void stepsThroughPasses()
    {
        Bench bench;
        QVERIFY(bench.open());
        QCOMPARE(bench.passes.state().version, 2); // the first pass that changed something
        bench.passes.stepChanged(1);
        QCOMPARE(bench.passes.state().title, QStringLiteral("FuseOps"));
        bench.passes.stepChanged(1);
        QCOMPARE(bench.passes.state().version, 3);
        bench.passes.step(-2);
        QCOMPARE(bench.passes.state().title, QStringLiteral("InferType"));
        bench.passes.stepChanged(-1);
        QCOMPARE(bench.passes.state().version, 0);
        QCOMPARE(bench.passes.versionOf(QStringLiteral("fuseops")), 3);
        bench.passes.showVersion(3);
        bench.passes.cycleMode();
        QCOMPARE(bench.passes.state().mode, DiffMode::Split);
        QCOMPARE(bench.passes.scene()->columns.size(), size_t{2});
        QCOMPARE(bench.passes.scene()->columns[0].title, QStringLiteral("SimplifyInference"));
        bench.passes.cycleMode();
        QCOMPARE(bench.passes.state().mode, DiffMode::After);
        bench.passes.cycleMode();
        QCOMPARE(bench.passes.state().mode, DiffMode::Union);
    }

    void comparesAnyTwoPassesWhenOneIsPinned()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.passes.showVersion(0);
        bench.passes.togglePin();
        bench.passes.setMode(DiffMode::Split);
        bench.passes.showVersion(3);
        QCOMPARE(bench.passes.scene()->columns[0].title, QStringLiteral("Imported"));
        QCOMPARE(bench.passes.scene()->columns[1].title, QStringLiteral("FuseOps"));
        bench.passes.togglePin(); // FuseOps is the pinned one now, the older pass stays left
        bench.passes.showVersion(2);
        QCOMPARE(bench.passes.scene()->columns[0].title, QStringLiteral("SimplifyInference"));
        QCOMPARE(bench.passes.scene()->columns[1].title, QStringLiteral("FuseOps"));
        bench.passes.showVersion(3);
        bench.passes.togglePin();
        QCOMPARE(bench.passes.state().pinned, -1);
        QCOMPARE(bench.passes.scene()->columns[0].title, QStringLiteral("SimplifyInference"));
    }

    void keepsTheSelectionAcrossPasses()
    {
        Bench bench;
        QVERIFY(bench.open());
        const core::NodeId norm = bench.workspace.document()->imported.main().order[1];
        QSignalSpy moved(&bench.passes, &PassesPresenter::selectionMoved);
        bench.workspace.selection().select(norm);
        QCOMPARE(moved.count(), 1);
        const PlaceId place = bench.passes.state().selected;
        QVERIFY(place != kNoPlace);
        QCOMPARE(bench.passes.lineage().rows.front().op, QStringLiteral("BatchNormalization"));
        bench.passes.stepTouching(1);
        QCOMPARE(bench.passes.state().version, 3);
        QCOMPARE(bench.passes.state().selected, place);
        QVERIFY(bench.workspace.selection().node() != norm); // another node stands there now
        QVERIFY(std::ranges::any_of(bench.passes.heat(),
                                    [](const HeatCell& c) { return c.isSelected; }));
    }

    void describesTheSelectionAndLoadsItsCode()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.workspace.compile();
        QVERIFY(QTest::qWaitFor(
            [&] {
                return bench.workspace.document()->isCompiled() && !bench.workspace.state().isBusy;
            },
            10000));
        bench.inspector.setVersion(3);
        bench.workspace.selection().select(bench.workspace.document()->calls[0].node);
        const InspectorState& state = bench.inspector.state();
        QCOMPARE(state.title, QStringLiteral("conv + mul + add + relu"));
        QCOMPARE(state.members.size(), size_t{4});
        QVERIFY(state.hasKernel);
        bench.inspector.loadCode();
        QVERIFY(bench.inspector.state().isLoading);
        QVERIFY(QTest::qWaitFor([&] { return !bench.inspector.state().isLoading; }, 10000));
        QCOMPARE(bench.inspector.state().assembly.tirLines, (std::vector<int>{0, 2}));
        QVERIFY(bench.inspector.state().schedule.contains(QStringLiteral("split")));
    }

    void findsNodesAndFollowsTheSelectionByOrigin()
    {
        Bench bench;
        InspectPresenter inspect(bench.workspace.jobs(), bench.workspace.selection());
        QVERIFY(bench.open());
        inspect.setDocument(bench.workspace.document(), false);
        QVERIFY(QTest::qWaitFor([&] { return inspect.isReady(); }, 10000));
        QVERIFY(inspect.find(QStringLiteral("block1.relu")));
        const PlaceId relu = inspect.selectedPlace();
        QVERIFY(!inspect.find(QStringLiteral("nothing like this")));
        bench.workspace.selection().select(bench.workspace.document()->version(3).main().order[1]);
        QVERIFY(inspect.selectedPlace() != kNoPlace);
        QVERIFY(inspect.selectedPlace() != relu); // the call came from conv first
    }
};

QTEST_GUILESS_MAIN(PresentersTest)
#include <algorithm>

#include "presenters_test.moc"
