// SPDX-License-Identifier: Apache-2.0
// nn.matmul: products of the last two dimensions, the others broadcast.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Shape with the last two dimensions in the order the product reads them.
Shape oriented(const Shape& shape, bool isTransposed)
{
    Shape out = shape;
    if (isTransposed) std::swap(out[out.size() - 1], out[out.size() - 2]);
    return out;
}

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    for (const TensorType& type : op.operands)
        if (type.shape.size() < 2)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "expects rank 2 or more but an operand is " + type.text());
    const Shape a = oriented(op.operands[0].shape, flagAttr(op, "transpose_a"));
    const Shape b = oriented(op.operands[1].shape, flagAttr(op, "transpose_b"));
    if (!agreedDim(a.back(), b[b.size() - 2]))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot multiply " + op.operands[0].text() + " by " + op.operands[1].text() +
                           "; " + a.back().text() + " columns meet " + b[b.size() - 2].text() +
                           " rows");
    auto shape = broadcastShapes(op, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
    if (!shape) return shape.error();
    shape->push_back(a[a.size() - 2]);
    shape->push_back(b.back());
    return Types{{op.operands[0].dtype, *std::move(shape)}};
}

/// Where a product reads an operand.
struct Cell
{
    Expr row;
    Expr column;
    bool isTransposed;
};

/// An element of an operand for the batch indices in front of `i`.
Expr element(const te::TensorRef& tensor, const Exprs& i, const Exprs& result, const Cell& cell)
{
    const Exprs& shape = tensor->shape();
    const Exprs batchShape(shape.begin(), shape.end() - 2);
    Exprs at = broadcastIndices(batchShape, Exprs(i.begin(), i.end() - 2),
                                Exprs(result.begin(), result.end() - 2));
    at.push_back(cell.isTransposed ? cell.column : cell.row);
    at.push_back(cell.isTransposed ? cell.row : cell.column);
    return te::at(tensor, at);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const bool flipA = flagAttr(op, "transpose_a"), flipB = flagAttr(op, "transpose_b");
    const Exprs shape = extents(op.results[0].shape);
    const Exprs& a = in[0]->shape();
    std::vector<std::string> names;
    for (size_t i = 0; i + 2 < shape.size(); ++i) names.push_back("b" + std::to_string(i));
    names.insert(names.end(), {"m", "n", "k"});
    return te::Tensors{te::reduce(
        "matmul", shape, {flipA ? a[a.size() - 2] : a.back()}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            return element(in[0], i, shape, {i[i.size() - 2], k[0], flipA}) *
                   element(in[1], i, shape, {k[0], i.back(), flipB});
        },
        "matmul",
        {{"axis_names", names}, {"transpose_a", int64_t{flipA}}, {"transpose_b", int64_t{flipB}}})};
}

Cost cost(const OpView& op)
{
    const Shape a = oriented(op.operands[0].shape, flagAttr(op, "transpose_a"));
    return {2 * elements(op.results[0]) * elements({kFloat32, {a.back()}}), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"a", "[.., M, K]"}, {"b", "[.., K, N]"}};
constexpr AttrSpec kAttrs[] = {{"transpose_a", "int", "1: a is [.., K, M]", "0"},
                               {"transpose_b", "int", "1: b is [.., N, K]", "0"}};

} // namespace

extern constinit const OpDef matmulOp = {
    .name = "nn.matmul",
    .doc = "y[.., m, n] = sum over k of a[.., m, k] * b[.., k, n], leading dimensions broadcast",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isRowProduct = true,
    .takesSymbols = true,
    .method = {.kind = Method::Gemm},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%a: Tensor[(2, 1, 3, 4), float32], %b: Tensor[(5, 6, 4), float32] "
               "=> nn.matmul(%a, %b, transpose_b=1)",
};

} // namespace tenon::compiler
