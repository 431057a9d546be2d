// SPDX-License-Identifier: Apache-2.0
// Precedences are C's own: 14 unary, 13 multiplication, 12 addition, ...; higher binds tighter.
#include "compiler/codegen/c/c_expr.h"

#include "compiler/codegen/c/c_text.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;
using tir::Intrinsic;

namespace {

enum Precedence
{
    kTernary = 3,
    kOr = 4,
    kAnd = 5,
    kBits = 8,
    kEquality = 9,
    kRelation = 10,
    kShift = 11,
    kSum = 12,
    kProduct = 13,
    kUnary = 14,
    kPrimary = kCPrimary
};

bool fits32(const std::optional<tir::IntRange>& range)
{
    return range && range->min >= INT32_MIN && range->max <= INT32_MAX;
}

/// True for values that come from memory; the others are loop variables and constants.
bool isData(const Expr& expr)
{
    bool found = false;
    tir::visitExprs(expr, [&](const Expr& e) {
        found = found || e->kind == ExprKind::Load;
        return !found;
    });
    return found;
}

std::string unsignedType(DataType dtype) { return dtype.bits > 32 ? "uint64_t" : "uint32_t"; }

/// Name in <math.h>, or null.
const char* mathName(Intrinsic intrinsic)
{
    switch (intrinsic) {
    case Intrinsic::Acos: return "acos";
    case Intrinsic::Acosh: return "acosh";
    case Intrinsic::Asin: return "asin";
    case Intrinsic::Asinh: return "asinh";
    case Intrinsic::Atan: return "atan";
    case Intrinsic::Atanh: return "atanh";
    case Intrinsic::Ceil: return "ceil";
    case Intrinsic::Cos: return "cos";
    case Intrinsic::Cosh: return "cosh";
    case Intrinsic::Erf: return "erf";
    case Intrinsic::Exp:
    case Intrinsic::ExpNonPositive: return "exp";
    case Intrinsic::Floor: return "floor";
    case Intrinsic::Log: return "log";
    case Intrinsic::Pow: return "pow";
    case Intrinsic::Round: return "rint"; // ties to even, in the default rounding mode
    case Intrinsic::Sin: return "sin";
    case Intrinsic::Sinh: return "sinh";
    case Intrinsic::Sqrt: return "sqrt";
    case Intrinsic::Tan: return "tan";
    case Intrinsic::Tanh: return "tanh";
    case Intrinsic::Trunc: return "trunc";
    default: return nullptr;
    }
}

/// Of a helper that needs no library, for float32; or null.
const char* ownName(const ExprNode& node)
{
    if (node.intrinsic == Intrinsic::Exp || node.intrinsic == Intrinsic::ExpNonPositive)
        return "exp_f32";
    if (node.intrinsic == Intrinsic::Reinterpret) {
        const DataType from = node.args[0]->dtype;
        if (from == core::kFloat32 && node.dtype == core::kInt32) return "i32_of_f32";
        return from == core::kInt32 && node.dtype == core::kFloat32 ? "f32_of_i32" : nullptr;
    }
    return node.intrinsic == Intrinsic::Round ? "round_f32" : nullptr;
}

} // namespace

Expr laneOf(const Expr& vector, const Expr& lane)
{
    if (vector->dtype.lanes == 1) return vector;
    switch (vector->kind) {
    case ExprKind::Ramp: return vector->args[0] + lane * vector->args[1];
    case ExprKind::Broadcast: return vector->args[0];
    case ExprKind::Load: return tir::load(vector->buffer, {laneOf(vector->args[0], lane)});
    case ExprKind::Cast:
        return tir::cast(vector->dtype.withLanes(1), laneOf(vector->args[0], lane));
    default: break;
    }
    std::vector<Expr> args;
    for (const Expr& arg : vector->args) args.push_back(laneOf(arg, lane));
    return tir::withArgs(vector, std::move(args));
}

std::string CExpressions::declare(const tir::Var& var, std::optional<tir::IntRange> range)
{
    if (range) m_ranges[var.get()] = *range;
    return m_vars[var.get()] = uniqueIdentifier(var->name, m_taken);
}

std::string CExpressions::declare(const tir::Buffer& buffer)
{
    if (cType(buffer->dtype).empty())
        fail(core::DiagnosticCode::UnsupportedDtype,
             "C has no type " + buffer->dtype.text() + "; convert the model to float32");
    return m_buffers[buffer.get()] = uniqueIdentifier(buffer->name, m_taken);
}

std::string CExpressions::indexType(const Expr& expr) const
{
    return fits32(boundsOf(expr)) ? "int32_t" : "int64_t";
}

void CExpressions::fail(core::DiagnosticCode code, const std::string& what)
{
    if (!m_problem) m_problem = core::makeError(code, what);
}

std::string CExpressions::inside(const Expr& expr, int outer)
{
    Piece piece = write(expr);
    return piece.precedence < outer ? "(" + piece.text + ")" : piece.text;
}

CExpressions::Piece CExpressions::write(const Expr& expr)
{
    const ExprNode& node = *expr;
    CHECK(node.dtype.lanes == 1) << "a vector in C";
    switch (node.kind) {
    case ExprKind::IntImm: {
        if (node.dtype.isBool()) return {node.integer ? "1" : "0", kPrimary};
        const std::string text = cInteger(node.integer, node.dtype);
        return {text, text[0] == '-' ? kUnary : kPrimary};
    }
    case ExprKind::FloatImm: {
        const std::string text = cFloat(node.number, node.dtype);
        return {text, text[0] == '-' ? kUnary : kPrimary};
    }
    case ExprKind::VarRef: return {m_vars.at(node.var.get()), kPrimary};
    case ExprKind::Load: {
        const std::string text = element(node);
        return {node.buffer->dtype.isBool() ? text + " != 0" : text,
                node.buffer->dtype.isBool() ? kEquality : kPrimary};
    }
    case ExprKind::Equal: return comparison(node, " == ");
    case ExprKind::NotEqual: return comparison(node, " != ");
    case ExprKind::Less: return comparison(node, " < ");
    case ExprKind::LessEqual: return comparison(node, " <= ");
    case ExprKind::Greater: return comparison(node, " > ");
    case ExprKind::GreaterEqual: return comparison(node, " >= ");
    // Compilers warn of && within || without parentheses: ask for one level more.
    case ExprKind::And:
        return {inside(node.args[0], kAnd) + " && " + inside(node.args[1], kAnd), kAnd};
    case ExprKind::Or:
        return {inside(node.args[0], kAnd + 1) + " || " + inside(node.args[1], kAnd + 1), kOr};
    case ExprKind::Not: return {"!" + inside(node.args[0], kUnary), kUnary};
    case ExprKind::Select:
        return {inside(node.args[0], kOr) + " ? " + inside(node.args[1], kOr) + " : " +
                    inside(node.args[2], kOr),
                kTernary};
    case ExprKind::Cast: return conversion(node);
    case ExprKind::FloorDiv: return division(node, false);
    case ExprKind::FloorMod: return division(node, true);
    case ExprKind::Min:
    case ExprKind::Max: return extremum(node);
    case ExprKind::Intrinsic: return intrinsic(node, expr);
    default: return arithmetic(node, expr);
    }
}

std::string CExpressions::element(const ExprNode& load)
{
    const std::string& name = m_buffers.at(load.buffer.get());
    const Expr index = simplified(load.args[0]);
    if (!isOfVectors(load.buffer)) return name + "[" + write(index).text + "]";
    return name + "[" + write(simplified(tir::floorDiv(index, Expr(4)))).text + "][" +
           write(simplified(tir::floorMod(index, Expr(4)))).text + "]";
}

std::string CExpressions::address(const tir::Buffer& buffer, const Expr& index)
{
    const std::string at = write(simplified(index)).text;
    return m_buffers.at(buffer.get()) + (at == "0" ? "" : " + " + at);
}

CExpressions::Piece CExpressions::comparison(const ExprNode& node, const char* sign)
{
    return {inside(node.args[0], kShift) + sign + inside(node.args[1], kShift), kRelation};
}

CExpressions::Piece CExpressions::arithmetic(const ExprNode& node, const Expr& handle)
{
    if (auto sum = sumOfDot(node)) return *sum;
    if (tir::needsSafeDivisor(node, m_ranges, m_loaded)) return safeDivision(node);
    if (node.kind == ExprKind::Mod && node.dtype.isFloat())
        return function(node.dtype.bits == 64 ? "fmod" : "fmodf", node);
    const bool isSum = node.kind == ExprKind::Add || node.kind == ExprKind::Sub;
    const char* sign = node.kind == ExprKind::Add   ? " + "
                       : node.kind == ExprKind::Sub ? " - "
                       : node.kind == ExprKind::Mul ? " * "
                       : node.kind == ExprKind::Div ? " / "
                                                    : " % ";
    const int precedence = isSum ? kSum : kProduct;
    // The right side of - and / needs parentheses at its own level, and so does float arithmetic,
    // whose order of operations is part of the result.
    const int right = precedence + 1;
    std::string a = inside(node.args[0], precedence);
    std::string b = inside(node.args[1], right);
    if (node.dtype.isFloat() || node.kind == ExprKind::Div || node.kind == ExprKind::Mod)
        return {a + sign + b, precedence};
    if (!isData(handle)) {
        if (node.dtype == core::kInt64 && !fits32(boundsOf(handle)))
            a = "(int64_t)" + inside(node.args[0], kUnary);
        return {a + sign + b, precedence};
    }
    if (node.dtype.bits < 32) return {"(" + cType(node.dtype) + ")(" + a + sign + b + ")", kUnary};
    if (!node.dtype.isSigned()) return {a + sign + b, precedence};
    // Overflow of signed numbers is undefined in C; here it wraps.
    const std::string wrap = "(" + unsignedType(node.dtype) + ")";
    return {"(" + cType(node.dtype) + ")(" + wrap + inside(node.args[0], kUnary) + sign + wrap +
                inside(node.args[1], kUnary) + ")",
            kUnary};
}

CExpressions::Piece CExpressions::division(const ExprNode& node, bool wantsRemainder)
{
    if (tir::needsSafeDivisor(node, m_ranges, m_loaded)) return safeDivision(node);
    const auto a = boundsOf(node.args[0]);
    const auto b = boundsOf(node.args[1]);
    const bool isPlain = !node.dtype.isSigned() || (a && a->min >= 0 && b && b->min > 0);
    if (isPlain)
        return {inside(node.args[0], kProduct) + (wantsRemainder ? " % " : " / ") +
                    inside(node.args[1], kUnary),
                kProduct};
    return function((wantsRemainder ? "floormod_" : "floordiv_") + cSuffix(node.dtype), node);
}

/// Division by zero and of the lowest number by -1 is undefined in C.
CExpressions::Piece CExpressions::safeDivision(const ExprNode& node)
{
    const bool isFloor = (node.kind == ExprKind::FloorDiv || node.kind == ExprKind::FloorMod) &&
                         node.dtype.isSigned();
    const bool isQuotient = node.kind == ExprKind::Div || node.kind == ExprKind::FloorDiv;
    const std::string name = std::string("checked_") + (isFloor ? "floor" : "") +
                             (isQuotient ? "div_" : "mod_") + cSuffix(node.dtype);
    const Piece call = function(name, node);
    if (node.dtype.bits >= 32) return call;
    return {"(" + cType(node.dtype) + ")" + call.text, kUnary};
}

CExpressions::Piece CExpressions::extremum(const ExprNode& node)
{
    const bool isIndex = node.dtype == core::kInt64 && fits32(boundsOf(node.args[0])) &&
                         fits32(boundsOf(node.args[1]));
    return function((node.kind == ExprKind::Min ? "min_" : "max_") +
                        cSuffix(isIndex ? core::kInt32 : node.dtype),
                    node);
}

CExpressions::Piece CExpressions::function(const std::string& name, const ExprNode& node)
{
    std::vector<std::string> arguments;
    for (const Expr& arg : node.args) arguments.push_back(write(arg).text);
    return {name + "(" + core::join(arguments, ", ") + ")", kPrimary};
}

CExpressions::Piece CExpressions::conversion(const ExprNode& node)
{
    const Expr& source = node.args[0];
    if (auto rounded = rounding(node)) return *rounded;
    if (auto saturated = saturation(node)) return *saturated;
    if (auto quantized = quantization(node)) return *quantized;
    if (node.dtype.isBool()) return {inside(source, kShift) + " != 0", kEquality};
    const std::string type = cType(node.dtype);
    if (type.empty())
        fail(core::DiagnosticCode::UnsupportedDtype,
             "C has no type " + node.dtype.text() + "; convert the model to float32");
    return {"(" + type + ")" + inside(source, kUnary), kUnary};
}

CExpressions::Piece CExpressions::shift(const ExprNode& node, const char* sign)
{
    const std::string by = inside(node.args[1], kUnary);
    const bool isLeft = node.intrinsic == Intrinsic::ShiftLeft;
    if (!isLeft || !node.dtype.isSigned())
        return {"(" + cType(node.dtype) + ")(" + inside(node.args[0], kUnary) + sign + by + ")",
                kUnary};
    return {"(" + cType(node.dtype) + ")((" + unsignedType(node.dtype) + ")" +
                inside(node.args[0], kUnary) + sign + by + ")",
            kUnary};
}

CExpressions::Piece CExpressions::intrinsic(const ExprNode& node, const Expr& handle)
{
    const bool isDouble = node.dtype.bits == 64;
    if (const char* own = isDouble ? nullptr : ownName(node)) return function(own, node);
    if (const char* name = mathName(node.intrinsic))
        return function(isDouble ? name : name + std::string("f"), node);
    const auto bits = [&](const char* sign) -> Piece {
        return {"(" + cType(node.dtype) + ")(" + inside(node.args[0], kUnary) + sign +
                    inside(node.args[1], kUnary) + ")",
                kUnary};
    };
    switch (node.intrinsic) {
    case Intrinsic::IfThenElse:
        return {inside(node.args[0], kOr) + " ? " + inside(node.args[1], kOr) + " : " +
                    inside(node.args[2], kOr),
                kTernary};
    case Intrinsic::Likely: return write(node.args[0]);
    case Intrinsic::Abs:
        if (node.dtype.isFloat()) return function(isDouble ? "fabs" : "fabsf", node);
        return function("abs_" + cSuffix(node.dtype), node);
    case Intrinsic::Sigmoid: return function("sigmoid_" + cSuffix(node.dtype), node);
    case Intrinsic::Rsqrt: return function("rsqrt_" + cSuffix(node.dtype), node);
    case Intrinsic::Fma: return function("fma_" + cSuffix(node.dtype), node);
    case Intrinsic::IsNan: return function("isnan", node);
    case Intrinsic::IsInf: return function("isinf", node);
    case Intrinsic::BitwiseAnd: return bits(" & ");
    case Intrinsic::BitwiseOr:
        if (auto word = wordLoad(handle)) return *word;
        return bits(" | ");
    case Intrinsic::DotI8I8:
    case Intrinsic::DotI8Narrow:
    case Intrinsic::DotU8I8: return dot(node, nullptr);
    case Intrinsic::BitwiseXor: return bits(" ^ ");
    case Intrinsic::BitwiseNot:
        return {"(" + cType(node.dtype) + ")~" + inside(node.args[0], kUnary), kUnary};
    case Intrinsic::ShiftLeft: return shift(node, " << ");
    case Intrinsic::ShiftRight: return shift(node, " >> ");
    default: break;
    }
    fail(core::DiagnosticCode::UnsupportedFeature,
         std::string("the C generator has no `") + tir::intrinsicText(node.intrinsic) + "`");
    return {"0", kPrimary};
}

} // namespace tenon::compiler
