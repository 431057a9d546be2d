// SPDX-License-Identifier: Apache-2.0
// Expression builders with local constant folding.
#include "core/ir/tir/expr.h"

#include "core/ir/tir/stmt.h"

#include <cmath>
#include <limits>

namespace tenon::tir {
namespace {

Expr make(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

/// Lets literals written as plain C++ ints take the other side's type.
void matchTypes(Expr& a, Expr& b)
{
    const auto adopt = [](Expr& literal, const Expr& other) {
        const DataType scalar = other->dtype.scalar();
        if (literal->kind == ExprKind::IntImm && literal->dtype != other->dtype) {
            Expr same = scalar.isFloat() ? floatImm(static_cast<double>(literal->integer), scalar)
                                         : intImm(literal->integer, scalar);
            literal = other->dtype.lanes > 1 ? broadcast(same, other->dtype.lanes) : same;
        }
    };
    if (a->dtype == b->dtype) return;
    if (a->kind == ExprKind::IntImm)
        adopt(a, b);
    else if (b->kind == ExprKind::IntImm)
        adopt(b, a);
    if (a->dtype.lanes == 1 && b->dtype.lanes > 1) a = broadcast(a, b->dtype.lanes);
    if (b->dtype.lanes == 1 && a->dtype.lanes > 1) b = broadcast(b, a->dtype.lanes);
    CHECK(a->dtype == b->dtype) << "operands are " << a->dtype.text() << " and " << b->dtype.text();
}

bool isComparison(ExprKind kind)
{
    return kind >= ExprKind::Equal && kind <= ExprKind::GreaterEqual;
}

int64_t floorDivide(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

bool foldInts(ExprKind kind, int64_t a, int64_t b, int64_t& out)
{
    const bool divides = kind == ExprKind::Div || kind == ExprKind::Mod ||
                         kind == ExprKind::FloorDiv || kind == ExprKind::FloorMod;
    if (divides && (b == 0 || b == -1)) return false;
    switch (kind) {
    case ExprKind::Add: return !__builtin_add_overflow(a, b, &out);
    case ExprKind::Sub: return !__builtin_sub_overflow(a, b, &out);
    case ExprKind::Mul: return !__builtin_mul_overflow(a, b, &out);
    case ExprKind::Div: out = a / b; return true;
    case ExprKind::Mod: out = a % b; return true;
    case ExprKind::FloorDiv: out = floorDivide(a, b); return true;
    case ExprKind::FloorMod: out = a - b * floorDivide(a, b); return true;
    case ExprKind::Min: out = a < b ? a : b; return true;
    case ExprKind::Max: out = a > b ? a : b; return true;
    case ExprKind::Equal: out = a == b; return true;
    case ExprKind::NotEqual: out = a != b; return true;
    case ExprKind::Less: out = a < b; return true;
    case ExprKind::LessEqual: out = a <= b; return true;
    case ExprKind::Greater: out = a > b; return true;
    case ExprKind::GreaterEqual: out = a >= b; return true;
    case ExprKind::And: out = a && b; return true;
    case ExprKind::Or: out = a || b; return true;
    default: return false;
    }
}

/// Only the 64-bit index type is folded here: narrower types would need wrapping.
Expr foldBinary(ExprKind kind, const Expr& a, const Expr& b)
{
    const bool foldable = a->dtype == kInt64 || a->dtype == kBool;
    int64_t folded = 0;
    if (foldable && a->kind == ExprKind::IntImm && b->kind == ExprKind::IntImm &&
        foldInts(kind, a->integer, b->integer, folded))
        return intImm(folded, isComparison(kind) ? kBool : a->dtype);
    if (a->dtype.isInt() && a->dtype.lanes == 1) {
        if (kind == ExprKind::Add && a.isConstInt(0)) return b;
        if ((kind == ExprKind::Add || kind == ExprKind::Sub) && b.isConstInt(0)) return a;
        if (kind == ExprKind::Mul && (a.isConstInt(0) || b.isConstInt(1))) return a;
        if (kind == ExprKind::Mul && (b.isConstInt(0) || a.isConstInt(1))) return b;
        if (kind == ExprKind::FloorDiv && b.isConstInt(1)) return a;
        if (kind == ExprKind::FloorMod && b.isConstInt(1)) return zeroOf(a->dtype);
        if (kind == ExprKind::And && (a.isConstInt(0) || b.isConstInt(1))) return a;
        if (kind == ExprKind::And && (b.isConstInt(0) || a.isConstInt(1))) return b;
        if (kind == ExprKind::Or && (a.isConstInt(1) || b.isConstInt(0))) return a;
        if (kind == ExprKind::Or && (b.isConstInt(1) || a.isConstInt(0))) return b;
    }
    return {};
}

} // namespace

Var makeVar(std::string name, DataType dtype)
{
    return std::make_shared<const VarNode>(VarNode{std::move(name), dtype});
}

const char* intrinsicText(Intrinsic intrinsic)
{
    switch (intrinsic) {
#define INTRINSIC(name, text, arity)                                                               \
    case Intrinsic::name:                                                                          \
        return text;
#include "core/ir/tir/intrinsics.def"
#undef INTRINSIC
    }
    return "";
}

bool isLongFunction(Intrinsic intrinsic)
{
    switch (intrinsic) {
    case Intrinsic::Exp:
    case Intrinsic::ExpNonPositive:
    case Intrinsic::Log:
    case Intrinsic::Tanh:
    case Intrinsic::Sigmoid:
    case Intrinsic::Erf:
    case Intrinsic::Pow: return true;
    default: return false;
    }
}

int intrinsicArity(Intrinsic intrinsic)
{
    switch (intrinsic) {
#define INTRINSIC(name, text, arity)                                                               \
    case Intrinsic::name:                                                                          \
        return arity;
#include "core/ir/tir/intrinsics.def"
#undef INTRINSIC
    }
    return -1;
}

Expr::Expr(int64_t value)
    : Expr(intImm(value))
{
}

Expr::Expr(const Var& var)
    : Expr(make({.kind = ExprKind::VarRef, .dtype = var->dtype, .var = var}))
{
}

bool Expr::isConstInt(int64_t value) const
{
    return m_node && m_node->kind == ExprKind::IntImm && m_node->integer == value;
}

Expr intImm(int64_t value, DataType dtype)
{
    return make({.kind = ExprKind::IntImm, .dtype = dtype, .integer = value});
}

Expr floatImm(double value, DataType dtype)
{
    return make({.kind = ExprKind::FloatImm, .dtype = dtype, .number = value});
}

Expr zeroOf(DataType dtype) { return dtype.isFloat() ? floatImm(0, dtype) : intImm(0, dtype); }

Expr oneOf(DataType dtype) { return dtype.isFloat() ? floatImm(1, dtype) : intImm(1, dtype); }

Expr binary(ExprKind kind, Expr a, Expr b)
{
    matchTypes(a, b);
    if (const Expr folded = foldBinary(kind, a, b)) return folded;
    const DataType dtype = isComparison(kind) ? kBool.withLanes(a->dtype.lanes) : a->dtype;
    return make({.kind = kind, .dtype = dtype, .args = {std::move(a), std::move(b)}});
}

Expr operator+(Expr a, Expr b) { return binary(ExprKind::Add, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return binary(ExprKind::Sub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return binary(ExprKind::Mul, std::move(a), std::move(b)); }
Expr operator/(Expr a, Expr b) { return binary(ExprKind::Div, std::move(a), std::move(b)); }
Expr floorDiv(Expr a, Expr b) { return binary(ExprKind::FloorDiv, std::move(a), std::move(b)); }
Expr floorMod(Expr a, Expr b) { return binary(ExprKind::FloorMod, std::move(a), std::move(b)); }
Expr minimum(Expr a, Expr b) { return binary(ExprKind::Min, std::move(a), std::move(b)); }
Expr maximum(Expr a, Expr b) { return binary(ExprKind::Max, std::move(a), std::move(b)); }
Expr operator<(Expr a, Expr b) { return binary(ExprKind::Less, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return binary(ExprKind::LessEqual, std::move(a), std::move(b)); }
Expr operator>(Expr a, Expr b) { return binary(ExprKind::Greater, std::move(a), std::move(b)); }
Expr operator>=(Expr a, Expr b)
{
    return binary(ExprKind::GreaterEqual, std::move(a), std::move(b));
}
Expr equal(Expr a, Expr b) { return binary(ExprKind::Equal, std::move(a), std::move(b)); }
Expr notEqual(Expr a, Expr b) { return binary(ExprKind::NotEqual, std::move(a), std::move(b)); }
Expr operator&&(Expr a, Expr b) { return binary(ExprKind::And, std::move(a), std::move(b)); }
Expr operator||(Expr a, Expr b) { return binary(ExprKind::Or, std::move(a), std::move(b)); }

Expr operator!(Expr a)
{
    if (a->kind == ExprKind::IntImm) return intImm(!a->integer, kBool);
    const DataType dtype = a->dtype;
    return make({.kind = ExprKind::Not, .dtype = dtype, .args = {std::move(a)}});
}

Expr select(Expr condition, Expr ifTrue, Expr ifFalse)
{
    matchTypes(ifTrue, ifFalse);
    if (condition.isConstInt(1)) return ifTrue;
    if (condition.isConstInt(0)) return ifFalse;
    const DataType dtype = ifTrue->dtype;
    return make({.kind = ExprKind::Select,
                 .dtype = dtype,
                 .args = {std::move(condition), std::move(ifTrue), std::move(ifFalse)}});
}

Expr cast(DataType dtype, Expr value)
{
    if (value->dtype == dtype) return value;
    if (value->kind == ExprKind::IntImm && dtype == kInt64) return intImm(value->integer);
    return make({.kind = ExprKind::Cast, .dtype = dtype, .args = {std::move(value)}});
}

Expr load(const Buffer& buffer, std::vector<Expr> indices)
{
    DataType dtype = buffer->dtype;
    if (!indices.empty() && indices.back()->dtype.lanes > 1)
        dtype = dtype.withLanes(indices.back()->dtype.lanes);
    return make(
        {.kind = ExprKind::Load, .dtype = dtype, .args = std::move(indices), .buffer = buffer});
}

Expr call(Intrinsic intrinsic, DataType dtype, std::vector<Expr> args)
{
    const int arity = intrinsicArity(intrinsic);
    CHECK(arity < 0 || args.size() == static_cast<size_t>(arity)) << intrinsicText(intrinsic);
    return make({.kind = ExprKind::Intrinsic,
                 .dtype = dtype,
                 .args = std::move(args),
                 .intrinsic = intrinsic});
}

Expr call(Intrinsic intrinsic, Expr arg)
{
    const DataType dtype = arg->dtype;
    return call(intrinsic, dtype, std::vector<Expr>{std::move(arg)});
}

Expr ramp(Expr base, Expr stride, int lanes)
{
    const DataType dtype = base->dtype.withLanes(lanes);
    return make(
        {.kind = ExprKind::Ramp, .dtype = dtype, .args = {std::move(base), std::move(stride)}});
}

Expr broadcast(Expr value, int lanes)
{
    const DataType dtype = value->dtype.withLanes(lanes);
    return make({.kind = ExprKind::Broadcast, .dtype = dtype, .args = {std::move(value)}});
}

Expr lowestOf(DataType dtype)
{
    if (dtype.isFloat()) return floatImm(-std::numeric_limits<double>::infinity(), dtype);
    if (!dtype.isSigned()) return intImm(0, dtype);
    return intImm(dtype.bits == 64 ? std::numeric_limits<int64_t>::min()
                                   : -(int64_t{1} << (dtype.bits - 1)),
                  dtype);
}

Expr highestOf(DataType dtype)
{
    if (dtype.isFloat()) return floatImm(std::numeric_limits<double>::infinity(), dtype);
    if (dtype.isSigned())
        return intImm(dtype.bits == 64 ? std::numeric_limits<int64_t>::max()
                                       : (int64_t{1} << (dtype.bits - 1)) - 1,
                      dtype);
    return intImm(dtype.bits == 64 ? -1 : (int64_t{1} << dtype.bits) - 1, dtype);
}

} // namespace tenon::tir
