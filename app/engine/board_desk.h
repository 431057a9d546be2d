// SPDX-License-Identifier: GPL-3.0-or-later
// BoardDesk: the window's hands on boards: the list, one kept connection, probes and deployments.
#pragma once

#include "app/engine/engine.h"
#include "app/runs/program_runs.h"
#include "remote/board/board_store.h"
#include "remote/deploy/deployer.h"
#include "remote/roofline/known_peaks.h"
#include "views/presenters/compare_question.h"

#include <functional>
#include <mutex>

namespace tenon::app {

/// What the deployer asks, handed on to the window; its answers hold for one job at a time.
class DeskPrompt : public remote::SshPrompt
{
public:
    void serve(views::BoardAsk ask, const core::JobContext* job)
    {
        m_ask = std::move(ask);
        m_job = job;
    }
    bool acceptHostKey(const remote::HostKeyQuestion& question) override;
    std::optional<std::string> secret(const remote::SecretQuestion& question) override;

private:
    views::BoardAsk m_ask;
    const core::JobContext* m_job = nullptr;
};

/// Thread-safe; jobs wait for one another, and give up waiting when they are cancelled.
class BoardDesk
{
public:
    explicit BoardDesk(EngineOptions options);

    QString file() const { return QString::fromStdString(m_store.path()); }
    core::Result<std::vector<views::BoardEntry>> list() const;
    QString takeRemark();
    core::Result<views::ProbeFindings> add(const views::BoardRequest& request,
                                           const views::BoardAsk& ask, core::JobContext& job);
    core::Result<views::ProbeFindings> addVirtual(const QString& kind, core::JobContext& job);
    core::Result<views::ProbeFindings> probe(const QString& board, const views::BoardAsk& ask,
                                             core::JobContext& job);
    core::Result<QString> measure(const QString& board, const views::BoardAsk& ask,
                                  core::JobContext& job);
    core::Status remove(const QString& board, core::JobContext& job);
    core::Status disconnect();
    views::DeployOutcome deploy(const views::DeployQuestion& question, const views::BoardAsk& ask,
                                const views::DeployWatcher& watch, core::JobContext& job);
    /// On the question's board; a connection that was not there before ends with it.
    core::Result<views::CompareOutcome> compare(const views::CompareQuestion& question,
                                                const views::BoardAsk& ask, core::JobContext& job);
    /// Calibrates here; prices are taken on the question's board.
    core::Result<views::QuantizeOutcome> quantize(const views::QuantizeQuestion& question,
                                                  const views::BoardAsk& ask,
                                                  core::JobContext& job);
    /// One run of the document's model on a picture or a sound, on the question's board.
    core::Result<views::TrialOutcome> tryOn(const views::DocumentPtr& document,
                                            const views::BuildOptions& build,
                                            const views::TrialQuestion& question,
                                            const views::BoardAsk& ask, core::JobContext& job);
    core::Result<std::vector<views::HistoryRow>> history(const views::DocumentPtr& document,
                                                         const QString& board) const;

private:
    /// `work` on the board, with a connection that ends with it unless it was there before; a kept
    /// one that had died is made anew.
    template <class Outcome>
    core::Result<Outcome>
    workOn(const remote::Board& board, unsigned threads, const views::BoardAsk& ask,
           core::JobContext& job,
           const std::function<core::Result<Outcome>(const runs::RunPlace&)>& work);
    core::Status wait(std::unique_lock<std::timed_mutex>& lock, const core::JobContext& job);
    /// The kept connection when it is to this board as it is now, else a new one.
    remote::Deployer& deployerFor(const remote::Board& board);
    /// Connects, asks, hangs up unless the connection is kept; `board` learns what was found.
    core::Result<views::ProbeFindings> look(remote::Board& board, const views::BoardAsk& ask,
                                            core::JobContext& job);

    EngineOptions m_options;
    std::mutex m_remarkMutex;
    QString m_remark;
    remote::BoardStore m_store;
    std::timed_mutex m_mutex;
    DeskPrompt m_prompt;
    remote::KnownPeaks m_peaks; ///< of this computer
    std::string m_boardKey;     ///< tells which board m_deployer serves
    std::unique_ptr<remote::Deployer> m_deployer;
};

/// What the window asks of boards and of comparisons on them.
void addBoards(const EngineOptions& options, views::Engine& engine);

} // namespace tenon::app
