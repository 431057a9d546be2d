// SPDX-License-Identifier: Apache-2.0
// nn.softmax and nn.log_softmax: normalised exponentials along one axis. One division per row: its
// reciprocal multiplies the elements.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const TensorType& type = op.operands[0];
    if (!type.dtype.isFloat()) return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    const auto axis = normalAxis(op, intAttr(op, "axis"), type.shape.size());
    if (!axis) return axis.error();
    return Types{type};
}

Exprs without(const Exprs& list, size_t axis)
{
    Exprs out = list;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
    return out;
}

/// `tensor` reduced along `axis`, which goes away.
te::TensorRef along(const std::string& name, const te::TensorRef& tensor, size_t axis,
                    te::Combiner combiner, int64_t attrAxis)
{
    return te::reduce(name, without(tensor->shape(), axis), {tensor->shape()[axis]}, combiner,
                      [&](const Exprs& i, const Exprs& k) {
                          Exprs at = i;
                          at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), k[0]);
                          return te::at(tensor, at);
                      },
                      "softmax", {{"axis", attrAxis}});
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto normal = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    const auto axis = static_cast<size_t>(*normal);
    const bool isLog = op.op == "nn.log_softmax";
    const te::TensorRef top = along("softmax_max", in[0], axis, te::Combiner::Max, *normal);
    const auto shifted = [&](const Exprs& i) {
        return te::at(in[0], i) - te::at(top, without(i, axis));
    };
    const te::TensorRef exponential = te::compute(
        "softmax_exp", in[0]->shape(),
        [&](const Exprs& i) { return tir::call(tir::Intrinsic::ExpNonPositive, shifted(i)); },
        "elemwise");
    const te::TensorRef sum = along("softmax_sum", exponential, axis, te::Combiner::Sum, *normal);
    return te::Tensors{te::compute(
        isLog ? "log_softmax" : "softmax", in[0]->shape(),
        [&](const Exprs& i) {
            const Expr total = te::at(sum, without(i, axis));
            return isLog ? shifted(i) - tir::call(tir::Intrinsic::Log, total)
                         : te::at(exponential, i) * (tir::oneOf(total->dtype) / total);
        },
        "elemwise")};
}

Cost cost(const OpView& op) { return {4 * elements(op.results[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"x", "any shape, floats"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the axis whose values sum to 1", "-1"}};

} // namespace

extern constinit const OpDef logSoftmaxOp = {
    .name = "nn.log_softmax",
    .doc = "y[i] = x[i] - max x - log sum exp(x - max x), along `axis`",
    .family = Family::Normalization,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .standsAlone = true, // several loops over a row already
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3, 5), float32] => nn.log_softmax(%x, axis=1)",
};

extern constinit const OpDef softmaxOp = {
    .name = "nn.softmax",
    .doc = "y[i] = exp(x[i] - max x) / sum exp(x - max x), along `axis`",
    .family = Family::Normalization,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .standsAlone = true, // several loops over a row already
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 10), float32] => nn.softmax(%x)",
};

} // namespace tenon::compiler
