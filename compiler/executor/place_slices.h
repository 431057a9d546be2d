// SPDX-License-Identifier: Apache-2.0
// placeSlices(): a slice of neighbouring elements is read where it is.
#pragma once

#include "compiler/executor/program.h"

#include <map>
#include <string>

namespace tenon::compiler {

/// Drops calls that copy one piece of their operand (`slices`: names of such calls, with the bytes
/// in front of the piece): the result becomes a view of the operand. What the dropped call stood
/// for is added to the call that writes the operand. Pieces of inputs and constants, outputs, what
/// has a place in a concatenation and pieces that are not aligned as kernels expect keep their
/// call. For executors that may place a tensor anywhere (AOT); after placeJoins(), whose parts are
/// written where they belong.
void placeSlices(ExecutorProgram& program, const std::map<std::string, int64_t>& slices);

} // namespace tenon::compiler
