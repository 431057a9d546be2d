// SPDX-License-Identifier: Apache-2.0
// The sum that direct convolutions of blocked channels share, of floats and of bytes:
// [N, O/b, H, W, b] = sum over [C/i, KH, KW, i'] of data [N, C/i, H', W', i] and weight
// [O/o, C/i, KH, KW, i', o], or [.., o, i'] where runs of i' are what one instruction takes.
#pragma once

#include "compiler/ops/window.h"

#include <functional>
#include <string>

namespace tenon::compiler {

struct BlockedConv
{
    Window window;
    int64_t outBlock;     ///< b, a divisor or a multiple of the weight's o
    std::string step;     ///< name of the axis i'
    bool hasRuns = false; ///< the weight's i' is its last axis
};

/// i' and o of the weight.
struct WeightBlock
{
    int64_t in, out;
};
WeightBlock weightBlockOf(const std::vector<int64_t>& weight, bool hasRuns);

/// Of the weight's shape: direct, or direct of a kernel of 1 x 1.
Method directMethod(const OpView& op);
/// `operations` per multiply-add of one element of the weight.
Cost blockedConvCost(const OpView& op, double operations);
/// The result's type for a weight of [O/o, .., o].
Result<Types> inferBlockedConv(const OpView& op, const BlockedConv& conv, DataType dtype);

/// `product` of what is read at position `i` of the result and `k` of the sum, and the weight.
using BlockedProduct =
    std::function<tir::Expr(const Exprs& i, const Exprs& k, const tir::Expr& weight)>;
te::Tensors lowerBlockedConv(const OpView& op, const te::TensorRef& weight, const BlockedConv& conv,
                             const BlockedProduct& product);

} // namespace tenon::compiler
