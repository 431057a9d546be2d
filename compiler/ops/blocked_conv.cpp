// SPDX-License-Identifier: Apache-2.0
// The tail of direct convolutions: what differs is how a product is made.
#include "compiler/ops/blocked_conv.h"

namespace tenon::compiler {

using tir::Expr;

Method directMethod(const OpView& op)
{
    const Shape& w = op.operands[1].shape;
    return w[2] == Dim(1) && w[3] == Dim(1) ? Method::Direct1x1 : Method::Direct;
}

Cost blockedConvCost(const OpView& op, double operations)
{
    const Shape& w = op.operands[1].shape;
    return {operations * elements(op.results[0]) * elements({kFloat32, {w[1], w[2], w[3], w[4]}}),
            bytesMoved(op)};
}

Result<Types> inferBlockedConv(const OpView& op, const BlockedConv& conv, DataType dtype)
{
    const Shape &data = op.operands[0].shape, &weight = op.operands[1].shape;
    const auto out = windowOutputs(op, conv.window, data[2], data[3]);
    if (!out) return out.error();
    const Dim channels = weight[0] * Dim(weight[5].value() / conv.outBlock);
    return Types{{dtype, {data[0], channels, (*out)[0], (*out)[1], Dim(conv.outBlock)}}};
}

te::Tensors lowerBlockedConv(const OpView& op, const te::TensorRef& weight, const BlockedConv& conv,
                             const BlockedProduct& product)
{
    const std::vector<int64_t> w = constants(op.operands[1].shape);
    const Expr ratio(w[5] / conv.outBlock);
    Attrs attrs = windowFacts(conv.window);
    attrs.set("in_block", w[4]);
    attrs.set("out_block", conv.outBlock);
    attrs.set("kernel_block", w[5]);
    attrs.set("axis_names", std::vector<std::string>{"n", "oc_outer", "oh", "ow", "oc_inner",
                                                     "ic_outer", "kh", "kw", conv.step});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        const Expr outer = floorDiv(i[1], ratio);
        const Expr inner = floorMod(i[1], ratio) * Expr(conv.outBlock) + i[4];
        return product(i, k, te::at(weight, {outer, k[0], k[1], k[2], k[3], inner}));
    };
    return te::Tensors{te::reduce("conv", extents(op.results[0].shape),
                                  {Expr(w[1]), Expr(w[2]), Expr(w[3]), Expr(w[4])},
                                  te::Combiner::Sum, step, "conv2d_nchwc", std::move(attrs))};
}

} // namespace tenon::compiler
