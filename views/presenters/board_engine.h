// SPDX-License-Identifier: GPL-3.0-or-later
// BoardEngine: what the window asks of boards, as plain functions run inside jobs.
#pragma once

#include "core/jobs/job.h"
#include "views/models/deployment.h"
#include "views/models/document.h"
#include "views/presenters/build_options.h"

#include <functional>
#include <optional>
#include <string>

namespace tenon::views {

/// What a connection needs a person for.
struct BoardQuestion
{
    enum class Kind
    {
        HostKey, ///< is this the board's own key?
        Secret   ///< a password, a passphrase, an answer
    };
    Kind kind = Kind::HostKey;
    QString host;
    QString text;        ///< what is asked for
    QString keyType;     ///< of a host key
    QString fingerprint; ///< of a host key
    bool mayBeShown = false;
};
/// Asks and waits, on the job's thread. Nothing: the user gave up, or the job is cancelled. For a
/// host key any answer is a yes.
using BoardAsk =
    std::function<std::optional<std::string>(const BoardQuestion&, const core::JobContext&)>;

/// What to deploy, how and where to.
struct DeployQuestion
{
    DocumentPtr document;
    QString board;
    BuildOptions options;
    double budgetS = 10; ///< seconds that measuring may take
};

struct DeployOutcome
{
    DocumentPtr document; ///< compiled for the board, and measured when nothing failed; may be null
    Deployment report;
    std::optional<core::Diagnostic> error;
};
/// Called on the job's thread after every change.
using DeployWatcher = std::function<void(const Deployment&)>;

struct BoardEngine
{
    QString file; ///< that the list is kept in, also by other programs; empty: nobody else's
    /// This computer first.
    std::function<core::Result<std::vector<BoardEntry>>()> list;
    /// What had to be done to the list before it could be read; each said once, empty: nothing.
    std::function<QString()> remark;
    std::function<std::vector<BoardKindEntry>()> kinds;
    /// Looks at the board and keeps it in the list.
    std::function<core::Result<ProbeFindings>(const BoardRequest&, const BoardAsk&,
                                              core::JobContext&)>
        add;
    /// Makes an emulated board of a kind.
    std::function<core::Result<ProbeFindings>(const QString& kind, core::JobContext&)> addVirtual;
    std::function<core::Result<ProbeFindings>(const QString& board, const BoardAsk&,
                                              core::JobContext&)>
        probe;
    /// What its processor reaches, kept in its target, which is the answer.
    std::function<core::Result<QString>(const QString& board, const BoardAsk&, core::JobContext&)>
        measure;
    /// Forgets it; an emulated board is removed from the disk.
    std::function<core::Status(const QString& board, core::JobContext&)> remove;
    /// Ends the connection that stays after a deployment; what was sent goes with it.
    std::function<core::Status()> disconnect;
    /// Compiles, sends, runs, measures.
    std::function<DeployOutcome(const DeployQuestion&, const BoardAsk&, const DeployWatcher&,
                                core::JobContext&)>
        deploy;
    /// Earlier measurements of the model, newest first; `board` is the one in use.
    std::function<core::Result<std::vector<HistoryRow>>(DocumentPtr, const QString& board)> history;
    /// What this computer stands for with code of another machine; none where it cannot.
    std::function<std::optional<GuestMachine>(const QString& target)> guestOf;
    /// True when code for `target` is for the machine that `boardTarget` describes.
    std::function<bool(const QString& target, const QString& boardTarget)> isSameMachine;
};

} // namespace tenon::views
