// SPDX-License-Identifier: Apache-2.0
// Evaluating unscheduled loop IR on large tensors: constant folding and numeric verification.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"
#include "core/jobs/job.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

/// Like interpret(), fast: block nests run as tapes of operations over rows of one axis, in
/// parallel on the job's threads; what is no plain nest (While, Extern) goes to the interpreter.
/// Floats are double inside; a reduction is rounded once, at its end. Errors as interpret(), and
/// Cancelled.
Result<std::vector<Tensor>> evaluate(const tir::PrimFunc& function,
                                     const std::vector<Tensor>& inputs, const JobContext& job);

} // namespace tenon::compiler
