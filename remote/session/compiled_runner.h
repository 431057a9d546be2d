// SPDX-License-Identifier: Apache-2.0
// Models compiled and run on this computer, again and again on other data.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/driver/model_runner.h"

namespace tenon::remote {

/// Compiles with `options` and keeps one server child for each model that it opens. The job that
/// opened a model must outlive its runner.
compiler::OpenRunner compiledRunner(compiler::CompileOptions options);

} // namespace tenon::remote
