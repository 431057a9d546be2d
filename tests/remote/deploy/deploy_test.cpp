// SPDX-License-Identifier: Apache-2.0
// Deployments to a real sshd on this machine: what they tell, send and leave behind.
#include "tests/remote/deploying.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

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
    EXPECT_TRUE(isBoardClean());
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
    EXPECT_TRUE(isBoardClean());
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

TEST_F(Deploying, worksWithoutAWritableHome)
{
    const test::Sshd sshd("SetEnv HOME=/proc/1/nowhere\n");
    const DeployReportPtr report = deploy(sshd, request());
    EXPECT_FALSE(report->error) << report->error->text();
}

TEST_F(Deploying, needsOneSessionAndNoSftp)
{
    expectWorks(test::Sshd(homeLine() + "MaxSessions 1\n"));
}

TEST_F(Deploying, worksWithTheToolsOfBusybox)
{
    TENON_NEED_TOOL("busybox");
    const std::string tools = m_folder.file("tools");
    fs::create_directory(tools);
    for (const char* name :
         {"uname", "getconf", "mkdir", "mktemp", "df", "head", "chmod", "mv", "rm", "rmdir"})
        fs::create_symlink(test::toolPath("busybox"), tools + "/" + name);
    expectWorks(test::Sshd(homeLine() + "ForceCommand PATH=" + tools + " exec " +
                           test::toolPath("busybox") + " sh -c \"$SSH_ORIGINAL_COMMAND\"\n"));
}

TEST_F(Deploying, worksWithDropbear)
{
    TENON_NEED_TOOL("dropbear");
    TENON_NEED_TOOL("dropbearkey");
    TENON_NEED(geteuid() == 0 && std::system("unshare -m true 2>/dev/null") == 0, "root",
               "only root may give a server other accounts");
    const std::string user = m_folder.file("user");
    fs::create_directories(user + "/.ssh");
    std::ofstream(m_folder.file("passwd")) << "root:x:0:0:root:" << user << ":/bin/sh\n";
    const test::Sshd server(test::Sshd::Setup{.before = "mount --bind '" + m_folder.file("passwd") +
                                                        "' /etc/passwd || exit 1",
                                              .isDropbear = true});
    fs::copy_file(server.identity() + ".pub", user + "/.ssh/authorized_keys");
    fs::permissions(user + "/.ssh", fs::perms::owner_all);
    const DeployReportPtr report = deploy(server, request());
    EXPECT_FALSE(report->error) << report->error->text() << server.log();
    EXPECT_FALSE(fs::exists(user + "/.tenon"));
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
