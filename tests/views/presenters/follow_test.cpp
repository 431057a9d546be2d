// SPDX-License-Identifier: GPL-3.0-or-later
// Where did it go: the film of a node, playing it, and what selecting does to it.
#include "tests/views/fixtures.h"
#include "views/presenters/follow_presenter.h"
#include "views/presenters/workspace_presenter.h"

#include <QSignalSpy>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class FollowTest : public QObject
{
    Q_OBJECT

private:
    struct Bench
    {
        Bench()
            : workspace(tests::fakeEngine(), 1)
            , passes(workspace.jobs(), workspace.selection())
            , follow(passes, workspace.selection())
        {
            QObject::connect(
                &workspace, &WorkspacePresenter::documentChanged, &passes,
                [this](bool isSame) { passes.setDocument(workspace.document(), isSame); });
        }
        bool open()
        {
            workspace.open(QStringLiteral("small.onnx"));
            return QTest::qWaitFor(
                [this] { return passes.state().isReady && !workspace.state().isBusy; }, 10000);
        }
        core::SourceId sourceOf(const char* name)
        {
            return *core::findSource(workspace.document()->imported, name);
        }
        WorkspacePresenter workspace;
        PassesPresenter passes;
        FollowPresenter follow;
    };

private slots:
    void showsAFrameForEveryPassThatTouchedTheNode()
    {
        Bench bench;
        QVERIFY(bench.open());
        const auto film = filmOf(*bench.workspace.document(), bench.sourceOf("block1.Relu"));
        QCOMPARE(film.size(), size_t{2}); // Simplify leaves it alone
        QCOMPARE(film[0].where, QStringLiteral("nn.relu"));
        QCOMPARE(film[1].pass, QStringLiteral("FuseOps"));
        QCOMPARE(film[1].where, QStringLiteral("row 4 of kernel 2"));
        QCOMPARE(film[1].rows.size(), size_t{4});
        QVERIFY(film[1].rows[3].isFollowed && !film[1].rows[0].isFollowed);
    }

    void findsEveryNodeOfTheFileInTheShownVersion()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.passes.showVersion(3);
        const auto found = bench.follow.sources();
        QCOMPARE(found.size(), bench.workspace.document()->imported.sources().size());
        QCOMPARE(found[0].where, QStringLiteral("row 1 of kernel 1"));
        QVERIFY(found[0].node.isValid());
    }

    void playsTheWayToTheShownVersion()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.passes.showVersion(3);
        QList<int> shown;
        connect(&bench.passes, &PassesPresenter::sceneChanged,
                [&] { shown << bench.passes.state().version; });
        bench.follow.play(bench.sourceOf("block0.BatchNormalization"));
        QVERIFY(bench.follow.isPlaying());
        QVERIFY(QTest::qWaitFor([&] { return !bench.follow.isPlaying(); }, 60000));
        QCOMPARE(shown, (QList<int>{0, 2, 3}));
        QCOMPARE(bench.follow.state().answer, QStringLiteral("rows 2, 3 of kernel 1"));
        QCOMPARE(bench.follow.state().frame, 2);
        QVERIFY(bench.passes.state().selected != kNoPlace);
    }

    void goesThereAtOnceWhereMotionIsReduced()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.passes.showVersion(3);
        bench.follow.setReducedMotion(true);
        bench.follow.play(bench.sourceOf("block0.Relu"));
        QVERIFY(!bench.follow.isPlaying());
        QCOMPARE(bench.passes.state().version, 3);
        QCOMPARE(bench.follow.state().name, QStringLiteral("block0.Relu"));
    }

    void stopsWhenSomeoneSteps()
    {
        Bench bench;
        QVERIFY(bench.open());
        bench.passes.showVersion(3);
        bench.follow.play(bench.sourceOf("block0.Conv"));
        bench.passes.showVersion(1);
        QVERIFY(!bench.follow.isPlaying());
        QCOMPARE(bench.passes.state().version, 1);
    }

    void followsTheSelectionWhileTheFilmIsLookedAt()
    {
        Bench bench;
        QVERIFY(bench.open());
        const core::NodeId first = bench.workspace.document()->imported.main().order.front();
        bench.workspace.selection().select(first);
        QVERIFY(bench.follow.state().name.isEmpty());
        bench.follow.setLookedAt(true);
        QCOMPARE(bench.follow.state().name, QStringLiteral("block0.Conv"));
        bench.passes.showVersion(3);
        bench.workspace.selection().select(
            bench.workspace.document()->version(3).main().order.back());
        QCOMPARE(bench.follow.state().name, QStringLiteral("block1.Conv"));
        bench.follow.showFrame(0);
        QCOMPARE(bench.passes.state().version, 0);
        QCOMPARE(bench.follow.state().frame, 0);
    }
};

QTEST_GUILESS_MAIN(FollowTest)
#include "follow_test.moc"
