// SPDX-License-Identifier: Apache-2.0
// Declared as further inputs of a loop function, one-element constants become immediates of it.
#pragma once

#include "compiler/te/te.h"
#include "core/ir/tir/stmt.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

struct ScalarInputs
{
    te::Tensors tensors;
    std::vector<tir::Expr> values;

    /// The input that stands for a constant of one element.
    te::TensorRef add(const Tensor& tensor);
    /// Takes the parameters from index `first` on out of `function`.
    void inlineInto(tir::PrimFunc& function, size_t first) const;
};

} // namespace tenon::compiler
