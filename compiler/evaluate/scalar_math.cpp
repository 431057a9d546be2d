// SPDX-License-Identifier: Apache-2.0
// Scalar semantics of the loop IR.
#include "compiler/evaluate/scalar_math.h"

#include "core/tensor/tensor.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tenon::compiler {

using tir::ExprKind;
using tir::Intrinsic;

double floatBinary(ExprKind kind, double a, double b)
{
    switch (kind) {
    case ExprKind::Add: return a + b;
    case ExprKind::Sub: return a - b;
    case ExprKind::Mul: return a * b;
    case ExprKind::Div: return a / b;
    case ExprKind::Mod: return std::fmod(a, b);
    case ExprKind::Min: return std::isnan(a) || a < b ? a : b;
    case ExprKind::Max: return std::isnan(a) || a > b ? a : b;
    case ExprKind::Equal: return a == b;
    case ExprKind::NotEqual: return a != b;
    case ExprKind::Less: return a < b;
    case ExprKind::LessEqual: return a <= b;
    case ExprKind::Greater: return a > b;
    case ExprKind::GreaterEqual: return a >= b;
    default: CHECK(false) << "no float operator " << static_cast<int>(kind); return 0;
    }
}

bool isPredicate(ExprKind kind) { return kind >= ExprKind::Equal && kind <= ExprKind::Not; }

std::optional<int64_t> intBinary(ExprKind kind, DataType dtype, int64_t a, int64_t b)
{
    const bool isUnsigned = !dtype.isSigned();
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    const auto same = [&](uint64_t value) { return wrapped(dtype, static_cast<int64_t>(value)); };
    const bool isLess = isUnsigned ? ua < ub : a < b;
    switch (kind) {
    case ExprKind::Add: return same(ua + ub);
    case ExprKind::Sub: return same(ua - ub);
    case ExprKind::Mul: return same(ua * ub);
    case ExprKind::Min: return isLess ? a : b;
    case ExprKind::Max: return isLess ? b : a;
    case ExprKind::Equal: return a == b;
    case ExprKind::NotEqual: return a != b;
    case ExprKind::Less: return isLess;
    case ExprKind::LessEqual: return isLess || a == b;
    case ExprKind::Greater: return !isLess && a != b;
    case ExprKind::GreaterEqual: return !isLess;
    case ExprKind::And: return a && b;
    case ExprKind::Or: return a || b;
    default: break;
    }
    if (b == 0) return std::nullopt;
    const bool isQuotient = kind == ExprKind::Div || kind == ExprKind::FloorDiv;
    if (isUnsigned) return same(isQuotient ? ua / ub : ua % ub);
    if (b == -1) return isQuotient ? same(0 - ua) : 0; // the one quotient that can overflow
    int64_t quotient = a / b, rest = a % b;
    const bool isFloor = kind == ExprKind::FloorDiv || kind == ExprKind::FloorMod;
    if (isFloor && rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
    }
    return isQuotient ? quotient : rest;
}

std::optional<double> floatIntrinsic(Intrinsic intrinsic, const double* args)
{
    const double x = args[0];
    switch (intrinsic) {
    case Intrinsic::Abs: return std::fabs(x);
    case Intrinsic::Acos: return std::acos(x);
    case Intrinsic::Acosh: return std::acosh(x);
    case Intrinsic::Asin: return std::asin(x);
    case Intrinsic::Asinh: return std::asinh(x);
    case Intrinsic::Atan: return std::atan(x);
    case Intrinsic::Atanh: return std::atanh(x);
    case Intrinsic::Ceil: return std::ceil(x);
    case Intrinsic::Cos: return std::cos(x);
    case Intrinsic::Cosh: return std::cosh(x);
    case Intrinsic::Erf: return std::erf(x);
    case Intrinsic::Exp:
    case Intrinsic::ExpNonPositive: return std::exp(x);
    case Intrinsic::Floor: return std::floor(x);
    case Intrinsic::Fma: return std::fma(x, args[1], args[2]);
    case Intrinsic::Likely: return x;
    case Intrinsic::Log: return std::log(x);
    case Intrinsic::Pow: return std::pow(x, args[1]);
    case Intrinsic::Round: return std::nearbyint(x);
    case Intrinsic::Rsqrt: return 1 / std::sqrt(x);
    case Intrinsic::Sigmoid: return 1 / (1 + std::exp(-x));
    case Intrinsic::Sin: return std::sin(x);
    case Intrinsic::Sinh: return std::sinh(x);
    case Intrinsic::Sqrt: return std::sqrt(x);
    case Intrinsic::Tan: return std::tan(x);
    case Intrinsic::Tanh: return std::tanh(x);
    case Intrinsic::Trunc: return std::trunc(x);
    default: return std::nullopt;
    }
}

namespace {

/// Sum over four bytes of a's, of type A, times b's, signed.
template <typename A>
int64_t dotOfBytes(int64_t a, int64_t b)
{
    int64_t sum = 0;
    for (int byte = 0; byte < 4; ++byte)
        sum += int64_t{static_cast<A>(a >> (8 * byte))} *
               int64_t{static_cast<int8_t>(b >> (8 * byte))};
    return sum;
}

} // namespace

std::optional<int64_t> intIntrinsic(Intrinsic intrinsic, DataType dtype, const int64_t* args)
{
    const int64_t x = args[0];
    const auto bits = static_cast<uint64_t>(x);
    switch (intrinsic) {
    case Intrinsic::Abs:
        return dtype.isSigned() && x < 0 ? wrapped(dtype, static_cast<int64_t>(0 - bits)) : x;
    case Intrinsic::BitwiseAnd: return x & args[1];
    case Intrinsic::BitwiseOr: return x | args[1];
    case Intrinsic::BitwiseXor: return x ^ args[1];
    case Intrinsic::BitwiseNot: return wrapped(dtype, ~x);
    case Intrinsic::DotI8I8:
    case Intrinsic::DotI8Narrow: return wrapped(dtype, x + dotOfBytes<int8_t>(args[1], args[2]));
    case Intrinsic::DotU8I8: return wrapped(dtype, x + dotOfBytes<uint8_t>(args[1], args[2]));
    case Intrinsic::Likely: return x;
    case Intrinsic::ShiftLeft: return wrapped(dtype, static_cast<int64_t>(bits << (args[1] & 63)));
    case Intrinsic::ShiftRight:
        return dtype.isSigned() ? x >> (args[1] & 63)
                                : static_cast<int64_t>(bits >> (args[1] & 63));
    default: return std::nullopt;
    }
}

int64_t wrapped(DataType dtype, int64_t value)
{
    if (dtype.isBool()) return value != 0;
    switch (dtype.bits) {
    case 8:
        return dtype.isSigned() ? int64_t{static_cast<int8_t>(value)}
                                : int64_t{static_cast<uint8_t>(value)};
    case 16:
        return dtype.isSigned() ? int64_t{static_cast<int16_t>(value)}
                                : int64_t{static_cast<uint16_t>(value)};
    case 32:
        return dtype.isSigned() ? int64_t{static_cast<int32_t>(value)}
                                : int64_t{static_cast<uint32_t>(value)};
    default: return value;
    }
}

double rounded(DataType dtype, double value)
{
    if (dtype.bits >= 64) return value;
    const auto narrow = static_cast<float>(value);
    if (dtype.bits == 32) return static_cast<double>(narrow);
    return static_cast<double>(dtype.kind == DtypeKind::Bfloat
                                   ? bfloatToFloat(floatToBfloat(narrow))
                                   : halfToFloat(floatToHalf(narrow)));
}

int64_t truncated(DataType dtype, double value)
{
    if (std::isnan(value)) return 0;
    if (dtype.isBool()) return value != 0;
    if (dtype == kUInt64) {
        if (value <= 0) return 0;
        return value >= 18446744073709551615.0 ? -1
                                               : static_cast<int64_t>(static_cast<uint64_t>(value));
    }
    const int64_t low = tir::lowestOf(dtype)->integer, high = tir::highestOf(dtype)->integer;
    if (value <= static_cast<double>(low)) return low;
    if (value >= static_cast<double>(high)) return high;
    return static_cast<int64_t>(value);
}

std::optional<int64_t> reinterpretToInt(DataType from, DataType to, double value)
{
    if (from.bits != to.bits) return std::nullopt;
    if (from == kFloat64) return std::bit_cast<int64_t>(value);
    if (from != kFloat32) return std::nullopt;
    return wrapped(to, std::bit_cast<int32_t>(static_cast<float>(value)));
}

std::optional<double> reinterpretToFloat(DataType from, DataType to, int64_t value)
{
    if (from.bits != to.bits) return std::nullopt;
    if (to == kFloat64) return std::bit_cast<double>(value);
    if (to != kFloat32) return std::nullopt;
    return static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(value)));
}

} // namespace tenon::compiler
