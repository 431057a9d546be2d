// SPDX-License-Identifier: Apache-2.0
// What quantized kernels compute with single instructions: words of bytes, rounding, saturation.
#include "compiler/codegen/c/c_expr.h"
#include "core/ir/tir/visit.h"

#include <cmath>
#include <cstdlib>

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

/// A float32 that is a constant whole number of 16 bits.
std::optional<int64_t> wholeNumber(const Expr& expr)
{
    if (expr->dtype != core::kFloat32) return std::nullopt;
    if (expr->kind == ExprKind::Cast) {
        const Expr& from = expr->args[0];
        const bool isSmall = from->kind == ExprKind::IntImm && std::abs(from->integer) < 1 << 15;
        return isSmall ? std::optional(from->integer) : std::nullopt;
    }
    if (expr->kind != ExprKind::FloatImm || !(std::abs(expr->number) < 1 << 15) ||
        expr->number != std::trunc(expr->number))
        return std::nullopt;
    return static_cast<int64_t>(expr->number);
}

/// min(x, number) or max(x, number) of float32.
bool isLimit(const Expr& expr, ExprKind kind, int64_t number)
{
    return expr->kind == kind && expr->dtype == core::kFloat32 &&
           wholeNumber(expr->args[1]) == number;
}

/// sum += bytes . words
struct RunDot
{
    const ExprNode *sum, *bytes, *words;
};

/// What one step further reads, less what this one does; -1 where nobody knows.
int64_t stepOf(const Expr& index, const tir::Var& step)
{
    const Expr next = tir::substitute(index, {{step.get(), Expr(step) + Expr(1)}});
    const Expr distance = tir::simplify(next - index);
    return distance->kind == ExprKind::IntImm ? distance->integer : -1;
}

std::optional<RunDot> runDot(const tir::Var& step, const tir::Stmt& body)
{
    if (body->kind != tir::StmtKind::Store || body->value->kind != ExprKind::Add ||
        body->value->dtype != core::kInt32)
        return std::nullopt;
    const Expr& dot = body->value->args[1];
    const Expr& sum = body->value->args[0];
    if (!isDot(dot) || dot->intrinsic == Intrinsic::DotU8I8 || !dot->args[0].isConstInt(0) ||
        sum->kind != ExprKind::Load || sum->buffer != body->buffer ||
        !tir::structuralEqual(sum->args[0], body->indices[0]) || stepOf(sum->args[0], step) != 0)
        return std::nullopt;
    const ExprNode* bytes = firstByte(dot->args[1]);
    const Expr& words = dot->args[2];
    if (!bytes || bytes->buffer->dtype != core::kInt8 || stepOf(bytes->args[0], step) != 4 ||
        words->kind != ExprKind::Load || stepOf(words->args[0], step) != 1)
        return std::nullopt;
    return RunDot{sum.get(), bytes, words.get()};
}

} // namespace

const ExprNode* firstByte(const Expr& quad)
{
    const std::vector<const ExprNode*> bytes = bytesOfQuad(quad);
    for (size_t byte = 1; byte < bytes.size(); ++byte)
        if (!tir::simplify(bytes[byte]->args[0] - bytes[0]->args[0])
                 .isConstInt(static_cast<int64_t>(byte)))
            return nullptr;
    return bytes.empty() ? nullptr : bytes[0];
}

/// Four bytes side by side are one load.
std::optional<CExpressions::Piece> CExpressions::wordLoad(const Expr& expr)
{
    const std::vector<const ExprNode*> bytes = bytesOfQuad(expr);
    if (bytes.empty()) return std::nullopt;
    for (size_t byte = 1; byte < 4; ++byte) {
        const Expr step = tir::simplify(bytes[byte]->args[0] - bytes[0]->args[0], m_ranges);
        if (!step.isConstInt(static_cast<int64_t>(byte))) return std::nullopt;
    }
    return Piece{"load_word(" + address(bytes[0]->buffer, bytes[0]->args[0]) + ")", kCPrimary};
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

bool CExpressions::isDotOfRuns(const tir::Var& step, const tir::Stmt& body) const
{
    return runDot(step, body).has_value();
}

std::vector<std::string> CExpressions::dotOfRuns(const tir::Var& step, int64_t count,
                                                 const tir::Stmt& body)
{
    const std::optional<RunDot> dot = runDot(step, body);
    if (!dot || count < 2) return {};
    std::vector<std::string> out;
    const std::string sum = element(*dot->sum);
    for (int64_t at = 0; at < count;) {
        const int64_t words = count - at >= 4 ? 4 : count - at >= 2 ? 2 : 1;
        const tir::VarMap here{{step.get(), Expr(at)}};
        const std::string bytes =
            address(dot->bytes->buffer, tir::substitute(dot->bytes->args[0], here));
        const std::string weights =
            address(dot->words->buffer, tir::substitute(dot->words->args[0], here));
        if (words == 1)
            out.push_back(sum + " = dot_i8(" + sum + ", load_word(" + bytes + "), load_word(" +
                          weights + "));");
        else
            out.push_back(sum + " = dot_i8x" + std::to_string(4 * words) + "(" + sum + ", " +
                          bytes + ", " + weights + ");");
        at += words;
    }
    return out;
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

/// A rounded float plus a whole number, limited to what a signed byte holds.
std::optional<CExpressions::Piece> CExpressions::quantization(const ExprNode& node)
{
    const Expr& least = node.args[0];
    if (node.dtype != core::kInt8 || !isLimit(least, ExprKind::Min, 127)) return std::nullopt;
    const Expr& most = least->args[0];
    if (!isLimit(most, ExprKind::Max, -128) || most->args[0]->kind != ExprKind::Add)
        return std::nullopt;
    const Expr &whole = most->args[0]->args[0], &addend = most->args[0]->args[1];
    const auto zeroPoint = wholeNumber(addend);
    if (!zeroPoint || !isIntrinsic(whole, Intrinsic::Round)) return std::nullopt;
    return Piece{"quantize_i8(" + write(whole->args[0]).text + ", " + std::to_string(*zeroPoint) +
                     ")",
                 kCPrimary};
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
