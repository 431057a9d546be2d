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

WeightBlock weightBlockOf(const std::vector<int64_t>& weight, bool hasRuns)
{
    return hasRuns ? WeightBlock{weight[5], weight[4]} : WeightBlock{weight[4], weight[5]};
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
    const int64_t block = weight[conv.hasRuns ? 4 : 5].value();
    const int64_t channels = weight[0].value() * block / conv.outBlock;
    return Types{{dtype, {data[0], Dim(channels), (*out)[0], (*out)[1], Dim(conv.outBlock)}}};
}

te::Tensors lowerBlockedConv(const OpView& op, const te::TensorRef& weight, const BlockedConv& conv,
                             const BlockedProduct& product)
{
    const std::vector<int64_t> w = constants(op.operands[1].shape);
    const auto [inBlock, kernelBlock] = weightBlockOf(w, conv.hasRuns);
    const Expr block(kernelBlock);
    const Expr ratio(kernelBlock / conv.outBlock), parts(conv.outBlock / kernelBlock);
    Attrs attrs = windowFacts(conv.window);
    attrs.set("in_block", inBlock);
    attrs.set("out_block", conv.outBlock);
    attrs.set("kernel_block", kernelBlock);
    if (conv.hasRuns) attrs.set("weight_runs", int64_t{1});
    attrs.set("axis_names", std::vector<std::string>{"n", "oc_outer", "oh", "ow", "oc_inner",
                                                     "ic_outer", "kh", "kw", conv.step});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        const bool isWide = kernelBlock >= conv.outBlock;
        const Expr outer = isWide ? floorDiv(i[1], ratio) : i[1] * parts + floorDiv(i[4], block);
        const Expr inner =
            isWide ? floorMod(i[1], ratio) * Expr(conv.outBlock) + i[4] : floorMod(i[4], block);
        const Exprs at = conv.hasRuns ? Exprs{outer, k[0], k[1], k[2], inner, k[3]}
                                      : Exprs{outer, k[0], k[1], k[2], k[3], inner};
        return product(i, k, te::at(weight, at));
    };
    return te::Tensors{te::reduce("conv", extents(op.results[0].shape),
                                  {Expr(w[1]), Expr(w[2]), Expr(w[3]), Expr(inBlock)},
                                  te::Combiner::Sum, step, "conv2d_nchwc", std::move(attrs))};
}

} // namespace tenon::compiler
