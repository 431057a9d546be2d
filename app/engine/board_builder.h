// SPDX-License-Identifier: GPL-3.0-or-later
// From boards, probes, deployments and the history to what the window shows of them.
#pragma once

#include "remote/board/board.h"
#include "remote/deploy/deployer.h"
#include "remote/history/run_history.h"
#include "views/presenters/board_engine.h"

namespace tenon::app {

/// The kinds of boards there are profiles of.
std::vector<views::BoardKindEntry> boardKinds();
/// True when both targets make code for the same kind of machine, or one of them is none.
bool isSameMachine(const QString& target, const QString& boardTarget);
views::BoardEntry boardEntry(const remote::Board& board);
/// Without a target or cores where the request's profile gives none. Error UnknownName for the
/// profile, BadArgument for what no board can have.
core::Result<remote::Board> boardOf(const views::BoardRequest& request);
views::ProbeFindings findingsOf(const remote::Board& board, const remote::BoardFacts& facts);
views::Deployment deploymentOf(const remote::DeployReport& report);
/// Newest first, of every board; `board` is the one in use.
std::vector<views::HistoryRow> historyRows(const std::vector<remote::RunRecord>& records,
                                           const remote::Board& board);

} // namespace tenon::app
