// SPDX-License-Identifier: Apache-2.0
// nn.contrib_strassen_weight_transform: filters of 1 x 1 convolutions as products of halves read
// them; computed once, by FoldConstant.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/strassen.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Layout> transformed() { return Layout::parse("HWOI"); }

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    const TensorType& weight = op.operands[0];
    const auto shape = constantShape(weight.shape);
    if (!shape || shape->at(0) % 2 != 0 || shape->at(1) % 2 != 0 || shape->at(2) != 1 ||
        shape->at(3) != 1)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs filters of 1 x 1 and even numbers of channels but the weight is " +
                           weight.text());
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    auto out = relaidShape(
        op, {Dim(kHalvedProducts), Dim(1), Dim(shape->at(0) / 2), Dim(shape->at(1) / 2)},
        *transformed(), *to);
    if (!out) return out.error();
    return Types{{weight.dtype, *std::move(out)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto from = transformed();
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    const std::vector<int64_t> shape = constants(op.operands[0].shape);
    return te::Tensors{te::compute(
        "filter", extents(op.results[0].shape),
        [&](const Exprs& axes) {
            const Exprs i = relaidIndices(axes, *from, *to);
            return halvedWeight(i[0], [&](int64_t row, int64_t column) {
                return te::at(in[0], {i[2] + Expr(row * shape[0] / 2),
                                      i[3] + Expr(column * shape[1] / 2), Expr(0), Expr(0)});
            });
        },
        "injective")};
}

Cost cost(const OpView& op) { return {elements(op.results[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"weight", "[O, I, 1, 1]; O and I even"}};
constexpr AttrSpec kAttrs[] = {{"kernel_layout", "string",
                                "layout of the result; H is which of the seven products",
                                "\"HWOI\""}};

} // namespace

extern constinit const OpDef strassenWeightTransformOp = {
    .name = "nn.contrib_strassen_weight_transform",
    .doc = "y[p, 0, o, i]: factor p of Strassen's seven products, a sum of elements of the "
           "quarters of w, blocked",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%w: Tensor[(8, 4, 1, 1), float32] "
               "=> nn.contrib_strassen_weight_transform(%w, kernel_layout=\"OHWI2i4o\")",
};

} // namespace tenon::compiler
