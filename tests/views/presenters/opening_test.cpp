// SPDX-License-Identifier: GPL-3.0-or-later
// Opening a model whose passes take long: it is shown as soon as it is read.
#include "tests/views/fixtures.h"
#include "views/presenters/inspect_presenter.h"
#include "views/presenters/workspace_presenter.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <thread>

using namespace tenon;
using namespace tenon::views;

class OpeningTest : public QObject
{
    Q_OBJECT

private slots:
    void showsAModelWhileItsPassesRun()
    {
        std::atomic<bool> mayEnd = false;
        Engine engine = tests::fakeEngine();
        engine.open = [&](const QString& path, const BuildOptions&, const Engine::Read& read,
                          core::JobContext& job) -> core::Result<DocumentPtr> {
            auto opened = std::make_shared<Document>(*tests::smallDocument(2));
            opened->path = path;
            auto early = std::make_shared<Document>(*opened);
            early->passes.clear();
            read(early);
            while (!mayEnd && !job.stopRequested())
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            if (const core::Status status = job.checkStop(); !status) return status.error();
            return DocumentPtr(opened);
        };
        WorkspacePresenter workspace(engine, 1);
        InspectPresenter inspect(workspace.jobs(), workspace.selection());
        connect(&workspace, &WorkspacePresenter::documentChanged, &inspect,
                [&](bool isSame) { inspect.setDocument(workspace.document(), isSame); });
        QSignalSpy opened(&workspace, &WorkspacePresenter::opened);
        workspace.open(QStringLiteral("large.onnx"));
        QVERIFY(QTest::qWaitFor([&] { return inspect.isReady(); }, 60000));
        QVERIFY(workspace.document()->passes.empty());
        QVERIFY(workspace.state().isBusy && !workspace.state().canBuild);
        const core::NodeId node = inspect.findNode(QStringLiteral("nn.relu"));
        QVERIFY(node.isValid());
        workspace.selection().select(node);
        const ScenePtr shown = inspect.scene(); // it does not go away
        mayEnd = true;
        QVERIFY(QTest::qWaitFor([&] { return !workspace.state().isBusy; }, 60000));
        QVERIFY(!workspace.document()->passes.empty() && workspace.state().canBuild);
        QCOMPARE(workspace.selection().node(), node);
        QCOMPARE(inspect.scene()->items.size(), shown->items.size());
        QCOMPARE(opened.count(), 1);
        mayEnd = false;
        workspace.open(QStringLiteral("other.onnx"));
        QVERIFY(
            QTest::qWaitFor([&] { return workspace.state().path.startsWith(u"other"); }, 60000));
        workspace.cancel();
        QVERIFY(QTest::qWaitFor([&] { return !workspace.state().isBusy; }, 60000));
        QVERIFY(workspace.state().bannerTitle.isEmpty() && workspace.state().canBuild);
    }
};

QTEST_GUILESS_MAIN(OpeningTest)
#include "opening_test.moc"
