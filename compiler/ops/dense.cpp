// SPDX-License-Identifier: Apache-2.0
// nn.dense and nn.contrib_dense_pack: a matrix times the transpose of a weight matrix.
#include "compiler/ops/layout.h"
#include "compiler/ops/packed_rows.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Status checkInner(const OpView& op, const Dim& k)
{
    if (agreedDim(op.operands[0].shape[1], k)) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "expects rows of " + k.text() + " values but `data` has " +
                       op.operands[0].shape[1].text() + "; the weight is " + op.operands[1].text());
}

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 2); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 2); !ok) return ok.error();
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const Shape& weight = op.operands[1].shape;
    if (const Status ok = checkInner(op, weight[1]); !ok) return ok.error();
    return Types{{op.operands[0].dtype, {op.operands[0].shape[0], weight[0]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    return te::Tensors{
        te::reduce("dense", extents(op.results[0].shape), {in[0]->shape()[1]}, te::Combiner::Sum,
                   [&](const Exprs& i, const Exprs& k) {
                       return te::at(in[0], {i[0], k[0]}) * te::at(in[1], {i[1], k[0]});
                   },
                   "dense", {{"axis_names", std::vector<std::string>{"m", "n", "k"}}})};
}

Cost cost(const OpView& op)
{
    return {2 * elements(op.operands[0]) * elements({kFloat32, {op.results[0].shape[1]}}),
            bytesMoved(op)};
}

Result<int64_t> packBlock(const OpView& op)
{
    const auto layout = Layout::parse(stringAttr(op, "weight_layout"));
    if (!layout) return layout.error();
    const int64_t block = layout->block('N');
    if (layout->text() != "NK" + std::to_string(block) + "n")
        return opError(op, DiagnosticCode::BadAttribute,
                       "weight_layout is " + quoted(layout->text()) + "; it must be NK<b>n");
    return block;
}

Result<Types> inferPack(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 2); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 3); !ok) return ok.error();
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const auto block = packBlock(op);
    if (!block) return block.error();
    const Shape& weight = op.operands[1].shape;
    if (const Status ok = checkInner(op, weight[1]); !ok) return ok.error();
    if (!(weight[2] == Dim(*block)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "has blocks of " + weight[2].text() + " but the layout " +
                           stringAttr(op, "weight_layout"));
    return Types{{op.operands[0].dtype, {op.operands[0].shape[0], weight[0] * weight[2]}}};
}

Result<te::Tensors> lowerPack(const OpView& op, const te::Tensors& in)
{
    const auto block = packBlock(op);
    if (!block) return block.error();
    return te::Tensors{te::reduce(
        "dense", extents(op.results[0].shape), {in[0]->shape()[1]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            return te::at(in[0], {i[0], k[0]}) * packedRowAt(in[1], i[1], k[0]);
        },
        "dense_pack",
        {{"axis_names", std::vector<std::string>{"m", "n", "k"}}, {"out_block", *block}})};
}

constexpr OperandSpec kOperands[] = {{"data", "[M, K]"}, {"weight", "[N, K]"}};
constexpr OperandSpec kPackOperands[] = {{"data", "[M, K]"}, {"weight", "[N/b, K, b]"}};
constexpr AttrSpec kPackAttrs[] = {{"weight_layout", "string", "NK<b>n"}};

} // namespace

extern constinit const OpDef denseOp = {
    .name = "nn.dense",
    .doc = "y[m, n] = sum over k of data[m, k] * weight[n, k]",
    .family = Family::Dense,
    .operands = kOperands,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .isRowProduct = true,
    .takesSymbols = true,
    .method = {.kind = Method::Gemm},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32], %w: Tensor[(6, 8), float32] => nn.dense(%x, %w)",
};

extern constinit const OpDef densePackOp = {
    .name = "nn.contrib_dense_pack",
    .doc = "nn.dense with the weight in blocks of rows: row n is [n / b, .., n % b]",
    .family = Family::Dense,
    .operands = kPackOperands,
    .attrs = kPackAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .isRowProduct = true,
    .takesSymbols = true,
    .method = {.kind = Method::PackedGemm},
    .infer = inferPack,
    .lower = lowerPack,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32], %w: Tensor[(2, 8, 4), float32] "
               "=> nn.contrib_dense_pack(%x, %w, weight_layout=\"NK4n\")",
};

} // namespace tenon::compiler
