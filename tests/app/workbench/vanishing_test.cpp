// SPDX-License-Identifier: GPL-3.0-or-later
// Boards that go away while the window measures there: killed at once, as by a power cut, or
// stopped, as a system that hangs. A real window, real key strokes, real servers.
#include "core/base/file.h"
#include "tests/app/workbench/window_user.h"
#include "tests/support/need_qt.h"
#include "tests/support/rpc_server.h"
#include "tests/support/sshd.h"
#include "views/pages/deploy/deploy_page.h"
#include "views/pages/inspect/inspect_page.h"

#include <atomic>
#include <csignal>
#include <optional>

using namespace tenon;
using namespace tenon::app;

namespace {

class VanishingTest : public WindowUser
{
    Q_OBJECT

private:
    /// The real engine; while `m_isEndless`, what it measures takes days.
    views::Engine engine() const
    {
        EngineOptions options = engineOptions();
        options.repeats = 5;
        views::Engine engine = makeEngine(options);
        options.repeats = 10000000;
        engine.boards.deploy = [quick = engine.boards.deploy,
                                slow = makeEngine(options).boards.deploy,
                                isEndless = m_isEndless](const auto& question, const auto& ask,
                                                         const auto& watch, core::JobContext& job) {
            return (*isEndless ? slow : quick)(question, ask, watch, job);
        };
        return engine;
    }
    void addBoard(const views::BoardRequest& request)
    {
        views::BoardsPresenter& boards = m_window->boards();
        boards.add(request);
        QVERIFY(waitFor([&] {
            return m_window->boardPrompt().question() || boards.board().name == request.name;
        }));
        if (m_window->boardPrompt().question()) m_window->boardPrompt().accept({});
        QVERIFY(settle());
        QCOMPARE(boards.board().name, request.name);
        QCOMPARE(boards.state().state, views::BoardState::Ready);
    }
    const views::StepRow& step(const char* name) const
    {
        for (const views::StepRow& each : m_window->deploy().report().steps)
            if (each.name == QLatin1String(name)) return each;
        qFatal("no such step");
    }
    /// Deploys by the key and lets the board vanish as soon as samples arrive.
    void deployUntil(const std::function<void()>& vanish)
    {
        *m_isEndless = true;
        press("ctrl+r");
        QVERIFY(waitFor([&] { // of this deployment, not of the one before
            const views::Deployment& report = m_window->deploy().report();
            return !report.isFinished && !report.sampleUs.empty();
        }));
        vanish();
        // The window goes on meanwhile.
        press("alt+1");
        QVERIFY(waitFor([&] { return m_window->part<views::InspectPage>().isVisible(); }));
        QVERIFY(settle());
    }
    void verifySaid(const QString& left)
    {
        const views::WorkspaceState& state = m_window->workspace().state();
        QCOMPARE(state.bannerTitle, QStringLiteral("The deployment did not finish"));
        QVERIFY2(state.bannerText.contains(m_window->boards().board().name),
                 qPrintable(state.bannerText));
        QCOMPARE(m_window->boards().state().state, views::BoardState::Offline);
        const views::DeployState& deploy = m_window->deploy().state();
        QVERIFY(deploy.canDeploy && !deploy.isConnected);
        QCOMPARE(deploy.caption, QStringLiteral("failed: benchmark"));
        const views::StepRow& cleanUp = step("clean up");
        QCOMPARE(cleanUp.state, views::StepState::Failed);
        for (const QString& said : {deploy.error, cleanUp.detail}) {
            QVERIFY2(said.contains(left), qPrintable(said));
            QVERIFY2(!said.contains(QStringLiteral("nothing left")), qPrintable(said));
        }
    }
    /// The board is back: everything works as before.
    void verifyWorks(int runs)
    {
        *m_isEndless = false;
        press("ctrl+r");
        QVERIFY(waitFor([&] { return m_window->deploy().state().error.isEmpty(); })); // begun
        QVERIFY(settle());
        QVERIFY2(m_window->deploy().state().error.isEmpty(),
                 qPrintable(m_window->deploy().state().error));
        QVERIFY(m_window->workspace().state().bannerText.isEmpty());
        QCOMPARE(m_window->boards().state().state, views::BoardState::Ready);
        QCOMPARE(m_window->deploy().history().rowCount(), runs);
        press("alt+5");
        QVERIFY(waitFor([&] { return m_window->part<views::DeployPage>().isVisible(); }));
    }
    static views::BoardRequest rpcRequest(int port)
    {
        views::BoardRequest request;
        request.name = QStringLiteral("rpc");
        request.way = views::BoardWay::RpcServer;
        request.host = QStringLiteral("127.0.0.1");
        request.port = port;
        return request;
    }
    static views::BoardRequest sshRequest(const test::Sshd& sshd)
    {
        views::BoardRequest request;
        request.name = QStringLiteral("pi");
        request.host = QStringLiteral("127.0.0.1");
        request.port = sshd.port();
        request.identityFile = QString::fromStdString(sshd.identity());
        return request;
    }

    std::shared_ptr<std::atomic<bool>> m_isEndless = std::make_shared<std::atomic<bool>>(false);

private slots:
    void initTestCase()
    {
        makeWindow(engine());
        compileSample();
    }
    void cleanupTestCase() { m_window.reset(); }

    void anRpcServerIsKilledOrHangs()
    {
        std::optional<test::RpcServer> server(std::vector<std::string>{});
        const int port = server->port();
        addBoard(rpcRequest(port));
        const QString left = QStringLiteral("may remain in the temporary folder of its server");
        deployUntil([&] { server->signalAll(SIGKILL); });
        verifySaid(left);
        server.emplace(std::vector<std::string>{"--port", std::to_string(port)});
        verifyWorks(1);

        deployUntil([&] { server->signalAll(SIGSTOP); });
        verifySaid(left);
        QVERIFY2(m_window->workspace().state().bannerText.contains(
                     QStringLiteral("no sign of life for 6.0 s")),
                 qPrintable(m_window->workspace().state().bannerText));
        const views::WorkspaceState& state = m_window->workspace().state();
        QVERIFY2(state.staleText.contains(QStringLiteral("old")), qPrintable(state.staleText));
        QVERIFY(state.measurementDetail.startsWith(state.staleText));
        server->signalAll(SIGCONT);
        verifyWorks(2);
        QVERIFY2(state.staleText.isEmpty(), qPrintable(state.staleText));
    }

    void aBoardBehindSshLosesPowerOrHangs()
    {
        NEED_TOOL("sshd");
        NEED_TOOL("ssh-keygen");
        const QTemporaryDir home;
        test::Sshd sshd("SetEnv HOME=" + home.path().toStdString() + "\n");
        addBoard(sshRequest(sshd));
        const QString left = home.path() + QStringLiteral("/.tenon/run-");
        deployUntil([&] { sshd.signalAll(SIGKILL); });
        verifySaid(left);
        verifyWorks(1);

        deployUntil([&] { sshd.signalAll(SIGSTOP); });
        verifySaid(left);
        sshd.signalAll(SIGCONT);
        verifyWorks(2);
        m_window->deploy().disconnectBoard();
        const QDir folder(home.path());
        QVERIFY(waitFor([&] {
            return folder.entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)
                .isEmpty();
        }));
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1366x768x24", [&] {
        VanishingTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "vanishing_test.moc"
