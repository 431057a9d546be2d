// SPDX-License-Identifier: Apache-2.0
// A quad is a chain of bitwise_or of bytes that are widened and shifted.
#include "compiler/codegen/llvm/byte_quads.h"

#include "compiler/codegen/llvm/unsplat.h"
#include "core/ir/tir/simplify.h"

#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

constexpr int64_t kQuad = 4;
using Parts = std::array<Expr, kQuad>;

/// The bytes that `expr` widens to uint8, and at which byte of their quads.
struct Part
{
    Expr bytes;
    int64_t at;
};

std::optional<Part> partOf(const ExprNode& expr)
{
    if (expr.kind == ExprKind::Cast && expr.args[0]->dtype.scalar() == kUInt8)
        return Part{expr.args[0], 0};
    if (expr.kind != ExprKind::Intrinsic || expr.intrinsic != tir::Intrinsic::ShiftLeft)
        return std::nullopt;
    const Expr& count = unsplat(expr.args[1]);
    auto part = partOf(*expr.args[0]);
    if (!part || part->at != 0 || count->kind != ExprKind::IntImm || count->integer % 8 != 0)
        return std::nullopt;
    part->at = count->integer / 8;
    return part;
}

bool collect(const ExprNode& expr, Parts& parts)
{
    if (expr.kind == ExprKind::Intrinsic && expr.intrinsic == tir::Intrinsic::BitwiseOr)
        return collect(*expr.args[0], parts) && collect(*expr.args[1], parts);
    const auto part = partOf(expr);
    if (!part || part->at < 0 || part->at >= kQuad) return false;
    Expr& at = parts[static_cast<size_t>(part->at)];
    if (at.get()) return false;
    at = part->bytes;
    return true;
}

/// The load of the first of a part's bytes; null where lanes are not quads apart.
Expr firstByteOf(const Expr& part)
{
    const bool isSigned = part->kind == ExprKind::Cast && part->args[0]->dtype.scalar() == kInt8;
    const Expr& load = isSigned ? part->args[0] : part;
    if (load->kind != ExprKind::Load || load->buffer->dtype.bytes() != 1) return {};
    const Expr& index = load->args[0];
    if (index->dtype.lanes == 1) return load;
    const bool isEven = index->kind == ExprKind::Ramp && index->args[1].isConstInt(kQuad);
    return isEven ? tir::load(load->buffer, {index->args[0]}) : Expr();
}

} // namespace

bool collectQuad(const ExprNode& expr, Parts& parts)
{
    return expr.kind == ExprKind::Intrinsic && expr.intrinsic == tir::Intrinsic::BitwiseOr &&
           collect(expr, parts);
}

Expr firstByteOfQuads(const ExprNode& expr)
{
    Parts parts;
    if (!collectQuad(expr, parts)) return {};
    Expr first;
    for (size_t i = 0; i < parts.size(); ++i) {
        const Expr byte = parts[i].get() ? firstByteOf(parts[i]) : Expr();
        if (!byte.get()) return {};
        if (i == 0) first = byte;
        const Expr distance = tir::simplify(byte->args[0] - first->args[0]);
        if (byte->buffer != first->buffer || !distance.isConstInt(static_cast<int64_t>(i)))
            return {};
    }
    return first;
}

} // namespace tenon::compiler
