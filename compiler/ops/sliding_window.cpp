// SPDX-License-Identifier: Apache-2.0
// sliding_window: overlapping windows of a tensor as dimensions of their own.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const Shape& data = op.operands[0].shape;
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.size());
    if (!axis) return axis.error();
    const std::vector<int64_t> window = intsAttr(op, "window_shape");
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const std::vector<int64_t> dilation = intsAttr(op, "dilation");
    const auto first = static_cast<size_t>(*axis);
    const size_t count = data.size() - first;
    if (window.size() != count || strides.size() != count || dilation.size() != count)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs a window, stride and dilation for each of " + std::to_string(count) +
                           " dimensions");
    Shape out(data.begin(), data.begin() + *axis);
    for (size_t i = 0; i < count; ++i) {
        const Dim& dim = data[first + i];
        if (window[i] < 1 || strides[i] < 1 || dilation[i] < 1)
            return opError(op, DiagnosticCode::BadAttribute,
                           "needs a window, stride and dilation of at least 1");
        const int64_t reach = (window[i] - 1) * dilation[i] + 1;
        if (dim.isConst() && dim.value() < reach)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot fit a window of " + std::to_string(reach) + " into " +
                               op.operands[0].text());
        out.push_back(floorDiv(dim - Dim(reach), Dim(strides[i])) + Dim(1));
    }
    for (const int64_t extent : window) out.emplace_back(extent);
    return Types{{op.operands[0].dtype, out}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const size_t rank = in[0]->shape().size();
    const auto first = static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), rank));
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const std::vector<int64_t> dilation = intsAttr(op, "dilation");
    return te::Tensors{te::compute(
        "windows", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(first));
            for (size_t d = 0; d < rank - first; ++d)
                source.push_back(i[first + d] * Expr(strides[d]) + i[rank + d] * Expr(dilation[d]));
            return te::at(in[0], source);
        },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", "int", "the first dimension the window slides along; all later ones follow"},
    {"window_shape", "int[]", "extent of the window along each of them"},
    {"strides", "int[]", "its step"},
    {"dilation", "int[]", "distance of its elements"}};

} // namespace

extern constinit const OpDef slidingWindowOp = {
    .name = "sliding_window",
    .doc = "y[.., o.., k..] = data[.., o * stride + k * dilation, ..]",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32] "
               "=> sliding_window(%x, axis=1, dilation=[2], strides=[1], window_shape=[3])",
};

} // namespace tenon::compiler
