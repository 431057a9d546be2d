// SPDX-License-Identifier: Apache-2.0
// By the operator, its padding and its zero point.
#include "compiler/passes/layout/padding_value.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <limits>

namespace tenon::compiler {
namespace {

/// Zeros are no more than what they stand beside.
bool isNotNegative(const Module& module, ValueRef value)
{
    const NodeRecord& node = module.node(value.node);
    return node.kind == NodeKind::Op &&
           (isOp(node, reluOp) || isOp(node, sigmoidOp) ||
            (isOp(node, clipOp) && node.attrs.number("a_min", -1) >= 0));
}

double leastOf(DataType dtype)
{
    if (dtype.isFloat()) return -std::numeric_limits<double>::infinity();
    return dtype.isSigned() ? -static_cast<double>(int64_t{1} << (dtype.bits - 1)) : 0;
}

} // namespace

std::optional<double> paddingValue(const Module& module, const NodeRecord& window)
{
    constexpr size_t kDataZero = 2; // of qnn.conv2d
    if (isOp(window, qnnConv2dOp)) {
        const bool hasZero =
            window.operands.size() > kDataZero && window.operands[kDataZero].node.isValid();
        return hasZero ? scalarOf(module, window.operands[kDataZero]) : 0.0;
    }
    const std::vector<int64_t> none(4, 0);
    const bool roundsUp = window.attrs.integer("ceil_mode", 0) != 0;
    const bool isInside = window.attrs.integers("padding", none) == none && !roundsUp;
    if (isInside || isOp(window, conv2dOp)) return 0;
    if (isOp(window, maxPool2dOp))
        return isNotNegative(module, window.operands[0])
                   ? 0
                   : leastOf(module.type(window.operands[0]).dtype);
    const bool countsPadding = window.attrs.integer("count_include_pad", 0) != 0;
    return countsPadding && !roundsUp ? std::optional(0.0) : std::nullopt;
}

} // namespace tenon::compiler
