// SPDX-License-Identifier: Apache-2.0
// Deployments to a real sshd on this machine, whole and with every fault: a stated cause, nothing
// left behind, and the next one works.
#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/deploy/deployer.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/sshd.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace tenon::remote {
namespace {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::Tensor;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Deploying : public testing::Test
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL("sshd");
        TENON_NEED_TOOL("ssh-keygen");
        TENON_NEED_TOOL("cc");
        fs::create_directory(home());
    }
    std::string home() const { return m_folder.file("home"); }
    /// Commands of the host find an empty home of their own there.
    std::string homeLine() const { return "SetEnv HOME=" + home() + "\n"; }

    Board board(const test::Sshd& sshd) const
    {
        return {.name = "board",
                .kind = BoardKind::Ssh,
                .target = "as compiled",
                .host = "127.0.0.1",
                .port = sshd.port(),
                .identityFile = sshd.identity()};
    }
    DeployEnvironment environment(const test::Sshd& sshd) const
    {
        return {.ssh = {.knownHostsFile = m_folder.file("known_hosts"),
                        .userKnownHostsFile = m_folder.file("none"),
                        .configFile = "none",
                        .acceptedFingerprint = sshd.fingerprint(),
                        .usesAgent = false}};
    }
    DeployRequest request(const std::string& source = test::aotSource())
    {
        const std::string path =
            test::compileLibrary(m_folder.path(), "model" + std::to_string(++m_count),
                                 source + test::blobSource(test::aotBlob()));
        DeployRequest out;
        out.build = [path](const std::string&, JobContext&) -> core::Result<BuiltModel> {
            return BuiltModel{.path = path, .manifest = {.modelName = "test"}};
        };
        out.inputs = [](const core::Manifest&) -> core::Result<NamedTensors> {
            return NamedTensors{
                {"x", Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
        };
        out.threads = 2;
        for (auto* limit : {&out.limits.connect, &out.limits.probe, &out.limits.upload,
                            &out.limits.load, &out.limits.run, &out.limits.cleanUp})
            *limit = 120s; // generous: nothing here waits for it
        return out;
    }
    /// Waits for what the board still tidies up after a connection that broke.
    bool isHomeEmpty() const
    {
        for (int i = 0; i < 6000 && !fs::is_empty(home()); ++i) std::this_thread::sleep_for(10ms);
        return fs::is_empty(home());
    }
    static const DeployStep& step(const DeployReport& report, DeployPhase phase)
    {
        return report.steps[static_cast<size_t>(phase)];
    }
    DeployReportPtr deploy(const test::Sshd& sshd, const DeployRequest& wanted)
    {
        return Deployer(board(sshd), environment(sshd)).deploy(wanted, m_job);
    }
    void expectWorks(const test::Sshd& sshd)
    {
        const DeployReportPtr report = deploy(sshd, request());
        EXPECT_FALSE(report->error) << report->error->text() << sshd.log();
        EXPECT_TRUE(isHomeEmpty());
    }
    void expectFailure(const test::Sshd& sshd, const DeployRequest& wanted, DeployPhase phase,
                       DiagnosticCode code, const std::string& text)
    {
        const DeployReportPtr report = deploy(sshd, wanted);
        ASSERT_TRUE(report->error);
        EXPECT_EQ(report->error->code, code) << report->error->text();
        EXPECT_NE(report->error->message.find(text), std::string::npos) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed) << report->error->text();
        EXPECT_TRUE(report->isFinished);
        EXPECT_TRUE(isHomeEmpty());
    }

    test::TemporaryFolder m_folder;
    JobContext m_job;
    int m_count = 0;
};

TEST_F(Deploying, runsMeasuresAndLeavesNothing)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request();
    wanted.timing = TimingRequest{.repeat = 5, .perCall = true};
    std::vector<DeployReportPtr> seen;
    Deployer deployer(board(sshd), environment(sshd));
    const DeployReportPtr report =
        deployer.deploy(wanted, m_job, [&](const DeployReportPtr& each) { seen.push_back(each); });
    ASSERT_FALSE(report->error) << report->error->text() << sshd.log();
    for (const DeployStep& each : report->steps)
        EXPECT_EQ(each.state, StepState::Done) << phaseText(each.phase);
    ASSERT_EQ(report->outputs.size(), 1u);
    EXPECT_EQ(report->outputs[0].numbers(), (std::vector<double>{22, 44, 66, 28, 50, 72}));
    ASSERT_TRUE(report->timing);
    EXPECT_EQ(report->timing->runsMs.size(), 5u);
    EXPECT_EQ(report->timing->callMs.size(), 2u);
    utsname here{};
    uname(&here);
    EXPECT_EQ(report->facts.machine, here.machine);
    EXPECT_GT(report->facts.freeDiskBytes, 0);
    EXPECT_GT(report->sentBytes, 0);
    EXPECT_GT(report->overheadMs(), 0);
    EXPECT_GE(seen.size(), 2 * kDeployPhaseCount);
    EXPECT_EQ(seen.front()->steps[0].state, StepState::Running); // reports never change
    EXPECT_FALSE(deployer.isConnected());
    EXPECT_TRUE(isHomeEmpty());
}

TEST_F(Deploying, sendsOnlyWhatChangedOverAWarmConnection)
{
    const test::Sshd sshd(homeLine());
    Deployer deployer(board(sshd), environment(sshd));
    DeployRequest first = request();
    first.staysConnected = true;
    const DeployReportPtr one = deployer.deploy(first, m_job);
    ASSERT_FALSE(one->error) << one->error->text();
    EXPECT_EQ(step(*one, DeployPhase::CleanUp).state, StepState::Skipped);
    EXPECT_FALSE(fs::is_empty(home()));
    DeployRequest second = request(test::sabotagedSource("static volatile int x; x = 1;\n"));
    second.staysConnected = true;
    const DeployReportPtr two = deployer.deploy(second, m_job);
    ASSERT_FALSE(two->error) << two->error->text();
    EXPECT_LT(two->sentBytes, one->sentBytes);
    EXPECT_GT(two->reusedBytes, 0);
    EXPECT_EQ(two->outputs[0].numbers(), one->outputs[0].numbers());
    const DeployReportPtr three = deployer.deploy(first, m_job);
    EXPECT_EQ(three->sentBytes, 0);
    EXPECT_EQ(sshd.connections(), 1u);
    EXPECT_TRUE(deployer.close());
    EXPECT_TRUE(isHomeEmpty());
}

TEST_F(Deploying, findsWhatWasKept)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request();
    wanted.keepsFiles = true;
    const DeployReportPtr one = deploy(sshd, wanted);
    ASSERT_FALSE(one->error) << one->error->text();
    EXPECT_FALSE(fs::is_empty(home()));
    const DeployReportPtr two = deploy(sshd, wanted);
    ASSERT_FALSE(two->error) << two->error->text();
    EXPECT_EQ(two->sentBytes, 0);
    EXPECT_EQ(two->reusedBytes, one->sentBytes);
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
    EXPECT_TRUE(isHomeEmpty());
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
    EXPECT_TRUE(isHomeEmpty());
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
    EXPECT_TRUE(isHomeEmpty()); // the server there has noticed, too
    sshd.cutAfter(INT64_MAX);
    wanted.staysConnected = false;
    EXPECT_FALSE(deployer.deploy(wanted, m_job)->error); // connects anew
    EXPECT_TRUE(isHomeEmpty());
}

TEST_F(Deploying, canBeCancelledAtEachStep)
{
    const test::Sshd sshd(homeLine());
    DeployRequest wanted = request();
    wanted.timing = TimingRequest{.repeat = 2};
    for (const DeployPhase phase : {DeployPhase::Compile, DeployPhase::Connect, DeployPhase::Probe,
                                    DeployPhase::Preflight, DeployPhase::Upload, DeployPhase::Load,
                                    DeployPhase::Run, DeployPhase::Benchmark, DeployPhase::Fetch}) {
        JobContext job;
        Deployer deployer(board(sshd), environment(sshd));
        const DeployReportPtr report =
            deployer.deploy(wanted, job, [&](const DeployReportPtr& each) {
                if (step(*each, phase).state == StepState::Running) job.requestStop();
            });
        ASSERT_TRUE(report->error) << phaseText(phase);
        EXPECT_EQ(report->error->code, DiagnosticCode::Cancelled) << report->error->text();
        EXPECT_EQ(step(*report, phase).state, StepState::Failed);
        EXPECT_FALSE(deployer.isConnected());
        EXPECT_TRUE(isHomeEmpty()) << phaseText(phase);
    }
}

TEST_F(Deploying, cancelsARunningKernel)
{
    const test::Sshd sshd(homeLine());
    const DeployRequest wanted =
        request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    JobContext job;
    std::jthread stop;
    const DeployReportPtr report =
        Deployer(board(sshd), environment(sshd))
            .deploy(wanted, job, [&](const DeployReportPtr& each) {
                const bool isRunning = step(*each, DeployPhase::Run).state == StepState::Running;
                if (!isRunning || stop.joinable()) return;
                stop = std::jthread([&] {
                    std::this_thread::sleep_for(100ms);
                    job.requestStop();
                });
            });
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, DiagnosticCode::Cancelled);
    EXPECT_TRUE(isHomeEmpty());
}

TEST_F(Deploying, worksWithoutAWritableHome)
{
    const test::Sshd sshd("SetEnv HOME=/proc/1/nowhere\n");
    const DeployReportPtr report = deploy(sshd, request());
    EXPECT_FALSE(report->error) << report->error->text();
}

TEST_F(Deploying, reachesThisComputerTheSameWay)
{
    Deployer deployer({.name = "local"}, {});
    DeployRequest wanted = request();
    wanted.timing = TimingRequest{.repeat = 2};
    const DeployReportPtr report = deployer.deploy(wanted, m_job);
    ASSERT_FALSE(report->error) << report->error->text();
    EXPECT_EQ(report->outputs[0].numbers(), (std::vector<double>{22, 44, 66, 28, 50, 72}));
}

} // namespace
} // namespace tenon::remote
