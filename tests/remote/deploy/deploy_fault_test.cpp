// SPDX-License-Identifier: Apache-2.0
// Deployments with every fault: a stated cause, nothing left behind, and the next one works.
#include "tests/remote/deploying.h"
#include "tests/support/rpc_server.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

/// Kills the shell of a board that lives in `home`, then all else of ours there.
void killEverything(const std::string& home)
{
    for (const bool killsShells : {true, false})
        for (const int pid : processesBelow(home)) {
            std::error_code gone;
            const fs::path program =
                fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
            if (!program.string().starts_with(home) || !killsShells) kill(pid, SIGKILL);
        }
}

TEST_F(Deploying, refusesAnotherArchitectureBeforeSending)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request();
    const std::string path = wanted.build("", m_job)->path;
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(18) << '\x16';
    expectFailure(sshd, wanted, DeployPhase::Preflight, BoardCode::WrongArchitecture,
                  "compiled for");
    expectWorks(sshd);
}

TEST_F(Deploying, namesAnIllegalInstructionWithItsCall)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request(test::sabotagedSource("__builtin_trap();\n"));
    wanted.skipsPreflight = true;
    const DeployReportPtr report = deploy(sshd, wanted);
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, DiagnosticCode::BoardFailure);
    for (const char* part : {"SIGILL", "call 1", "target"})
        EXPECT_NE(report->error->message.find(part), std::string::npos) << report->error->text();
    EXPECT_TRUE(isBoardClean());
    expectWorks(sshd);
}

TEST_F(Deploying, survivesAServerThatIsKilledInMidRun)
{
    const test::Sshd sshd(homeLine());
    expectFailure(sshd, request(test::sabotagedSource("send_self(SIGKILL);\n")), DeployPhase::Run,
                  DiagnosticCode::BoardFailure, "SIGKILL");
    expectFailure(sshd, request(test::sabotagedSource("*(volatile int*)8 = 1;\n")),
                  DeployPhase::Run, DiagnosticCode::BoardFailure, "SIGSEGV in call 1");
    expectWorks(sshd);
}

TEST_F(Deploying, survivesTheEndOfTheServerItself)
{
    const test::Sshd sshd(homeLine());
    const DeployReportPtr report = deployAndKill(sshd, [this] { killServers(); });
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, DiagnosticCode::BoardFailure) << report->error->text();
    EXPECT_NE(report->error->message.find("kill"), std::string::npos) << report->error->text();
    EXPECT_TRUE(isBoardClean()); // its shell has seen to that
    expectWorks(sshd);
}

TEST_F(Deploying, admitsThatAKilledShellLeavesFiles)
{
    const test::Sshd sshd(homeLine());
    const DeployReportPtr report = deployAndKill(sshd, [this] { killEverything(home()); });
    ASSERT_TRUE(report->error);
    EXPECT_NE(report->error->message.find("board `"), std::string::npos) << report->error->text();
    const DeployStep& cleanUp = step(*report, DeployPhase::CleanUp);
    EXPECT_EQ(cleanUp.state, StepState::Failed);
    EXPECT_NE(cleanUp.detail.find("files may remain"), std::string::npos) << cleanUp.detail;
    EXPECT_FALSE(fs::is_empty(home()));
    expectWorks(sshd); // and takes with it what was left
}

TEST_F(Deploying, admitsThatAPowerCutLeavesFiles)
{
    test::Sshd sshd(homeLine());
    const DeployReportPtr report = deployAndKill(sshd, [&] { sshd.signalAll(SIGKILL); });
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, BoardCode::LinkLost) << report->error->text();
    expectUncertainty(*report, "files may remain there in `" + home() + "/.tenon/run-");
    EXPECT_FALSE(fs::is_empty(home()));
    expectWorks(sshd);
}

TEST_F(Deploying, promisesNothingOfAServerOfOthers)
{
    const test::RpcServer server({});
    const Board there{.name = "rpc",
                      .kind = BoardKind::RpcServer,
                      .target = "as compiled",
                      .host = "127.0.0.1",
                      .port = server.port()};
    DeployRequest wanted = request();
    wanted.keepsFiles = true; // which such a server cannot
    const DeployReportPtr report = Deployer(there, {}).deploy(wanted, m_job);
    ASSERT_FALSE(report->error) << report->error->text();
    EXPECT_EQ(step(*report, DeployPhase::CleanUp).detail,
              "the session is over; its server removes what was sent");
}

TEST_F(Deploying, saysThatMemoryOfTheBoardRanOut)
{
    // 64 MiB of real memory for everything that runs there.
    const std::string group = "/sys/fs/cgroup/memory/tenon-test-" + std::to_string(getpid());
    TENON_NEED(geteuid() == 0 && mkdir(group.c_str(), 0755) == 0, "cgroups",
               "only root may limit memory, and by cgroups of the first version");
    std::ofstream(group + "/memory.limit_in_bytes") << (64 << 20);
    std::ofstream(group + "/memory.swappiness") << 0;
    {
        const test::Sshd sshd(test::Sshd::Setup{
            .config = homeLine(), .before = "echo $$ > " + group + "/cgroup.procs || exit 1"});
        const std::string hungry = "static volatile char much[256 << 20];\n"
                                   "for (long i = 0; i < sizeof much; i += 4096) much[i] = 1;\n";
        expectFailure(sshd, request(test::sabotagedSource(hungry)), DeployPhase::Run,
                      DiagnosticCode::BoardFailure, "memory ran out");
        expectWorks(sshd);
    }
    for (int i = 0; i < 6000 && rmdir(group.c_str()) != 0; ++i) std::this_thread::sleep_for(10ms);
}

TEST_F(Deploying, saysThatMemoryRanOut)
{
    // Address space for what runs there, but not for the 64 MiB or more that empty its caches.
    const test::Sshd sshd(homeLine() +
                          "ForceCommand ulimit -v 60000; eval \"$SSH_ORIGINAL_COMMAND\"\n");
    DeployRequest wanted = request();
    wanted.inputs = [](const core::Manifest&) -> core::Result<NamedTensors> {
        return NamedTensors{{"x", Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
    };
    wanted.threads = 1;
    wanted.timing = TimingRequest{.repeat = 1, .coldCache = true}; // needs a large buffer
    const DeployReportPtr report = deploy(sshd, wanted);
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, DiagnosticCode::OutOfMemory) << report->error->text();
    EXPECT_TRUE(isBoardClean());
}

TEST_F(Deploying, stopsARunThatDoesNotEnd)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    wanted.limits.run = 300ms;
    expectFailure(sshd, wanted, DeployPhase::Run, BoardCode::RunTimedOut, "`run` took too long");
    expectWorks(sshd);
}

TEST_F(Deploying, saysThatTheDiskIsFull)
{
    const std::string disk = m_folder.file("disk");
    fs::create_directory(disk);
    TENON_NEED(geteuid() == 0 && mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") == 0, "root",
               "only root may mount a small disk");
    {
        const test::Sshd sshd("SetEnv HOME=" + disk + "\n");
        DeployRequest wanted = request();
        const DeployReportPtr before = deploy(sshd, wanted);
        ASSERT_TRUE(before->error);
        EXPECT_EQ(before->error->code, BoardCode::DiskFull) << before->error->text();
        EXPECT_EQ(step(*before, DeployPhase::Preflight).state, StepState::Failed);
        wanted.skipsPreflight = true;
        const DeployReportPtr during = deploy(sshd, wanted);
        ASSERT_TRUE(during->error);
        EXPECT_EQ(during->error->code, BoardCode::DiskFull) << during->error->text();
        EXPECT_EQ(step(*during, DeployPhase::Upload).state, StepState::Failed);
        EXPECT_TRUE(fs::is_empty(disk));
    }
    umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(Deploying, saysThatTheLinkWentDownInMidUpload)
{
    test::Sshd sshd(homeLine());
    sshd.cutAfter(400'000); // the server alone is larger
    expectFailure(sshd, request(), DeployPhase::Upload, BoardCode::LinkLost, "was lost");
    sshd.cutAfter(INT64_MAX);
    expectWorks(sshd);
}

TEST_F(Deploying, tidiesUpWhenTheLinkGoesDownLater)
{
    test::Sshd sshd(homeLine());
    Deployer deployer(board(sshd), environment(sshd));
    DeployRequest wanted = request();
    wanted.staysConnected = true;
    ASSERT_FALSE(deployer.deploy(wanted, m_job)->error);
    EXPECT_FALSE(fs::is_empty(home()));
    sshd.cutAfter(0);
    const DeployReportPtr report = deployer.deploy(wanted, m_job);
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, BoardCode::LinkLost) << report->error->text();
    EXPECT_TRUE(isBoardClean()); // the server there has noticed, too
    sshd.cutAfter(INT64_MAX);
    wanted.staysConnected = false;
    EXPECT_FALSE(deployer.deploy(wanted, m_job)->error); // connects anew
    EXPECT_TRUE(isBoardClean());
}

} // namespace
} // namespace tenon::remote
