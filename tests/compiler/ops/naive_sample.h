// SPDX-License-Identifier: Apache-2.0
// One operator, evaluated, for comparisons with plain loops.
#pragma once

#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::compiler {

using Dims = std::vector<int64_t>;

/// "Tensor[(2, 3), float32]".
std::string typeOf(const Dims& shape);

struct Sample
{
    std::vector<core::Tensor> inputs;
    core::Tensor output;
};

/// Of random inputs, by the interpreter; CHECKs that the evaluator agrees.
Sample run(const std::string& example);

} // namespace tenon::compiler
