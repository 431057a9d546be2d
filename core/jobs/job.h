// SPDX-License-Identifier: Apache-2.0
// Jobs: cancellable work with progress that knows no Qt; the same function runs in window, command
// line and test.
#pragma once

#include "core/base/result.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenon::core {

/// What running work may ask and tell. Thread-safe; shared with the owner of the job.
class JobContext
{
public:
    using ProgressHook = std::function<void(double fraction, const std::string& text)>;

    explicit JobContext(unsigned threads = 1, ProgressHook hook = {});
    /// Work within `outer`, which outlives it: stops with it, and reports nothing, for outer says
    /// how far the whole is.
    explicit JobContext(const JobContext* outer);

    bool stopRequested() const
    {
        return m_stop.load(std::memory_order_relaxed) || (m_outer && m_outer->stopRequested());
    }
    void requestStop() { m_stop.store(true, std::memory_order_relaxed); }
    /// Error with code Cancelled when stop was requested.
    Status checkStop() const;

    /// Reports progress in [0, 1]; called from any thread.
    void progress(double fraction, const std::string& text) const;

    unsigned threads() const { return m_threads; }
    /// Calls body(i) for every i in [0, count) on up to threads() threads; returns the first error
    /// or Cancelled. InternalError thrown by a body is rethrown here.
    Status parallelFor(size_t count, const std::function<Status(size_t)>& body) const;

private:
    unsigned m_threads;
    ProgressHook m_hook;
    const JobContext* m_outer = nullptr;
    std::atomic<bool> m_stop{false};
};

/// Starts work on its own thread; starting the same key again supersedes the older job.
/// A living owner gets exactly one `done` per started job, always through `post`.
class JobRunner
{
public:
    using Post = std::function<void(std::function<void()>)>;
    using Work = std::function<Status(JobContext&)>;
    using Finished = std::function<void(const Status&)>;

    JobRunner(Post post, unsigned threads);
    JobRunner(const JobRunner&) = delete;
    JobRunner& operator=(const JobRunner&) = delete;
    ~JobRunner(); ///< requests stop of everything and waits

    std::shared_ptr<JobContext> start(const std::string& key, Work work, Finished finished,
                                      JobContext::ProgressHook progress = {});
    void cancel(const std::string& key);
    bool isRunning(const std::string& key) const;

private:
    struct Running;
    void reap();

    Post m_post;
    unsigned m_threads;
    mutable std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<Running>> m_latest;
    std::vector<std::shared_ptr<Running>> m_all;
};

/// Runs `work` here and turns InternalError into a Diagnostic: the one place where our bugs are
/// caught.
Status runGuarded(const JobRunner::Work& work, JobContext& context);

} // namespace tenon::core
