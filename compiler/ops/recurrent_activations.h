// SPDX-License-Identifier: Apache-2.0
// The activation functions of recurrent operators, as ONNX names them.
#pragma once

#include "compiler/ops/recurrent.h"

#include <string_view>

namespace tenon::compiler {

struct ActivationRow
{
    std::string_view name;
    double alpha, beta; ///< defaults
    tir::Expr (*apply)(const tir::Expr& x, const tir::Expr& alpha, const tir::Expr& beta);
};

/// Null for a name that there is not.
const ActivationRow* findActivation(std::string_view name);

} // namespace tenon::compiler
