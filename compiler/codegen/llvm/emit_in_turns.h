// SPDX-License-Identifier: Apache-2.0
// Which loops are written several iterations at a time, their instructions in turns.
#pragma once

#include "core/ir/tir/stmt.h"

namespace tenon::compiler {

/// Iterations of a loop of `extent` that are written together; 1 where they gain nothing.
int64_t iterationsInTurns(const tir::StmtNode& loop, int64_t extent);

} // namespace tenon::compiler
