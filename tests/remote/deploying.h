// SPDX-License-Identifier: Apache-2.0
// What tests of deployments share: a real sshd whose board is an empty home, and what is left
// there.
#pragma once

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/deploy/deployer.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/sshd.h"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::Tensor;
using namespace std::chrono_literals;

/// How long a peer may be silent, to be tried one after the other: a machine that is busy makes
/// peers silent for longer than the first.
constexpr std::chrono::milliseconds kSilences[] = {900ms, 4s, 16s};

/// Code for a kernel that is busy for so long when it runs for the first time.
std::string sleepingFor(std::chrono::milliseconds time);

/// Processes whose program or working folder is below `folder`.
std::vector<int> processesBelow(const std::string& folder);

class Deploying : public testing::Test
{
protected:
    void SetUp() override;

    std::string home() const { return m_folder.file("home"); }
    /// Commands of the host find an empty home of their own there.
    std::string homeLine() const { return "SetEnv HOME=" + home() + "\n"; }
    Board board(const test::Sshd& sshd) const;
    DeployEnvironment environment(const test::Sshd& sshd) const;
    /// A model of two calls; all limits are generous.
    DeployRequest request(const std::string& source = test::aotSource());

    /// Kills the server that listens on the board, and nothing else.
    void killServers() const;
    /// Waits until no file and no process of ours is on the board.
    bool isBoardClean() const;
    static const DeployStep& step(const DeployReport& report, DeployPhase phase)
    {
        return report.steps[static_cast<size_t>(phase)];
    }
    DeployReportPtr deploy(const test::Sshd& sshd, const DeployRequest& wanted);
    /// A run that does not end by itself; `killing` begins when it does, in a thread of its own.
    DeployReportPtr deployAndKill(const test::Sshd& sshd, const std::function<void()>& killing);
    void expectWorks(const test::Sshd& sshd);
    void expectFailure(const test::Sshd& sshd, const DeployRequest& wanted, DeployPhase phase,
                       DiagnosticCode code, const std::string& text);
    /// The board went away: nobody claims to know what is left there, and the error says `text`.
    static void expectUncertainty(const DeployReport& report, const std::string& text);

    test::TemporaryFolder m_folder;
    JobContext m_job;
    int m_count = 0;
};

} // namespace tenon::remote
