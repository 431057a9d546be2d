// SPDX-License-Identifier: GPL-3.0-or-later
// BoardPrompt: what connections want to know of the person at the window, one question at a time.
#pragma once

#include "views/presenters/board_engine.h"
#include "views/presenters/job_presenter.h"

#include <QObject>

namespace tenon::views {

class BoardPrompt : public QObject
{
    Q_OBJECT
public:
    explicit BoardPrompt(JobPresenter& jobs, QObject* parent = nullptr);
    ~BoardPrompt() override; ///< an open question is answered with no

    /// For jobs; asks here and waits there. May outlive this: then every answer is no.
    BoardAsk asker();
    const std::optional<BoardQuestion>& question() const { return m_question; }

public slots:
    /// The answer is handed on and not kept.
    void accept(std::string answer) { settle(std::move(answer)); }
    void refuse() { settle(std::nullopt); }

signals:
    /// A question came, or went with its answer or its job.
    void changed();

private:
    struct Pending;
    void put(const BoardQuestion& question, std::shared_ptr<Pending> pending);
    void withdraw(const std::shared_ptr<Pending>& pending);
    void settle(std::optional<std::string> answer);

    JobPresenter& m_jobs;
    std::optional<BoardQuestion> m_question;
    std::shared_ptr<Pending> m_pending;
};

} // namespace tenon::views
