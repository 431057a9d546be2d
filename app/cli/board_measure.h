// SPDX-License-Identifier: Apache-2.0
// `tenon board probe --measure`: how fast a board is, kept with it for whoever compiles.
#pragma once

#include "app/cli/board_access.h"

namespace tenon::cli {

struct MeasureRequest
{
    BoardOptions access;
    CommonOptions common;
};

/// The board's target is known. What was measured is kept in its target; what contradicts itself is
/// refused, and what was kept before goes, too: the table's figures are taken.
int measureBoard(const MeasureRequest& options, remote::Board board, JobContext& job);

} // namespace tenon::cli
