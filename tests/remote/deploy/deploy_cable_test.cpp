// SPDX-License-Identifier: Apache-2.0
// A board on a network of its own, whose cable is pulled out: no packet says that the link is gone.
#include "tests/remote/deploying.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

extern char** environ;

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

bool shell(const std::string& commands)
{
    return std::system(("{ " + commands + "; } 2>/dev/null").c_str()) == 0;
}

/// A network namespace, a cable into it and an sshd there.
class CabledBoard
{
public:
    explicit CabledBoard(const test::Sshd& keys)
        : m_name("tenon" + std::to_string(getpid()))
        , m_cable("tn" + std::to_string(getpid()))
        , m_block(static_cast<uint32_t>(getpid()) % 0x8000 * 4)
    {
        shell("ip link del " + m_cable + "; ip netns del " + m_name); // of one that was killed
        // The rate makes sure that an upload takes a while.
        m_isUp =
            shell("ip netns add " + m_name + " && ip link add " + m_cable +
                  " type veth peer name eth0 netns " + m_name + " && ip addr add " + host(1) +
                  "/30 dev " + m_cable + " && ip link set " + m_cable + " up && tc qdisc add dev " +
                  m_cable + " root tbf rate 100mbit burst 64kb latency 50ms && ip -n " + m_name +
                  " addr add " + address() + "/30 dev eth0 && ip -n " + m_name +
                  " link set eth0 up && ip -n " + m_name + " link set lo up");
        if (m_isUp) startSshd(keys);
    }
    CabledBoard(const CabledBoard&) = delete;
    CabledBoard& operator=(const CabledBoard&) = delete;
    ~CabledBoard()
    {
        powerOff();
        shell("ip link del " + m_cable);
        shell("ip netns del " + m_name);
    }
    bool isUp() const { return m_isUp; }
    std::string address() const { return host(2); }
    void pullOut() const { EXPECT_TRUE(shell("ip link set " + m_cable + " down")); }
    void plugIn() const { EXPECT_TRUE(shell("ip link set " + m_cable + " up")); }
    int64_t sentBytes() const
    {
        int64_t count = 0;
        std::ifstream("/sys/class/net/" + m_cable + "/statistics/tx_bytes") >> count;
        return count;
    }
    /// Ends sshd and its connections.
    void powerOff()
    {
        if (m_sshd <= 0) return;
        kill(m_sshd, SIGTERM);
        while (waitpid(m_sshd, nullptr, 0) < 0 && errno == EINTR) {}
        shell("for p in $(ip netns pids " + m_name +
              "); do case $(cat /proc/$p/comm) in sshd*) kill -9 $p;; esac; done");
        m_sshd = -1;
    }

private:
    /// One of the two of a network that no other process has, among those kept for tests of
    /// networks.
    std::string host(uint32_t number) const
    {
        const uint32_t at = m_block + number;
        return "198." + std::to_string(18 + (at >> 16)) + "." + std::to_string(at >> 8 & 255) +
               "." + std::to_string(at & 255);
    }
    void startSshd(const test::Sshd& keys)
    {
        std::vector<std::string> command{"ip",
                                         "netns",
                                         "exec",
                                         m_name,
                                         test::toolPath("sshd"),
                                         "-D",
                                         "-p",
                                         "22",
                                         "-o",
                                         "ListenAddress=" + address(),
                                         "-o",
                                         "PidFile=none",
                                         "-E",
                                         keys.folder() + "/cabled.log",
                                         "-f",
                                         keys.folder() + "/sshd_config"};
        std::vector<char*> argv;
        for (std::string& word : command) argv.push_back(word.data());
        argv.push_back(nullptr);
        m_isUp = posix_spawnp(&m_sshd, argv[0], nullptr, nullptr, argv.data(), environ) == 0;
    }

    std::string m_name;
    std::string m_cable;
    uint32_t m_block; ///< of four addresses
    bool m_isUp = false;
    pid_t m_sshd = -1;
};

class Cabled : public Deploying
{
protected:
    void SetUp() override
    {
        Deploying::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        TENON_NEED_TOOL("ip");
        TENON_NEED(geteuid() == 0, "root", "only root may make networks");
        m_keys.emplace(homeLine());
        m_cabled.emplace(*m_keys);
        TENON_NEED(m_cabled->isUp(), "networks", "this system lets nobody make networks");
        DeployReportPtr report; // sshd needs a moment before it listens
        for (int i = 0; i < 600; ++i) {
            report = deployed(request());
            if (!report->error || report->error->code != BoardCode::BoardUnreachable) break;
            std::this_thread::sleep_for(50ms);
        }
        ASSERT_FALSE(report->error) << report->error->text();
    }
    DeployReportPtr deployed(const DeployRequest& wanted, const DeployObserver& observer = {})
    {
        Board there = board(*m_keys);
        there.host = m_cabled->address();
        there.port = 22;
        return Deployer(there, environment(*m_keys)).deploy(wanted, m_job, observer);
    }
    /// Deploys and pulls the cable out some time after `phase` has begun.
    void expectLoss(const DeployRequest& wanted, DeployPhase phase, int64_t afterBytes)
    {
        std::jthread hand;
        const DeployReportPtr report = deployed(wanted, [&](const DeployReportPtr& each) {
            if (step(*each, phase).state != StepState::Running || hand.joinable()) return;
            hand = std::jthread([this, end = m_cabled->sentBytes() + afterBytes] {
                for (int i = 0; i < 12000 && m_cabled->sentBytes() < end; ++i)
                    std::this_thread::sleep_for(10ms);
                m_cabled->pullOut();
            });
        });
        ASSERT_TRUE(report->error);
        EXPECT_EQ(report->error->code, BoardCode::LinkLost) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed);
    }
    void expectRecovery()
    {
        m_cabled->plugIn();
        const DeployReportPtr report = deployed(request());
        EXPECT_FALSE(report->error) << report->error->text();
        // The first server still believes in its client, for half a minute: the power goes sooner.
        m_cabled->powerOff();
        EXPECT_TRUE(isBoardClean());
    }

    std::optional<test::Sshd> m_keys;
    std::optional<CabledBoard> m_cabled;
};

TEST_F(Cabled, isMissedInMidUpload)
{
    DeployRequest wanted = request();
    const std::string large = m_folder.file("large.so");
    fs::copy_file(wanted.build("", m_job)->path, large);
    std::ofstream(large, std::ios::app) << std::string(200'000'000, 'x');
    wanted.build = [large](const std::string&, JobContext&) -> core::Result<BuiltModel> {
        return BuiltModel{.path = large, .manifest = {.modelName = "test"}};
    };
    expectLoss(wanted, DeployPhase::Upload, 5'000'000);
    expectRecovery();
}

TEST_F(Cabled, isMissedInMidRun)
{
    expectLoss(request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n")),
               DeployPhase::Run, 0);
    expectRecovery();
}

} // namespace
} // namespace tenon::remote
