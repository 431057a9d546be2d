// SPDX-License-Identifier: Apache-2.0
// The oracle: a plain tree-walking interpreter of loop IR, scheduled or not; floats are computed in
// double.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

/// Runs `function` on the inputs (one per input buffer) and returns the outputs rounded to their
/// dtypes at every Store. Errors: InvalidIr for out-of-bounds access (buffer and index named) or
/// unbound variables; Cancelled never.
Result<std::vector<Tensor>> interpret(const tir::PrimFunc& function,
                                      const std::vector<Tensor>& inputs);

} // namespace tenon::compiler
