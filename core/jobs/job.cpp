// SPDX-License-Identifier: Apache-2.0
// Threads are created here and nowhere else in the Qt-free code.
#include "core/jobs/job.h"

#include <algorithm>

namespace tenon::core {

JobContext::JobContext(unsigned threads, ProgressHook hook)
    : m_threads(std::max(1u, threads))
    , m_hook(std::move(hook))
{
}

JobContext::JobContext(const JobContext* outer)
    : m_threads(outer->threads())
    , m_outer(outer)
{
}

Status JobContext::checkStop() const
{
    if (stopRequested()) return makeError(DiagnosticCode::Cancelled, "cancelled");
    return kDone;
}

void JobContext::progress(double fraction, const std::string& text) const
{
    if (m_hook) m_hook(fraction, text);
}

Status JobContext::parallelFor(size_t count, const std::function<Status(size_t)>& body) const
{
    std::atomic<size_t> next{0};
    std::atomic<bool> failed{false};
    std::mutex mutex;
    Status first = kDone;
    std::exception_ptr bug;
    const auto worker = [&] {
        for (size_t i = next++; i < count && !failed; i = next++) {
            try {
                Status status = checkStop();
                if (status) status = body(i);
                if (status) continue;
                const std::scoped_lock lock(mutex);
                if (!failed.exchange(true)) first = status;
            } catch (...) {
                const std::scoped_lock lock(mutex);
                if (!bug) bug = std::current_exception();
                failed = true;
            }
        }
    };
    std::vector<std::jthread> helpers;
    const size_t wanted = std::min<size_t>(m_threads, count);
    for (size_t t = 1; t < wanted; ++t) helpers.emplace_back(worker);
    worker();
    helpers.clear();
    if (bug) std::rethrow_exception(bug);
    return first;
}

Status runGuarded(const JobRunner::Work& work, JobContext& context)
{
    try {
        return work(context);
    } catch (const std::bad_alloc&) {
        return makeError(DiagnosticCode::OutOfMemory,
                         "out of memory; close other models or use a smaller input shape");
    } catch (const std::exception& bug) { // InternalError, or what a library let slip
        return makeError(DiagnosticCode::InternalBug,
                         std::string("internal error, please report: ") + bug.what());
    }
}

struct JobRunner::Running
{
    std::shared_ptr<JobContext> context;
    std::atomic<bool> ended{false};
    std::jthread thread;
};

JobRunner::JobRunner(Post post, unsigned threads)
    : m_post(std::move(post))
    , m_threads(threads)
{
}

JobRunner::~JobRunner()
{
    std::vector<std::shared_ptr<Running>> all;
    {
        const std::scoped_lock lock(m_mutex);
        all.swap(m_all);
        m_latest.clear();
    }
    for (const auto& job : all) job->context->requestStop();
}

void JobRunner::reap()
{
    std::erase_if(m_all, [](const std::shared_ptr<Running>& job) { return job->ended.load(); });
}

std::shared_ptr<JobContext> JobRunner::start(const std::string& key, Work work, Finished finished,
                                             JobContext::ProgressHook progress)
{
    auto job = std::make_shared<Running>();
    job->context = std::make_shared<JobContext>(m_threads, std::move(progress));
    const std::scoped_lock lock(m_mutex);
    reap();
    if (const auto older = m_latest.find(key); older != m_latest.end())
        older->second->context->requestStop();
    m_latest[key] = job;
    m_all.push_back(job);
    Running* const raw = job.get(); // m_all keeps it alive until it has ended
    auto context = job->context;
    job->thread =
        std::jthread([this, raw, context, work = std::move(work), finished = std::move(finished)] {
            Status status = runGuarded(work, *context);
            if (status && context->stopRequested()) status = context->checkStop();
            m_post([finished, status] { finished(status); });
            raw->ended = true;
        });
    return context;
}

void JobRunner::cancel(const std::string& key)
{
    const std::scoped_lock lock(m_mutex);
    if (const auto job = m_latest.find(key); job != m_latest.end())
        job->second->context->requestStop();
}

bool JobRunner::isRunning(const std::string& key) const
{
    const std::scoped_lock lock(m_mutex);
    const auto job = m_latest.find(key);
    return job != m_latest.end() && !job->second->ended;
}

} // namespace tenon::core
