// SPDX-License-Identifier: Apache-2.0
// What one step of the last quantized tensors does to a model's outputs: the float tail's
// tolerance.
#pragma once

#include "app/cli/execution.h"
#include "app/cli/verify_judge.h"

#include <vector>

namespace tenon::cli {

/// Evaluates the tail of `loaded` on the case's own inputs, as it is and with elements of the last
/// quantized tensors moved by one step, at opt level 0 on this computer. One entry per output;
/// empty when no tensor is quantized last, or the model cannot be evaluated like this.
std::vector<StepEffect> stepEffects(const compiler::Loaded& loaded, const CommonOptions& options,
                                    const std::vector<std::pair<std::string, Tensor>>& given,
                                    JobContext& job);

} // namespace tenon::cli
