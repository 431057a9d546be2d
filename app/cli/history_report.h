// SPDX-License-Identifier: Apache-2.0
// What was measured of a model before, and two of these runs call by call.
#pragma once

#include "app/cli/board_access.h"

namespace tenon::cli {

struct HistoryQuestion
{
    std::string path; ///< of the model
    CommonOptions common;
    BoardOptions where;
    std::string between; ///< "12,15": two runs, the earlier first; empty: all of them
};

/// Prints; the exit code.
int printHistory(const HistoryQuestion& question);

} // namespace tenon::cli
