// SPDX-License-Identifier: Apache-2.0
// Measuring a board: its server's figures, kept in the board's target.
#pragma once

#include "remote/board/measured.h"
#include "remote/deploy/deployer.h"

namespace tenon::remote {

/// `board.target`, which is known, then carries what was found; where the figures contradict
/// themselves it carries none, so that the table's are taken again, and the error says why. Errors:
/// BadArgument for an emulated board, whose speed says nothing; those of Deployer::measure();
/// ContradictoryFacts.
core::Result<Measured> measureBoard(Deployer& deployer, Board& board, const PhaseLimits& limits,
                                    core::JobContext& job);

} // namespace tenon::remote
