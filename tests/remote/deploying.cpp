// SPDX-License-Identifier: Apache-2.0
// What tests of deployments share.
#include "tests/remote/deploying.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tenon::remote {

namespace fs = std::filesystem;

void Deploying::SetUp()
{
    TENON_NEED_TOOL("sshd");
    TENON_NEED_TOOL("ssh-keygen");
    TENON_NEED_TOOL("cc");
    fs::create_directory(home());
}

Board Deploying::board(const test::Sshd& sshd) const
{
    return {.name = "board",
            .kind = BoardKind::Ssh,
            .target = "as compiled",
            .host = "127.0.0.1",
            .port = sshd.port(),
            .identityFile = sshd.identity()};
}

DeployEnvironment Deploying::environment(const test::Sshd& sshd) const
{
    return {.ssh = {.knownHostsFile = m_folder.file("known_hosts"),
                    .userKnownHostsFile = m_folder.file("none"),
                    .configFile = "none",
                    .acceptedFingerprint = sshd.fingerprint(),
                    .usesAgent = false}};
}

DeployRequest Deploying::request(const std::string& source)
{
    const std::string path =
        test::compileLibrary(m_folder.path(), "model" + std::to_string(++m_count),
                             source + test::blobSource(test::aotBlob()));
    DeployRequest out;
    out.build = [path](const std::string&, JobContext&) -> core::Result<BuiltModel> {
        return BuiltModel{.path = path, .manifest = {.modelName = "test"}};
    };
    out.inputs = [](const core::Manifest&) -> core::Result<NamedTensors> {
        return NamedTensors{{"x", Tensor::of<float>(core::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
    };
    out.threads = 2;
    for (auto* limit : {&out.limits.connect, &out.limits.probe, &out.limits.upload,
                        &out.limits.load, &out.limits.run, &out.limits.cleanUp})
        *limit = 120s; // generous: nothing here waits for it
    return out;
}

std::string sleepingFor(std::chrono::milliseconds time)
{
    const std::string seconds = std::to_string(time.count() / 1000);
    const std::string nanoseconds = std::to_string(time.count() % 1000 * 1'000'000);
    return "static int runs; static const long time[2] = {" + seconds + ", " + nanoseconds +
           "};\nif (++runs == 1) ask(SYS_nanosleep, (long)time, 0);\n";
}

std::vector<int> processesBelow(const std::string& folder)
{
    std::vector<int> out;
    std::error_code gone; // processes end while we look
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc", gone)) {
        const int pid = std::atoi(entry.path().filename().c_str());
        for (const char* link : {"exe", "cwd"}) {
            const std::string to = fs::read_symlink(entry.path() / link, gone).string();
            if (pid > 0 && !gone && to.starts_with(folder + "/")) {
                out.push_back(pid);
                break;
            }
        }
    }
    return out;
}

void Deploying::killServers() const
{
    for (const int pid : processesBelow(home())) {
        const std::string folder = "/proc/" + std::to_string(pid);
        std::error_code gone;
        const bool isServer = fs::read_symlink(folder + "/exe", gone).string().starts_with(home());
        const std::string children = folder + "/task/" + std::to_string(pid) + "/children";
        std::string child; // a session has none
        std::getline(std::ifstream(children) >> std::ws, child);
        if (isServer && !child.empty()) kill(pid, SIGKILL);
    }
}

bool Deploying::isBoardClean() const
{
    const auto isClean = [this] { return fs::is_empty(home()) && processesBelow(home()).empty(); };
    for (int i = 0; i < 6000 && !isClean(); ++i) std::this_thread::sleep_for(10ms);
    return isClean();
}

DeployReportPtr Deploying::deploy(const test::Sshd& sshd, const DeployRequest& wanted)
{
    return Deployer(board(sshd), environment(sshd)).deploy(wanted, m_job);
}

DeployReportPtr Deploying::deployAndKill(const test::Sshd& sshd,
                                         const std::function<void()>& killing)
{
    const DeployRequest wanted =
        request(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    std::jthread killer;
    return Deployer(board(sshd), environment(sshd))
        .deploy(wanted, m_job, [&](const DeployReportPtr& each) {
            const bool isRunning = step(*each, DeployPhase::Run).state == StepState::Running;
            if (isRunning && !killer.joinable()) killer = std::jthread(killing);
        });
}

void Deploying::expectWorks(const test::Sshd& sshd)
{
    const DeployReportPtr report = deploy(sshd, request());
    EXPECT_FALSE(report->error) << report->error->text() << sshd.log();
    EXPECT_TRUE(isBoardClean());
}

void Deploying::expectFailure(const test::Sshd& sshd, const DeployRequest& wanted,
                              DeployPhase phase, DiagnosticCode code, const std::string& text)
{
    const DeployReportPtr report = deploy(sshd, wanted);
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, code) << report->error->text();
    EXPECT_NE(report->error->message.find(text), std::string::npos) << report->error->text();
    EXPECT_EQ(step(*report, phase).state, StepState::Failed) << report->error->text();
    EXPECT_TRUE(report->isFinished);
    EXPECT_TRUE(isBoardClean());
}

void Deploying::expectUncertainty(const DeployReport& report, const std::string& text)
{
    const DeployStep& cleanUp = step(report, DeployPhase::CleanUp);
    EXPECT_EQ(cleanUp.state, StepState::Failed);
    for (const std::string& said : {cleanUp.detail, report.error->text()}) {
        EXPECT_NE(said.find(text), std::string::npos) << said;
        EXPECT_EQ(said.find("nothing left"), std::string::npos) << said;
    }
}

} // namespace tenon::remote
