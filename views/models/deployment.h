// SPDX-License-Identifier: GPL-3.0-or-later
// Boards and deployments as the window shows them: plain values, made by the engine.
#pragma once

#include "views/models/footprint.h"
#include "views/models/history_row.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace tenon::views {

enum class BoardWay
{
    ThisComputer,
    Ssh,
    RpcServer,
    Tracker,
    Virtual, ///< emulated here
    Serial   ///< without an operating system, at the end of a line
};

struct BoardEntry
{
    QString name;
    BoardWay way = BoardWay::ThisComputer;
    QString address; ///< "pi@raspberry:22"
    QString target;  ///< what to compile for; empty: not known before a probe
    QString profile;
    QString summary;     ///< what the last probe found, one line
    MemoryBudget budget; ///< of its profile; zeros: none known
    /// What a run takes there is told in instructions; else in time.
    bool countsInstructions = false;

    bool isHere() const { return way == BoardWay::ThisComputer; }
    bool isEmulated() const { return way == BoardWay::Virtual; }
    /// "This computer", or its name.
    QString title() const;
    /// Inside a sentence: "this computer", or its name.
    QString titleInText() const;
};

/// A board as entered by the user.
struct BoardRequest
{
    BoardWay way = BoardWay::Ssh;
    QString name;
    QString host;
    int port = 0; ///< or baud; 0: the usual one
    QString user;
    QString identityFile;
    QString key; ///< of RPC servers and trackers
    QString profile;
    QString project; ///< of serial boards: the folder that serves models there
    QString flash;   ///< of serial boards: command; empty: the project's
};

/// A kind of board that is known before anyone has touched one.
struct BoardKindEntry
{
    QString name;
    QString title;
    QString target;
    bool canBeVirtual = false;
};

enum class CheckVerdict
{
    Good,
    Doubtful,
    Bad
};

struct CheckRow
{
    CheckVerdict verdict = CheckVerdict::Good;
    QString subject;
    QString outcome;
    QString advice; ///< what to do, when there is something to do
};

/// What a probe found.
struct ProbeFindings
{
    BoardEntry board;
    std::vector<CheckRow> checks;
    QString proposedTarget;
    QString condition; ///< "51 °C · governor performance", as far as the board tells
};

enum class StepState
{
    Waiting,
    Running,
    Done,
    Skipped,
    Failed
};

struct StepRow
{
    QString name;
    StepState state = StepState::Waiting;
    double ms = 0;
    double share = 0; ///< of the longest step
    QString detail;
};

/// How far a deployment is, or how it ended.
/// What this computer is for code of another machine.
struct GuestMachine
{
    bool isEmulated = true; ///< else it runs by other means, such as Node.js
    bool countsInstructions = false;
};

struct Deployment
{
    QString board;
    QString target;
    QString sha256; ///< of the artifact that runs there; empty before it is sent
    bool isEmulated = false;
    std::vector<StepRow> steps;
    std::vector<CheckRow> preflight;
    ProbeFindings findings; ///< no checks: the board was not reached
    QStringList log;
    double totalMs = 0;
    double overheadMs = 0; ///< everything beside compiling, running and measuring
    qint64 sentBytes = 0;
    qint64 reusedBytes = 0;
    std::vector<double> sampleUs = {}; ///< so far, while it is being measured
    double runningUs = 0;              ///< their median
    double lowUs = 0;                  ///< its 95 % confidence interval
    double highUs = 0;
    CostUnit unit = CostUnit::Time; ///< of the samples
    double leftS = -1;              ///< until measuring ends at the latest; -1: nobody knows
    bool isFinished = false;
    bool isCancelled = false;
    bool isLinkLost = false;  ///< the board went away in the middle
    QString error;            ///< empty: none so far; what follows from it on lines of its own
    bool isConnected = false; ///< the connection stays for the next one
};

} // namespace tenon::views
