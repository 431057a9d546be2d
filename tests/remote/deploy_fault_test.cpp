// SPDX-License-Identifier: Apache-2.0
// Deployments with every fault: a stated cause, nothing left behind, and the next one works.
#include "tests/remote/deploying.h"

#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

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

TEST_F(Deploying, saysThatMemoryRanOut)
{
    // 64 MiB of address space for everything that runs there.
    const test::Sshd sshd(homeLine() +
                          "ForceCommand ulimit -v 200000; eval \"$SSH_ORIGINAL_COMMAND\"\n");
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
    if (geteuid() != 0 || mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
        GTEST_SKIP() << "SKIP: only root may mount a small disk";
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
