// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of the Deploy page: boards, checks, steps, earlier measurements.
#pragma once

#include "views/models/deployment.h"
#include "views/models/measurement.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// Whether a board can be worked with; told by glyph and word, never by colour alone.
enum class BoardState
{
    Unknown, ///< nobody has asked it since the window opened
    Offline,
    Ready,
    Busy,
    Guest,   ///< the target makes code for another machine, which this computer runs or emulates
    Mismatch ///< the target makes code for another machine
};
/// "ready", "not checked yet", ...; of other machines `machine` says which.
QString boardStateText(BoardState state, const QString& machine = {});
/// "SSH", "emulated here", ...
QString boardWayText(BoardWay way);

struct BoardRow
{
    BoardEntry board;
    BoardState state = BoardState::Unknown;
    bool isSelected = false;
    QString stateText = boardStateText(state); ///< "ready", "emulates cortex-m4"
};
using BoardModel = TableModel<BoardRow>;
using CheckModel = TableModel<CheckRow>;
using StepModel = TableModel<StepRow>;
using HistoryModel = TableModel<HistoryRow>;

BoardModel* makeBoardModel(QObject* parent);
CheckModel* makeCheckModel(QObject* parent);
StepModel* makeStepModel(QObject* parent);
HistoryModel* makeHistoryModel(QObject* parent);
/// The same with the board of each, for measurements of several.
HistoryModel* makeRunsModel(QObject* parent);

/// ✓ done, ✕ failed, ● running, – skipped, ○ waiting.
QString stepGlyph(StepState state);
/// ✓ good, ? doubtful, ✕ bad.
QString checkGlyph(CheckVerdict verdict);
/// Fills in each row's share of the longest.
void shareOut(std::vector<StepRow>& steps);
/// "12 % faster", "3.1 % slower" of a ratio of times, now to before.
QString changeText(double ratio, CostUnit unit = CostUnit::Time);

/// What is measured so far, as a measurement of its own; nothing before the first samples.
std::optional<Measurement> liveMeasurement(const Deployment& report);
/// "3.51 ms so far ± 0.10, 12 samples, at most 4 s left".
QString liveText(const Deployment& report);

} // namespace tenon::views
