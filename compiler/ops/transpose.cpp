// SPDX-License-Identifier: Apache-2.0
// transpose: dimensions in another order.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The permutation; empty `axes` reverses.
Result<std::vector<int64_t>> permutation(const OpView& op)
{
    const size_t rank = op.operands[0].shape.size();
    std::vector<int64_t> axes = intsAttr(op, "axes");
    if (axes.empty())
        for (size_t i = rank; i-- > 0;) axes.push_back(static_cast<int64_t>(i));
    const auto sorted = normalAxes(op, axes, rank);
    if (!sorted) return sorted.error();
    if (axes.size() != rank || sorted->size() != rank)
        return opError(op, DiagnosticCode::BadAttribute,
                       "axes [" + join(axes, ", ") + "] must name each of the " +
                           std::to_string(rank) + " dimensions once");
    for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
    return axes;
}

Result<Types> infer(const OpView& op)
{
    const auto axes = permutation(op);
    if (!axes) return axes.error();
    Shape shape;
    for (const int64_t axis : *axes)
        shape.push_back(op.operands[0].shape[static_cast<size_t>(axis)]);
    return Types{{op.operands[0].dtype, shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axes = permutation(op);
    if (!axes) return axes.error();
    return te::Tensors{te::compute(
        "transpose", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source(i.size());
            for (size_t k = 0; k < i.size(); ++k) source[static_cast<size_t>((*axes)[k])] = i[k];
            return te::at(in[0], source);
        },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"axes", "int[]", "source dimension of each result dimension; empty reverses", "[]"}};

} // namespace

extern constinit const OpDef transposeOp = {
    .name = "transpose",
    .doc = "y[i_0, ..] = data[..]: dimension k of y is dimension axes[k] of data",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3, 4), float32] => transpose(%x, axes=[0, 2, 1])",
};

} // namespace tenon::compiler
