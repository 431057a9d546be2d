// SPDX-License-Identifier: Apache-2.0
// join_phases: images that are every s-th row and column of one.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kRow = 2, kColumn = 3;

Status needPhases(const OpView& op, const std::vector<int64_t>& strides)
{
    const auto wanted = static_cast<size_t>(std::max<int64_t>(0, strides[0] * strides[1]));
    if (strides[0] < 1 || strides[1] < 1 || wanted != op.operands.size())
        return opError(op, DiagnosticCode::BadAttribute,
                       "has " + std::to_string(op.operands.size()) + " operands for strides [" +
                           join(strides, ", ") + "]");
    return kDone;
}

/// Rows or columns of the result, -1 if not known: phase `i` has those at i, i + stride, ...
int64_t extentOf(const OpView& op, const std::vector<int64_t>& strides, size_t dim)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < (dim == kRow ? strides[0] : strides[1]); ++i) {
        const auto operand = static_cast<size_t>(dim == kRow ? i * strides[1] : i);
        const Dim& extent = op.operands[operand].shape[dim];
        if (!extent.isConst()) return -1;
        sum += extent.value();
    }
    return sum;
}

/// Every phase has the rows or columns that are its own.
Status checkPhases(const OpView& op, const std::vector<int64_t>& strides, size_t dim, int64_t sum)
{
    const int64_t count = dim == kRow ? strides[0] : strides[1];
    for (size_t i = 0; i < op.operands.size(); ++i) {
        const auto phase = static_cast<int64_t>(i);
        const int64_t own = dim == kRow ? phase / strides[1] : phase % strides[1];
        const int64_t wanted = (sum + count - 1 - own) / count;
        if (!(op.operands[i].shape[dim] == Dim(wanted)))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot take " + op.operands[i].text() + " as phase " +
                               std::to_string(i) + ": axis " + std::to_string(dim) + " of " +
                               std::to_string(sum) + " has " + std::to_string(wanted) + " in it");
    }
    return kDone;
}

Result<Types> infer(const OpView& op)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    if (const Status ok = needPhases(op, strides); !ok) return ok.error();
    TensorType out = op.operands[0];
    for (size_t i = 0; i < op.operands.size(); ++i) {
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
        const Shape& shape = op.operands[i].shape;
        bool fits = shape.size() >= 4 && shape.size() == out.shape.size();
        for (size_t d = 0; fits && d < shape.size(); ++d)
            fits = d == kRow || d == kColumn || shape[d] == out.shape[d];
        if (!fits)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot join " + op.operands[0].text() + " and " +
                               op.operands[i].text() + "; they are images of equal channels");
    }
    for (const size_t dim : {kRow, kColumn}) {
        const int64_t extent = extentOf(op, strides, dim);
        if (extent < 0)
            return opError(op, DiagnosticCode::DynamicShape,
                           "needs images of constant size, not " + op.operands[0].text());
        if (const Status ok = checkPhases(op, strides, dim, extent); !ok) return ok.error();
        out.shape[dim] = Dim(extent);
    }
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const auto element = [&](const Exprs& i) {
        const Expr row = floorMod(i[kRow], Expr(strides[0]));
        const Expr column = floorMod(i[kColumn], Expr(strides[1]));
        Exprs source = i;
        source[kRow] = floorDiv(i[kRow], Expr(strides[0]));
        source[kColumn] = floorDiv(i[kColumn], Expr(strides[1]));
        return elementOfPart(in, source, [&](int64_t phase) {
            return equal(row, Expr(phase / strides[1])) && equal(column, Expr(phase % strides[1]));
        });
    };
    return te::Tensors{
        te::compute("join_phases", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C, H, W] or blocked, one per phase, row by row", OperandSpec::Variadic}};
constexpr AttrSpec kAttrs[] = {{"strides", "int[2]", "phases of rows and of columns"}};

} // namespace

extern constinit const OpDef joinPhasesOp = {
    .name = "join_phases",
    .doc = "y[n, c, h, w, ..] = data[h % s0 * s1 + w % s1][n, c, h / s0, w / s1, ..]",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    // A change of layout behind it moves squares by itself, which a choice of phases would hide.
    .pattern = Pattern::OutEwiseFusable,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%a: Tensor[(1, 2, 3, 2), float32], %b: Tensor[(1, 2, 3, 1), float32] "
               "=> join_phases(%a, %b, strides=[1, 2])",
};

} // namespace tenon::compiler
