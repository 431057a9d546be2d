// SPDX-License-Identifier: GPL-3.0-or-later
// Questions from jobs to the window and answers back.
#include "views/presenters/board_prompt.h"

#include <QPointer>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tenon::views {

namespace {

/// How soon a cancelled job notices that nobody needs to answer any more.
constexpr std::chrono::milliseconds kGlance{50};

} // namespace

struct BoardPrompt::Pending
{
    std::mutex mutex;
    std::condition_variable answered;
    bool isAnswered = false;
    std::optional<std::string> answer;

    void give(std::optional<std::string> text)
    {
        {
            const std::scoped_lock lock(mutex);
            isAnswered = true;
            answer = std::move(text);
        }
        answered.notify_all();
    }
    std::optional<std::string> wait(const core::JobContext& job)
    {
        std::unique_lock lock(mutex);
        while (!isAnswered && !job.stopRequested()) answered.wait_for(lock, kGlance);
        return std::exchange(answer, std::nullopt);
    }
};

BoardPrompt::BoardPrompt(JobPresenter& jobs, QObject* parent)
    : QObject(parent)
    , m_jobs(jobs)
{
}

BoardPrompt::~BoardPrompt()
{
    if (m_pending) m_pending->give(std::nullopt);
}

BoardAsk BoardPrompt::asker()
{
    return [jobs = &m_jobs, self = QPointer<BoardPrompt>(this)](const BoardQuestion& question,
                                                                const core::JobContext& job) {
        const auto pending = std::make_shared<Pending>();
        jobs->post([self, question, pending] {
            if (self)
                self->put(question, pending);
            else
                pending->give(std::nullopt);
        });
        std::optional<std::string> answer = pending->wait(job);
        jobs->post([self, pending] {
            if (self) self->withdraw(pending);
        });
        return answer;
    };
}

void BoardPrompt::put(const BoardQuestion& question, std::shared_ptr<Pending> pending)
{
    if (m_pending) m_pending->give(std::nullopt);
    m_pending = std::move(pending);
    m_question = question;
    emit changed();
}

void BoardPrompt::withdraw(const std::shared_ptr<Pending>& pending)
{
    if (pending == m_pending) settle(std::nullopt);
}

void BoardPrompt::settle(std::optional<std::string> answer)
{
    if (!m_pending) return;
    const std::shared_ptr<Pending> pending = std::exchange(m_pending, nullptr);
    m_question.reset();
    pending->give(std::move(answer));
    emit changed();
}

} // namespace tenon::views
