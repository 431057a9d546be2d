// SPDX-License-Identifier: Apache-2.0
// placeJoins(): the parts of a concatenation are written where they belong.
#pragma once

#include "compiler/executor/program.h"

#include <map>
#include <string>

namespace tenon::compiler {

/// Drops calls whose result is their operands one after another, or piece by piece in turns
/// (`joins`: names of such calls, with the pieces that each operand has): the operands become views
/// of the result and the calls that write them write there. Kernels that write in pieces are right
/// nowhere else, so that such a call must have a place (CHECK). What the dropped
/// call stood for is added to the call that writes the last part. Operands that are inputs,
/// constants, outputs, views of parts, joined twice or not aligned as kernels expect keep their
/// call. For executors that may place a tensor anywhere (AOT).
void placeJoins(ExecutorProgram& program, const std::map<std::string, int64_t>& joins);

} // namespace tenon::compiler
