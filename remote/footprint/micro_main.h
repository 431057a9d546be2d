// SPDX-License-Identifier: Apache-2.0
// main() of bare-metal images that only run the model; with MEASURE_STACK they also report how deep
// the stack went, and how much of its arena the graph executor took.
#pragma once

#include "compiler/driver/compile.h"

#include <string>

namespace tenon::remote {

std::string aotMainText(const compiler::ExecutorProgram& program, compiler::CInterface interface);
std::string graphMainText(const compiler::ExecutorProgram& program, int64_t arenaBytes);

} // namespace tenon::remote
