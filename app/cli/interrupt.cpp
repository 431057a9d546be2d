// SPDX-License-Identifier: Apache-2.0
// The handler of SIGINT and the job that it stops.
#include "app/cli/interrupt.h"

#include "app/cli/command.h"
#include "core/base/check.h"

#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

namespace tenon::cli {
namespace {

// A signal handler gets no argument of ours: the job must stand where it can find it.
constinit std::atomic<core::JobContext*> interrupted{nullptr};
static_assert(std::atomic<core::JobContext*>::is_always_lock_free);

constinit std::atomic<int> computing{0};

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
constexpr suseconds_t kPatienceUs = 700000, kGlanceUs = 100000;
constexpr std::string_view kCancelled = "error[cancelled]: cancelled\n";

extern "C" void stopJob(int signal)
{
    core::JobContext* job = interrupted.load();
    if (!job || job->stopRequested()) ::_exit(128 + signal);
    job->requestStop();
    const itimerval soon{.it_interval = {.tv_sec = 0, .tv_usec = kGlanceUs},
                         .it_value = {.tv_sec = 0, .tv_usec = kPatienceUs}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
}

extern "C" void endComputing(int)
{
    if (computing.load() == 0) return; // it writes or cleans up
    if (::write(STDERR_FILENO, kCancelled.data(), kCancelled.size()) < 0) {}
    ::_exit(kFailed);
}

} // namespace

InterruptGuard::InterruptGuard(core::JobContext& job)
{
    CHECK(!interrupted.exchange(&job)) << "one job at a time";
    for (const int signal : kSignals) std::signal(signal, stopJob);
    std::signal(SIGALRM, endComputing);
    std::signal(SIGXFSZ, SIG_IGN);
}

InterruptGuard::~InterruptGuard()
{
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    std::signal(SIGALRM, SIG_DFL);
    for (const int signal : kSignals) std::signal(signal, SIG_DFL);
    interrupted = nullptr;
}

ComputingScope::ComputingScope() { ++computing; }

ComputingScope::~ComputingScope() { --computing; }

} // namespace tenon::cli
