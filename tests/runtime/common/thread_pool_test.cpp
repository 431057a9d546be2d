// SPDX-License-Identifier: Apache-2.0
// The thread pool runs every task once, for any number of threads, nested and from several callers.
#include "runtime/common/affinity.h"
#include "runtime/common/thread_pool.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test {
namespace {

constexpr int kMost = 64;

/// Tasks of a launch that leaves their number to a pool of so many threads: several for each, so
/// that others can help one that is held up.
int chosenTasks(int threads) { return threads == 1 ? 1 : 8 * threads; }

struct Tally
{
    std::atomic<int> count[kMost] = {};
    std::atomic<int> tasks{0};
};

int tallyTask(int id, TVMParallelGroupEnv* env, void* cdata)
{
    auto* tally = static_cast<Tally*>(cdata);
    tally->tasks = env->num_task;
    return id < kMost && ++tally->count[id] == 1 ? 0 : -1;
}

class ThreadPool : public testing::TestWithParam<int>
{
protected:
    void SetUp() override { ASSERT_EQ(tenon_threads_set_count(GetParam()), 0); }
    void TearDown() override { tenon_threads_set_count(0); }
};

TEST_P(ThreadPool, runsEachTaskOnce)
{
    for (int tasks = 0; tasks <= 17; ++tasks) {
        Tally tally;
        ASSERT_EQ(TVMBackendParallelLaunch(tallyTask, &tally, tasks), 0);
        const int expected = tasks ? tasks : chosenTasks(GetParam());
        EXPECT_EQ(tally.tasks, expected);
        for (int i = 0; i < kMost; ++i) EXPECT_EQ(tally.count[i], i < expected ? 1 : 0) << i;
    }
}

int addTask(int, TVMParallelGroupEnv*, void* cdata)
{
    ++*static_cast<std::atomic<int>*>(cdata);
    return 0;
}

TEST_P(ThreadPool, survivesManyLaunchesAndPauses)
{
    std::atomic<int> sum{0};
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(TVMBackendParallelLaunch(addTask, &sum, 0), 0);
        if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(sum, 300 * chosenTasks(GetParam()));
}

struct Release
{
    std::atomic<bool> isHeld{true};
    std::atomic<int> ran{0};
};

/// Holds the caller in its first task until its workers have done all others, its own among them.
int holdTask(int id, TVMParallelGroupEnv*, void* cdata)
{
    auto* release = static_cast<Release*>(cdata);
    while (id == 0 && release->isHeld) std::this_thread::yield();
    ++release->ran;
    return 0;
}

void expectHelp(int launched, int tasks)
{
    Release release;
    std::thread letGo([&] {
        while (release.ran + 1 < tasks) std::this_thread::yield();
        release.isHeld = false;
    });
    EXPECT_EQ(TVMBackendParallelLaunch(holdTask, &release, launched), 0);
    EXPECT_EQ(release.ran, tasks);
    letGo.join();
}

TEST_P(ThreadPool, hasEachWorkerTakePart) { expectHelp(GetParam(), GetParam()); }

TEST_P(ThreadPool, helpsAThreadThatIsHeldUp) { expectHelp(0, chosenTasks(GetParam())); }

/// More threads than CPUs: the caller takes what its workers did not get to.
TEST_P(ThreadPool, runsEachTaskOnceOnABusyMachine)
{
    std::atomic<bool> isOver{false};
    std::vector<std::thread> busy;
    for (int i = 0; i < 4; ++i)
        busy.emplace_back([&] {
            while (!isOver) {}
        });
    for (int i = 0; i < 20; ++i) {
        Tally tally;
        ASSERT_EQ(TVMBackendParallelLaunch(tallyTask, &tally, 0), 0);
        for (int t = 0; t < chosenTasks(GetParam()); ++t) EXPECT_EQ(tally.count[t], 1) << t;
    }
    isOver = true;
    for (std::thread& thread : busy) thread.join();
}

int nestedTask(int, TVMParallelGroupEnv*, void* cdata)
{
    if (TVMBackendParallelLaunch(addTask, cdata, 0) != 0) return -1;
    return TVMBackendParallelLaunch(addTask, cdata, 3);
}

TEST_P(ThreadPool, runsNestedLaunchesInTheSameThread)
{
    std::atomic<int> sum{0};
    ASSERT_EQ(TVMBackendParallelLaunch(nestedTask, &sum, 5), 0);
    EXPECT_EQ(sum, 5 * (1 + 3));
}

int failingTask(int id, TVMParallelGroupEnv*, void*)
{
    if (id != 1) return 0;
    TVMAPISetLastError("task 1 does not like this");
    return -1;
}

TEST_P(ThreadPool, reportsTheErrorOfATask)
{
    EXPECT_EQ(TVMBackendParallelLaunch(failingTask, nullptr, 2), -1);
    EXPECT_NE(std::string(TVMGetLastError()).find("task 1"), std::string::npos);
    std::atomic<int> sum{0};
    EXPECT_EQ(TVMBackendParallelLaunch(addTask, &sum, 4), 0);
    EXPECT_EQ(sum, 4);
}

struct Phases
{
    std::atomic<int> arrived{0};
    std::atomic<bool> isWrong{false};
};

int barrierTask(int id, TVMParallelGroupEnv* env, void* cdata)
{
    auto* phases = static_cast<Phases*>(cdata);
    for (int phase = 1; phase <= 20; ++phase) {
        ++phases->arrived;
        if (TVMBackendParallelBarrier(id, env) != 0) return -1;
        if (phases->arrived < phase * env->num_task) phases->isWrong = true;
        if (TVMBackendParallelBarrier(id, env) != 0) return -1;
    }
    return 0;
}

TEST_P(ThreadPool, meetsInBarriers)
{
    Phases phases;
    ASSERT_EQ(TVMBackendParallelLaunch(barrierTask, &phases, GetParam()), 0);
    EXPECT_FALSE(phases.isWrong);
    EXPECT_EQ(phases.arrived, 20 * GetParam());
    // More tasks than threads cannot meet; that is an error, not a hang.
    EXPECT_EQ(TVMBackendParallelLaunch(barrierTask, &phases, GetParam() + 1), -1);
    EXPECT_EQ(TVMBackendParallelLaunch(barrierTask, &phases, 0), GetParam() == 1 ? 0 : -1);
}

TEST_P(ThreadPool, servesSeveralCallers)
{
    std::atomic<int> sum{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&sum] {
            for (int i = 0; i < 50; ++i) EXPECT_EQ(TVMBackendParallelLaunch(addTask, &sum, 4), 0);
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(sum, 4 * 50 * 4);
}

INSTANTIATE_TEST_SUITE_P(Counts, ThreadPool, testing::Range(1, 9));

TEST(Affinity, leavingACpuForbidsNone)
{
    std::thread([] {
        cpu_set_t before, after;
        ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
        const int here = tenon_affinity_current_cpu();
        EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(here), &before));
        const int taken[] = {here, -1, CPU_SETSIZE};
        tenon_affinity_leave(taken, 3);
        ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
        EXPECT_TRUE(CPU_EQUAL(&before, &after));
    }).join();
}

TEST(ThreadCount, refusesNonsense)
{
    EXPECT_EQ(tenon_threads_set_count(-1), -1);
    EXPECT_EQ(tenon_threads_set_count(100000), -1);
    EXPECT_GE(tenon_threads_count(), 1);
}

} // namespace
} // namespace tenon::test
