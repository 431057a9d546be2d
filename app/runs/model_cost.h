// SPDX-License-Identifier: Apache-2.0
// What a model takes of the place where it is to run: flash, RAM and the time of a run.
#pragma once

#include "app/runs/program_runs.h"
#include "compiler/driver/compile.h"
#include "compiler/quantize/mixed_precision.h"

namespace tenon::runs {

/// Compiles with `options`, counts what the program takes, and measures runs at the place, whose
/// board outlives what is returned.
compiler::PriceFile pricedAt(compiler::CompileOptions options, RunPlace place);

} // namespace tenon::runs
