// SPDX-License-Identifier: Apache-2.0
// requantizationOf: undoes `requantized` of compiler/ops/quantization.h.
#pragma once

#include "compiler/codegen/llvm/emit_options.h"
#include "compiler/codegen/llvm/neon_narrow.h"
#include "core/ir/tir/expr.h"

#include <optional>

namespace tenon::compiler {

/// round(value), narrowed to bytes.
struct Requantization
{
    const tir::Expr* value;
    bool isNear; ///< no value is beyond what 32 bits can hold
    Narrowing narrowing;
};

/// Which limits numbers need before they are rounded.
enum Limits : int
{
    kLowLimit = 1,
    kHighLimit = 2,
    kBothLimits = 3
};

/// The number within limits, where rounding follows; NaN becomes the least number where that takes
/// no more instructions.
llvm::Value* limitedNumber(llvm::IRBuilderBase& builder, const EmitOptions& options, llvm::Value* x,
                           const Narrowing& to, int limits);

/// What a cast to bytes makes of a binary32 number; nothing when it is another one.
std::optional<Requantization> requantizationOf(const tir::ExprNode& cast);
/// Of a quantization: round(value) + zero point, limited as a float.
std::optional<Requantization> quantizationOf(const tir::ExprNode& cast);

} // namespace tenon::compiler
