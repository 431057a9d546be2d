// SPDX-License-Identifier: Apache-2.0
// Jobs: stop, progress, supersession, exactly one end, bugs caught at the boundary.
#include "core/jobs/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <new>

namespace tenon::core {
namespace {

/// A plain queue in place of an event loop.
class Queue
{
public:
    JobRunner::Post post()
    {
        return [this](std::function<void()> call) {
            const std::scoped_lock lock(m_mutex);
            m_calls.push_back(std::move(call));
            m_changed.notify_all();
        };
    }

    /// Runs posted calls on this thread until `count` have run.
    void run(size_t count)
    {
        for (size_t i = 0; i < count; ++i) {
            std::function<void()> call;
            {
                std::unique_lock lock(m_mutex);
                m_changed.wait(lock, [&] { return !m_calls.empty(); });
                call = std::move(m_calls.front());
                m_calls.pop_front();
            }
            call();
        }
    }

    size_t waiting() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_calls.size();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::function<void()>> m_calls;
};

Status waitForStop(JobContext& context)
{
    while (!context.stopRequested()) std::this_thread::yield();
    return context.checkStop();
}

TEST(Job, runsEveryIndexOnceOnSeveralThreads)
{
    const JobContext context(4);
    std::vector<std::atomic<int>> seen(1000);
    ASSERT_TRUE(context.parallelFor(seen.size(), [&](size_t i) -> Status {
        ++seen[i];
        return kDone;
    }));
    for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(Job, stopsTheLoopAtTheFirstErrorAndReturnsIt)
{
    for (const unsigned threads : {1u, 2u}) {
        const JobContext context(threads);
        std::atomic<size_t> calls{0};
        const Status status = context.parallelFor(100000, [&](size_t i) -> Status {
            ++calls;
            if (i == 10) return makeError(DiagnosticCode::BadModel, "ten");
            return kDone;
        });
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().message, "ten");
        // With two threads the other one may finish the loop before this error is seen.
        if (threads == 1) {
            EXPECT_EQ(calls, 11u);
        }
    }
}

TEST(Job, endsALoopWhenStopIsRequested)
{
    JobContext context(2);
    const Status status = context.parallelFor(100000, [&](size_t i) -> Status {
        if (i == 10) context.requestStop();
        // Whoever is ahead waits, or it could finish the loop before the stop comes.
        while (i > 10 && !context.stopRequested()) std::this_thread::yield();
        return kDone;
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, DiagnosticCode::Cancelled);
}

TEST(Job, rethrowsABugOfALoopBody)
{
    const JobContext context(2);
    EXPECT_THROW(static_cast<void>(context.parallelFor(10,
                                                       [](size_t i) -> Status {
                                                           CHECK(i != 3);
                                                           return kDone;
                                                       })),
                 InternalError);
}

TEST(Job, turnsBugsAndLackOfMemoryIntoDiagnostics)
{
    JobContext context;
    const Status bug = runGuarded(
        [](JobContext&) -> Status {
            CHECK(false) << "why";
            return kDone;
        },
        context);
    ASSERT_FALSE(bug);
    EXPECT_EQ(bug.error().code, DiagnosticCode::InternalBug);
    EXPECT_NE(bug.error().message.find("why"), std::string::npos);
    const Status memory =
        runGuarded([](JobContext&) -> Status { throw std::bad_alloc(); }, context);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, DiagnosticCode::OutOfMemory);
}

TEST(JobRunner, finishesOnTheOwnersThread)
{
    Queue queue;
    JobRunner runner(queue.post(), 1);
    std::thread::id finishedOn;
    std::thread::id workedOn;
    runner.start(
        "open",
        [&](JobContext&) -> Status {
            workedOn = std::this_thread::get_id();
            return kDone;
        },
        [&](const Status& status) {
            EXPECT_TRUE(status);
            finishedOn = std::this_thread::get_id();
        });
    queue.run(1);
    EXPECT_EQ(finishedOn, std::this_thread::get_id());
    EXPECT_NE(workedOn, std::this_thread::get_id());
}

TEST(JobRunner, supersedesTheOlderJobOfTheSameKey)
{
    Queue queue;
    JobRunner runner(queue.post(), 1);
    std::vector<std::string> ends;
    const auto record = [&](const std::string& name) {
        return [&ends, name](const Status& status) {
            ends.push_back(name + (status ? " finished" : " cancelled"));
        };
    };
    runner.start("compile", waitForStop, record("first"));
    runner.start(
        "other", [](JobContext&) -> Status { return kDone; }, record("other"));
    runner.start(
        "compile", [](JobContext&) -> Status { return kDone; }, record("second"));
    queue.run(3);
    std::sort(ends.begin(), ends.end());
    EXPECT_EQ(ends,
              (std::vector<std::string>{"first cancelled", "other finished", "second finished"}));
    EXPECT_EQ(queue.waiting(), 0u);
}

TEST(JobRunner, cancelsByKey)
{
    Queue queue;
    JobRunner runner(queue.post(), 1);
    DiagnosticCode code = DiagnosticCode::InternalBug;
    runner.start("run", waitForStop, [&](const Status& status) { code = status.error().code; });
    EXPECT_TRUE(runner.isRunning("run"));
    runner.cancel("nothing of this name");
    runner.cancel("run");
    queue.run(1);
    EXPECT_EQ(code, DiagnosticCode::Cancelled);
}

TEST(JobRunner, callsAJobCancelledThatIgnoredItsStop)
{
    Queue queue;
    JobRunner runner(queue.post(), 1);
    bool isCancelled = false;
    const auto context = runner.start(
        "run",
        [](JobContext& job) -> Status {
            while (!job.stopRequested()) std::this_thread::yield();
            return kDone;
        },
        [&](const Status& status) { isCancelled = !status; });
    context->requestStop();
    queue.run(1);
    EXPECT_TRUE(isCancelled);
}

TEST(JobRunner, stopsEverythingWhenItEnds)
{
    Queue queue;
    {
        JobRunner runner(queue.post(), 1);
        for (const char* key : {"a", "b", "c"})
            runner.start(key, waitForStop, [](const Status&) {});
    }
    EXPECT_EQ(queue.waiting(), 3u);
}

} // namespace
} // namespace tenon::core
