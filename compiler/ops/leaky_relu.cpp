// SPDX-License-Identifier: Apache-2.0
// nn.leaky_relu and nn.prelu: a slope for negative values, fixed or given per channel.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

tir::Expr sloped(const tir::Expr& x, const tir::Expr& slope)
{
    return tir::select(x > tir::zeroOf(x->dtype), x, x * slope);
}

Result<Types> inferLeaky(const OpView& op)
{
    if (!op.operands[0].dtype.isFloat())
        return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    return Types{op.operands[0]};
}

Result<te::Tensors> lowerLeaky(const OpView& op, const te::Tensors& in)
{
    const tir::Expr slope = tir::floatImm(floatAttr(op, "alpha"), in[0]->dtype());
    return te::Tensors{te::compute(
        "leaky_relu", in[0]->shape(),
        [&](const Exprs& i) { return sloped(te::at(in[0], i), slope); }, "elemwise")};
}

Result<Types> inferPrelu(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const TensorType& data = op.operands[0];
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    if (const Status ok = needRank(op, 1, 1); !ok) return ok.error();
    const Dim& slopes = op.operands[1].shape[0];
    const Dim& channels = data.shape[static_cast<size_t>(*axis)];
    if (!(slopes == channels) && !(slopes == Dim(1)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects one slope or " + channels.text() + " but alpha has " +
                           slopes.text());
    return Types{data};
}

Result<te::Tensors> lowerPrelu(const OpView& op, const te::Tensors& in)
{
    const auto axis = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    const bool isShared = in[1]->shape()[0].isConstInt(1);
    return te::Tensors{te::compute(
        "prelu", in[0]->shape(),
        [&](const Exprs& i) {
            const tir::Expr channel = isShared ? tir::Expr(0) : i[static_cast<size_t>(*axis)];
            return sloped(te::at(in[0], i), te::at(in[1], {channel}));
        },
        "elemwise")};
}

constexpr OperandSpec kLeakyOperands[] = {{"x", "any shape, floats"}};
constexpr AttrSpec kLeakyAttrs[] = {{"alpha", "float", "slope of the negative side", "0.01"}};
constexpr OperandSpec kPreluOperands[] = {{"data", "any shape, floats"},
                                          {"alpha", "slopes, one or one per channel"}};
constexpr AttrSpec kPreluAttrs[] = {{"axis", "int", "the channel axis", "1"}};

} // namespace

extern constinit const OpDef leakyReluOp = {
    .name = "nn.leaky_relu",
    .doc = "y = x if x > 0, else alpha * x",
    .family = Family::Elementwise,
    .operands = kLeakyOperands,
    .attrs = kLeakyAttrs,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = inferLeaky,
    .lower = lowerLeaky,
    .example = "%x: Tensor[(2, 8), float32] => nn.leaky_relu(%x, alpha=0.1f)",
};

extern constinit const OpDef preluOp = {
    .name = "nn.prelu",
    .doc = "y = x if x > 0, else alpha[c] * x, c the index along `axis`",
    .family = Family::Elementwise,
    .operands = kPreluOperands,
    .attrs = kPreluAttrs,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = inferPrelu,
    .lower = lowerPrelu,
    .example = "%x: Tensor[(1, 4, 2, 2), float32], %a: Tensor[(4,), float32] => nn.prelu(%x, %a)",
};

} // namespace tenon::compiler
