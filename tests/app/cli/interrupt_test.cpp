// SPDX-License-Identifier: Apache-2.0
// Interrupts that the work does not notice: a computation is ended, what cleans up is waited for.
#include "app/cli/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace tenon::cli {
namespace {

constexpr int kCleanedUp = 7;

enum class Work
{
    Computes,
    CleansUp
};

/// In a process of its own; how it ended.
int endOf(Work work)
{
    const pid_t child = ::fork();
    if (child == 0) {
        core::JobContext job;
        const InterruptGuard guard(job);
        std::optional<ComputingScope> scope;
        if (work == Work::Computes) scope.emplace();
        std::raise(SIGTERM);
        const auto start = std::chrono::steady_clock::now();
        while (work == Work::Computes) {} // never asks
        while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1200)) {}
        ::_exit(job.stopRequested() ? kCleanedUp : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(Interrupt, endsAComputationThatDoesNotNotice)
{
    const int status = endOf(Work::Computes);
    ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Interrupt, leavesTimeToCleanUp)
{
    const int status = endOf(Work::CleansUp);
    ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), kCleanedUp);
}

} // namespace
} // namespace tenon::cli
