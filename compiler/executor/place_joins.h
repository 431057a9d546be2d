// SPDX-License-Identifier: Apache-2.0
// placeJoins(): the parts of a concatenation are written where they belong.
#pragma once

#include "compiler/executor/program.h"

#include <set>
#include <string>

namespace tenon::compiler {

/// Drops calls whose result is their operands one after another (`joins`: names of such calls): the
/// operands become views of the result and the calls that write them write there. What the dropped
/// call stood for is added to the call that writes the last part. Operands that are inputs,
/// constants, outputs, views of parts, joined twice or not aligned as kernels expect keep their
/// call. For executors that may place a tensor anywhere (AOT).
void placeJoins(ExecutorProgram& program, const std::set<std::string>& joins);

} // namespace tenon::compiler
