// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic shared by the operators.
#include "compiler/ops/shapes.h"

#include "compiler/ops/symbols.h"
#include "core/base/text.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/text.h"
#include "core/tensor/dim_products.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The dimension both agree on; nothing when they do not.
std::optional<Dim> joinedDim(const Dim& a, const Dim& b)
{
    if (a == b || b == Dim(1)) return a;
    if (a == Dim(1)) return b;
    if (a.isConst() && b.isConst()) return std::nullopt;
    // One of them may turn out to be 1; sizeChecks() says what to check at run time.
    if (a.isConst() || b.isConst()) return a.isConst() ? a : b;
    return maximum(a, b);
}

bool isSameExtent(const tir::Expr& a, const tir::Expr& b)
{
    const bool isKnown = a->kind == tir::ExprKind::IntImm && b->kind == tir::ExprKind::IntImm;
    return isKnown ? a->integer == b->integer : tir::print(a) == tir::print(b);
}

} // namespace

Result<Shape> broadcastShapes(const OpView& op, const Shape& a, const Shape& b)
{
    Shape out(std::max(a.size(), b.size()), Dim(1));
    for (size_t i = 0; i < out.size(); ++i) {
        const Dim x = i < a.size() ? a[a.size() - 1 - i] : Dim(1);
        const Dim y = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
        const auto joined = joinedDim(x, y);
        if (!joined)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot broadcast " + shapeText(a) + " with " + shapeText(b) +
                               "; dimensions, counted from the end, must be equal or 1");
        out[out.size() - 1 - i] = *joined;
    }
    return out;
}

Exprs broadcastIndices(const Exprs& shape, const Exprs& indices, const Exprs& result)
{
    const size_t skipped = indices.size() - shape.size();
    Exprs out(indices.begin() + static_cast<std::ptrdiff_t>(skipped), indices.end());
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i].isConstInt(1))
            out[i] = tir::Expr(0);
        else if (!isSameExtent(shape[i], result[skipped + i]))
            out[i] = minimum(out[i], shape[i] - tir::Expr(1)); // the extent is this one or 1
    }
    return out;
}

std::optional<Dim> agreedDim(const Dim& a, const Dim& b)
{
    if (const Dim gap = a - b; gap.isConst() && gap.value() != 0) return std::nullopt;
    return b.isConst() ? b : a;
}

Result<int64_t> normalAxis(const OpView& op, int64_t axis, size_t rank)
{
    const auto r = static_cast<int64_t>(rank);
    if (axis < -r || axis >= r)
        return opError(op, DiagnosticCode::BadAttribute,
                       "axis " + std::to_string(axis) + " is out of range for rank " +
                           std::to_string(r));
    return axis < 0 ? axis + r : axis;
}

Result<std::vector<int64_t>> normalAxes(const OpView& op, std::vector<int64_t> axes, size_t rank)
{
    for (int64_t& axis : axes) {
        const auto normal = normalAxis(op, axis, rank);
        if (!normal) return normal.error();
        axis = *normal;
    }
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

Status needRank(const OpView& op, size_t operand, size_t rank)
{
    const TensorType& type = op.operands[operand];
    if (type.shape.size() == rank) return kDone;
    const OpDef* def = findOp(op.op);
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "expects " + quoted(def->operands[operand].name) + " of rank " +
                       std::to_string(rank) + " but it is " + type.text());
}

Status needSameDtype(const OpView& op, size_t a, size_t b)
{
    if (op.operands[a].dtype == op.operands[b].dtype) return kDone;
    return opError(op, DiagnosticCode::DtypeMismatch,
                   "operands are " + op.operands[a].dtype.text() + " and " +
                       op.operands[b].dtype.text() + "; insert a cast");
}

Exprs extents(const Shape& shape)
{
    Exprs out;
    for (const Dim& dim : shape) out.push_back(extentOf(dim));
    return out;
}

std::vector<int64_t> constants(const Shape& shape)
{
    std::vector<int64_t> out;
    for (const Dim& dim : shape) out.push_back(dim.value());
    return out;
}

int64_t countOf(const Exprs& shape)
{
    int64_t count = 1;
    for (const tir::Expr& extent : shape) {
        CHECK(extent->kind == tir::ExprKind::IntImm) << "symbolic extent";
        count *= extent->integer;
    }
    return count;
}

tir::Expr safeIndex(const tir::Expr& index, const tir::Expr& extent)
{
    const tir::Expr wide = tir::cast(kInt64, index);
    const tir::Expr counted = tir::select(wide < tir::Expr(0), wide + extent, wide);
    return minimum(maximum(counted, tir::Expr(0)), extent - tir::Expr(1));
}

tir::Expr flatIndex(const Exprs& shape, const Exprs& indices)
{
    tir::Expr flat(0);
    for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + indices[i];
    return flat;
}

tir::Expr elementOfPart(const te::Tensors& parts, const Exprs& at,
                        const std::function<tir::Expr(int64_t)>& isOf)
{
    tir::Expr out = te::at(parts.back(), at);
    for (size_t i = parts.size() - 1; i-- > 0;)
        out = tir::call(tir::Intrinsic::IfThenElse, out->dtype,
                        {isOf(static_cast<int64_t>(i)), te::at(parts[i], at), out});
    return out;
}

tir::Expr atSamePosition(const te::TensorRef& tensor, const Exprs& shape, const Exprs& indices)
{
    tir::Ranges ranges;
    for (size_t i = 0; i < shape.size(); ++i)
        if (indices[i]->kind == tir::ExprKind::VarRef && shape[i]->kind == tir::ExprKind::IntImm &&
            shape[i]->integer > 0)
            ranges[indices[i]->var.get()] = {0, shape[i]->integer - 1};
    const tir::Expr flat = flatIndex(shape, indices);
    const Exprs& source = tensor->shape();
    Exprs out(source.size());
    tir::Expr below(1);
    for (size_t i = source.size(); i-- > 0;) {
        const tir::Expr above = floorDiv(flat, below);
        // The outermost dimension needs no remainder: positions end with the tensor.
        out[i] = simplify(i == 0 ? above : floorMod(above, source[i]), ranges);
        if (source[i].isConstInt(1)) out[i] = tir::Expr(0);
        below = below * source[i];
    }
    return te::at(tensor, std::move(out));
}

double elements(const TensorType& type)
{
    double count = 1;
    for (const Dim& dim : type.shape) count *= static_cast<double>(dim.constant().value_or(1));
    return count;
}

double bytesMoved(const OpView& op)
{
    double bytes = 0;
    for (size_t i = 0; i < op.operands.size(); ++i)
        if (op.isPresent(i))
            bytes += elements(op.operands[i]) * static_cast<double>(op.operands[i].dtype.bytes());
    for (const TensorType& type : op.results)
        bytes += elements(type) * static_cast<double>(type.dtype.bytes());
    return bytes;
}

} // namespace tenon::compiler
