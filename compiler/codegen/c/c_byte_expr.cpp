// SPDX-License-Identifier: Apache-2.0
// What quantized kernels compute with single instructions: words of bytes, rounding, saturation.
#include "compiler/codegen/c/c_expr.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;
using tir::Intrinsic;

namespace {

bool isIntrinsic(const Expr& expr, Intrinsic intrinsic)
{
    return expr->kind == ExprKind::Intrinsic && expr->intrinsic == intrinsic;
}

bool isDot(const Expr& expr)
{
    return isIntrinsic(expr, Intrinsic::DotI8I8) || isIntrinsic(expr, Intrinsic::DotI8Narrow) ||
           isIntrinsic(expr, Intrinsic::DotU8I8);
}

/// The load behind `cast(int32, cast(uint8, load))`, or null.
const ExprNode* byteLoad(const Expr& expr)
{
    if (expr->kind != ExprKind::Cast || expr->dtype != core::kInt32) return nullptr;
    const Expr& byte = expr->args[0];
    if (byte->dtype != core::kUInt8) return nullptr;
    const Expr& load = byte->kind == ExprKind::Cast ? byte->args[0] : byte;
    return load->kind == ExprKind::Load && load->dtype.bits == 8 ? load.get() : nullptr;
}

/// Bytes 0 to 3 of a quad that quadOf() made, as loads; empty for anything else.
std::vector<const ExprNode*> bytesOfQuad(const Expr& expr)
{
    std::vector<const ExprNode*> out(4, nullptr);
    const Expr* rest = &expr;
    for (size_t byte = 3; byte > 0; --byte) {
        if (!isIntrinsic(*rest, Intrinsic::BitwiseOr)) return {};
        const Expr& shifted = (*rest)->args[1];
        if (!isIntrinsic(shifted, Intrinsic::ShiftLeft) ||
            !shifted->args[1].isConstInt(static_cast<int64_t>(8 * byte)))
            return {};
        out[byte] = byteLoad(shifted->args[0]);
        rest = &(*rest)->args[0];
    }
    out[0] = byteLoad(*rest);
    for (const ExprNode* load : out)
        if (!load || load->buffer != out[0]->buffer) return {};
    return out;
}

} // namespace

/// Four bytes side by side are one load.
std::optional<CExpressions::Piece> CExpressions::wordLoad(const Expr& expr)
{
    const std::vector<const ExprNode*> bytes = bytesOfQuad(expr);
    if (bytes.empty()) return std::nullopt;
    for (size_t byte = 1; byte < 4; ++byte) {
        const Expr step = tir::simplify(bytes[byte]->args[0] - bytes[0]->args[0], m_ranges);
        if (!step.isConstInt(static_cast<int64_t>(byte))) return std::nullopt;
    }
    const std::string index = write(simplified(bytes[0]->args[0])).text;
    return Piece{"load_word(" + m_buffers.at(bytes[0]->buffer.get()) +
                     (index == "0" ? "" : " + " + index) + ")",
                 kCPrimary};
}

CExpressions::Piece CExpressions::dot(const ExprNode& node, const Expr* sum)
{
    const bool isUnsigned = node.intrinsic == Intrinsic::DotU8I8;
    return {std::string(isUnsigned ? "dot_u8(" : "dot_i8(") +
                (sum ? write(*sum).text : write(node.args[0]).text) + ", " +
                write(node.args[1]).text + ", " + write(node.args[2]).text + ")",
            kCPrimary};
}

/// What is added to a dot product is what it starts from.
std::optional<CExpressions::Piece> CExpressions::sumOfDot(const ExprNode& node)
{
    if (node.kind != ExprKind::Add) return std::nullopt;
    for (const size_t side : {size_t{1}, size_t{0}}) {
        const Expr& product = node.args[side];
        if (isDot(product) && product->args[0].isConstInt(0))
            return dot(*product, &node.args[1 - side]);
    }
    return std::nullopt;
}

/// A rounded float as an int32, one instruction where there is a unit for floats.
std::optional<CExpressions::Piece> CExpressions::rounding(const ExprNode& node)
{
    const Expr& value = node.args[0];
    if (node.dtype != core::kInt32 || value->dtype != core::kFloat32 ||
        !isIntrinsic(value, Intrinsic::Round))
        return std::nullopt;
    return Piece{"round_i32(" + write(value->args[0]).text + ")", kCPrimary};
}

/// An int32 limited to what a signed byte holds, one instruction of Arm's.
std::optional<CExpressions::Piece> CExpressions::saturation(const ExprNode& node)
{
    const Expr& least = node.args[0];
    if (node.dtype != core::kInt8 || least->kind != ExprKind::Min || least->dtype != core::kInt32 ||
        !least->args[1].isConstInt(127))
        return std::nullopt;
    const Expr& most = least->args[0];
    if (most->kind != ExprKind::Max || !most->args[1].isConstInt(-128)) return std::nullopt;
    return Piece{"saturate_i8(" + write(most->args[0]).text + ")", kCPrimary};
}

} // namespace tenon::compiler
