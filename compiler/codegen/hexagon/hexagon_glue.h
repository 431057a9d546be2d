// SPDX-License-Identifier: Apache-2.0
// A model as a program for Hexagon.
#pragma once

#include <string>

namespace tenon::compiler {

struct ExecutorProgram;

/// Added to the AOT glue of a Hexagon program: start-up code that calls the Linux kernel by itself.
/// The program takes three files: counts (three i32: inferences per measured time, times, profiled
/// inferences) followed by the bytes of all inputs; the bytes of all outputs; the times in
/// nanoseconds (i64), then for each profiled inference the instants at its calls and at its end.
std::string hexagonProgramText(const ExecutorProgram& program);

} // namespace tenon::compiler
