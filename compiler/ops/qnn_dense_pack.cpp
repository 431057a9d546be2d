// SPDX-License-Identifier: Apache-2.0
// qnn.contrib_dense_pack: quantized dense layer for dot-product instructions: four values of a row
// of the weight in one int32.
#include "compiler/ops/packed_rows.h"
#include "compiler/ops/quads.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 2); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 3); !ok) return ok.error();
    const TensorType& data = op.operands[0];
    const TensorType& weight = op.operands[1];
    if (!isByte(data.dtype) || weight.dtype != kInt32)
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes 8-bit data and weights packed into int32 but got " + data.text() +
                           " and " + weight.text());
    if (!(data.shape[1] == weight.shape[1] * Dim(4)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects rows of " + (weight.shape[1] * Dim(4)).text() +
                           " values but `data` is " + data.text());
    return Types{{kInt32, {data.shape[0], weight.shape[0] * weight.shape[2]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs weight = in[1]->shape();
    const Expr b = weight[2];
    return te::Tensors{te::reduce(
        "dense", extents(op.results[0].shape), {weight[1]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            const Expr quad = quadOf(4, [&](int64_t byte) {
                return te::at(in[0], {i[0], k[0] * Expr(4) + Expr(byte)});
            });
            const Expr word = packedRowAt(in[1], i[1], k[0]);
            return dotOfQuads(quad, word, {in[0]->dtype(), hasNarrowWeight(op)});
        },
        "dense_pack",
        {{"axis_names", std::vector<std::string>{"m", "n", "k"}}, {"out_block", b->integer}})};
}

Cost cost(const OpView& op)
{
    return {2 * elements(op.operands[0]) * elements({kFloat32, {op.results[0].shape[1]}}),
            bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[M, K], 8-bit integers"},
    {"weight", "[N/b, K/4, b]: int8 of columns 4q..4q+3 in one int32"}};
constexpr AttrSpec kAttrs[] = {kNarrowWeightAttr};

} // namespace

extern constinit const OpDef qnnDensePackOp = {
    .name = "qnn.contrib_dense_pack",
    .doc = "y[m, n] = sum over k of data[m, k] * weight[n, k] in int32, rows of the weight in "
           "blocks; zero points are the caller's to subtract",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .isRowProduct = true,
    .method = {.kind = Method::PackedGemm, .isInt8 = true},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), uint8], %w: Tensor[(2, 2, 16), int32] "
               "=> qnn.contrib_dense_pack(%x, %w)",
};

} // namespace tenon::compiler
