// SPDX-License-Identifier: Apache-2.0
// The emulated Raspberry Pi from nothing: a real sshd before an AArch64 system, deployments to it,
// and that nothing of ours is there before and after.
#include "remote/virtual/virtual_board.h"
#include "tests/remote/deploying.h"

#include <algorithm>
#include <filesystem>
#include <thread>

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

class VirtualBoard : public Deploying
{
protected:
    void SetUp() override
    {
        for (const char* tool :
             {"sshd", "ssh-keygen", "qemu-aarch64", "aarch64-linux-gnu-gcc", "apt-get", "dpkg-deb"})
            TENON_NEED_TOOL(tool);
        TENON_NEED(test::missingEmulatedSystem().empty(), "emulated-system",
                   test::missingEmulatedSystem());
        const auto profile = findProfile("rpi4");
        ASSERT_TRUE(profile) << profile.error().text();
        const auto made = makeVirtualBoard("pi", *profile, m_folder.file("pi"), m_job);
        TENON_NEED(made || made.error().code != DiagnosticCode::UnsupportedFeature, "namespaces",
                   made.error().message);
        ASSERT_TRUE(made) << made.error().text();
        m_board = *made;
        m_before = filesOfBoard();
    }
    void TearDown() override
    {
        ASSERT_TRUE(removeVirtualBoard(m_board));
        EXPECT_FALSE(fs::exists(m_folder.file("pi")));
    }
    /// Names and sizes of all files of the system.
    std::vector<std::string> filesOfBoard() const
    {
        std::vector<std::string> out;
        std::error_code gone;
        for (const auto& entry :
             fs::recursive_directory_iterator(m_folder.file("pi/system"), gone)) {
            const auto size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
            out.push_back(entry.path().string() + " " + std::to_string(size));
        }
        std::sort(out.begin(), out.end());
        return out;
    }
    bool isAsBefore() const
    {
        const auto isClean = [this] {
            return filesOfBoard() == m_before && processesBelow(m_folder.file("pi")).empty();
        };
        for (int i = 0; i < 600 && !isClean(); ++i) std::this_thread::sleep_for(100ms);
        return isClean();
    }
    DeployRequest requestFor(const std::string& source)
    {
        DeployRequest out = request();
        const std::string path = test::compileLibrary(
            m_folder.path(), "arm" + std::to_string(m_count),
            source + test::blobSource(test::aotBlob()), "", "aarch64-linux-gnu-gcc");
        out.build = [path](const std::string&, JobContext&) -> core::Result<BuiltModel> {
            return BuiltModel{.path = path, .manifest = {.modelName = "test"}};
        };
        return out;
    }

    Board m_board;
    std::vector<std::string> m_before;
};

TEST_F(VirtualBoard, runsMeasuresAndIsAsBefore)
{
    ASSERT_FALSE(m_before.empty());
    EXPECT_TRUE(fs::is_empty(m_folder.file("pi/system/home/pi")));
    Deployer deployer(m_board, {});
    DeployRequest wanted = requestFor(test::aotSource());
    wanted.timing = TimingRequest{.repeat = 2, .perCall = true};
    wanted.staysConnected = true;
    const DeployReportPtr one = deployer.deploy(wanted, m_job);
    ASSERT_FALSE(one->error) << one->error->text();
    EXPECT_EQ(one->facts.machine, "aarch64");
    EXPECT_TRUE(one->board.isEmulated());
    EXPECT_GT(one->facts.ramBytes, 0);
    EXPECT_LE(one->facts.ramBytes, int64_t{4} << 30) << "a Raspberry Pi's, not this computer's";
    EXPECT_LE(one->facts.freeRamBytes, one->facts.ramBytes);
    EXPECT_EQ(one->outputs[0].numbers(), (std::vector<double>{22, 44, 66, 28, 50, 72}));
    EXPECT_EQ(one->timing->callMs.size(), 2u);
    EXPECT_FALSE(processesBelow(m_folder.file("pi")).empty()); // so that looking means something
    EXPECT_NE(filesOfBoard(), m_before);
    wanted = requestFor(test::sabotagedSource("static volatile int x; x = 1;\n"));
    const DeployReportPtr two = deployer.deploy(wanted, m_job);
    ASSERT_FALSE(two->error) << two->error->text();
    EXPECT_LT(two->sentBytes, one->sentBytes);
    EXPECT_TRUE(isAsBefore());
}

TEST_F(VirtualBoard, lacksWhatItsProcessorLacks)
{
    // sdot v0.4s, v0.16b, v0.16b: a Cortex-A72 has no dot product.
    DeployRequest wanted =
        requestFor(test::sabotagedSource("__asm__ volatile(\".inst 0x4e809400\" ::: \"v0\");\n"));
    wanted.skipsPreflight = true;
    const DeployReportPtr report = Deployer(m_board, {}).deploy(wanted, m_job);
    ASSERT_TRUE(report->error);
    for (const char* part : {"SIGILL", "call 1", "Cortex-A72"})
        EXPECT_NE(report->error->message.find(part), std::string::npos) << report->error->text();
    EXPECT_TRUE(isAsBefore());
    // Its processor is not this computer's, either.
    const DeployReportPtr foreign = Deployer(m_board, {}).deploy(request(), m_job);
    ASSERT_TRUE(foreign->error);
    EXPECT_EQ(foreign->error->code, BoardCode::WrongArchitecture) << foreign->error->text();
    // And a run that does not end can be cancelled.
    wanted = requestFor(test::sabotagedSource("for (volatile int i = 0;;) ++i;\n"));
    JobContext job;
    std::jthread hand;
    const DeployReportPtr stopped =
        Deployer(m_board, {}).deploy(wanted, job, [&](const DeployReportPtr& each) {
            const bool isRunning = step(*each, DeployPhase::Run).state == StepState::Running;
            if (!isRunning || hand.joinable()) return;
            hand = std::jthread([&job] {
                std::this_thread::sleep_for(200ms);
                job.requestStop();
            });
        });
    ASSERT_TRUE(stopped->error);
    EXPECT_EQ(stopped->error->code, DiagnosticCode::Cancelled) << stopped->error->text();
    EXPECT_TRUE(isAsBefore());
}

} // namespace
} // namespace tenon::remote
