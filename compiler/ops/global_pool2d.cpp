// SPDX-License-Identifier: Apache-2.0
// nn.global_avg_pool2d and nn.global_max_pool2d: one value per channel.
#include "compiler/ops/window.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const auto layout = readDataLayout(op, "layout");
    if (!layout) return layout.error();
    if (const Status ok = needRank(op, 0, layout->rank()); !ok) return ok.error();
    TensorType type = op.operands[0];
    type.shape[2] = type.shape[3] = Dim(1);
    return Types{type};
}

te::TensorRef pooled(const te::TensorRef& in, te::Combiner combiner)
{
    Exprs shape = in->shape();
    const Exprs window{shape[2], shape[3]};
    shape[2] = shape[3] = Expr(1);
    std::vector<std::string> names{"n", "c_outer", "oh", "ow", "c_inner", "kh", "kw"};
    if (shape.size() == 4) names = {"n", "c", "oh", "ow", "kh", "kw"};
    return te::reduce("pool", shape, window, combiner,
                      [&](const Exprs& i, const Exprs& k) {
                          Exprs source = i;
                          source[2] = k[0];
                          source[3] = k[1];
                          return te::at(in, source);
                      },
                      "global_pool", {{"axis_names", names}});
}

Result<te::Tensors> lowerMax(const OpView&, const te::Tensors& in)
{
    return te::Tensors{pooled(in[0], te::Combiner::Max)};
}

Result<te::Tensors> lowerAvg(const OpView&, const te::Tensors& in)
{
    const te::TensorRef sum = pooled(in[0], te::Combiner::Sum);
    const Expr count = in[0]->shape()[2] * in[0]->shape()[3];
    const DataType dtype = in[0]->dtype();
    const bool isKnown = count->kind == tir::ExprKind::IntImm && dtype.isFloat();
    const Expr divisor = isKnown ? tir::floatImm(static_cast<double>(count->integer), dtype)
                                 : tir::cast(dtype, count);
    return te::Tensors{te::compute(
        "average", sum->shape(), [&](const Exprs& i) { return te::at(sum, i) / divisor; },
        "elemwise")};
}

Cost cost(const OpView& op) { return {elements(op.operands[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W] or [N, C/b, H, W, b]"}};
constexpr AttrSpec kAttrs[] = {{"layout", "string", "NCHW or blocked like NCHW16c", "\"NCHW\""}};

} // namespace

extern constinit const OpDef globalAvgPool2dOp = {
    .name = "nn.global_avg_pool2d",
    .doc = "y[n, c, 0, 0] = mean over y, x of data[n, c, y, x]",
    .family = Family::Pooling,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .blockedForm = BlockedForm::ByLayout,
    .isBatched = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lowerAvg,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 5, 5), float32] => nn.global_avg_pool2d(%x)",
};

extern constinit const OpDef globalMaxPool2dOp = {
    .name = "nn.global_max_pool2d",
    .doc = "y[n, c, 0, 0] = maximum over y, x of data[n, c, y, x]",
    .family = Family::Pooling,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .blockedForm = BlockedForm::ByLayout,
    .isBatched = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lowerMax,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 5, 5, 4), float32] "
               "=> nn.global_max_pool2d(%x, layout=\"NCHW4c\")",
};

} // namespace tenon::compiler
