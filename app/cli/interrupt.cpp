// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#include "core/base/check.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

namespace tenon::cli {
namespace {

// A signal handler gets no argument of ours: the job must stand where it can find it.
constinit std::atomic<core::JobContext*> interrupted{nullptr};
static_assert(std::atomic<core::JobContext*>::is_always_lock_free);

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

extern "C" void stopJob(int signal)
{
    core::JobContext* job = interrupted.load();
    if (!job || job->stopRequested()) ::_exit(128 + signal);
    job->requestStop();
}

} // namespace

InterruptGuard::InterruptGuard(core::JobContext& job)
{
    CHECK(!interrupted.exchange(&job)) << "one job at a time";
    for (const int signal : kSignals) std::signal(signal, stopJob);
    std::signal(SIGXFSZ, SIG_IGN);
}

InterruptGuard::~InterruptGuard()
{
    for (const int signal : kSignals) std::signal(signal, SIG_DFL);
    interrupted = nullptr;
}

} // namespace tenon::cli
