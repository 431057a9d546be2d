// SPDX-License-Identifier: Apache-2.0
// The expansions themselves; the error bounds are stated in emit_math.cpp and held by tests.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/Intrinsics.h>

#include <limits>

namespace tenon::compiler {

using tir::Intrinsic;

namespace {

/// Above, a^2 + 1 and a^2 are one number in binary64, too.
constexpr double kLargeArea = 1e9;
constexpr double kLogOfTwo = 0.69314718055994530942;

int lanesOf(const llvm::Type* type)
{
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

} // namespace

VectorMath::VectorMath(llvm::IRBuilderBase& builder, llvm::Type* type, const EmitOptions& options)
    : m_b(builder)
    , m_type(type)
    , m_intType(type->getWithNewType(builder.getIntNTy(type->getScalarSizeInBits())))
    , m_isDouble(type->getScalarType()->isDoubleTy())
    , m_hasReciprocal(options.hasReciprocal && !m_isDouble && lanesOf(type) == 16)
    , m_hasNanMaximum(!m_isDouble && lanesOf(type) >= options.nanMaximumLanes)
{
}

llvm::Value* VectorMath::abs(llvm::Value* a)
{
    return m_b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
}
llvm::Value* VectorMath::sqrt(llvm::Value* a)
{
    return m_b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
}

llvm::Value* VectorMath::withSignOf(llvm::Value* magnitude, llvm::Value* sign)
{
    return m_b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Value* VectorMath::fma(llvm::Value* a, llvm::Value* b, llvm::Value* c)
{
    return m_b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {m_type}, {a, b, c});
}

llvm::Value* VectorMath::horner(llvm::Value* x, std::initializer_list<double> highestFirst)
{
    llvm::Value* sum = nullptr;
    for (const double c : highestFirst) sum = sum ? fma(sum, x, constant(c)) : constant(c);
    return sum;
}

llvm::Value* VectorMath::notAbove(llvm::Value* x, double limit)
{
    if (m_hasNanMaximum)
        return m_b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, x, constant(limit));
    return m_b.CreateSelect(m_b.CreateFCmpOGT(x, constant(limit)), constant(limit), x);
}

llvm::Value* VectorMath::notBelow(llvm::Value* x, double limit)
{
    if (m_hasNanMaximum)
        return m_b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, x, constant(limit));
    return m_b.CreateSelect(m_b.CreateFCmpOLT(x, constant(limit)), constant(limit), x);
}

llvm::Value* VectorMath::sigmoid(llvm::Value* x)
{
    // 1 / (1 + e^-x); exponents and results stop at the smallest normal number.
    const double limit = m_isDouble ? 708.0 : 87.0;
    llvm::Value* above =
        m_b.CreateSelect(m_b.CreateFCmpOLT(x, constant(-limit)), constant(-limit), x);
    // Scaling by one instruction makes zeros of what is too small.
    llvm::Value* kept = m_hasReciprocal ? above : notAbove(above, limit);
    return reciprocal(add(constant(1), normalExp(kept, -1)));
}

llvm::Value* VectorMath::reciprocal(llvm::Value* x)
{
    llvm::Value* quotient = div(constant(1), x);
    auto* division = llvm::dyn_cast<llvm::Instruction>(quotient);
    if (m_hasReciprocal && division) {
        division->setHasAllowReciprocal(true);
        division->setHasNoInfs(true);
    }
    return quotient;
}

llvm::Value* VectorMath::halfOfExp(llvm::Value* x)
{
    // e^x overflows before its half does; x - 1 is exact from 1 on.
    return mul(exp(sub(x, constant(1))), constant(1.35914091422952261768));
}

llvm::Value* VectorMath::expm1Over(llvm::Value* x)
{
    llvm::Value* z = mul(x, x);
    llvm::Value* series = horner(z, {1.0 / 121645100408832000.0, 1.0 / 355687428096000.0,
                                     1.0 / 1307674368000.0, 1.0 / 6227020800.0, 1.0 / 39916800.0,
                                     1.0 / 362880.0, 1.0 / 5040.0, 1.0 / 120.0, 1.0 / 6.0});
    llvm::Value* small = fma(mul(series, z), x, x);
    llvm::Value* halfExp = halfOfExp(abs(x));
    llvm::Value* large = withSignOf(sub(halfExp, div(constant(0.25), halfExp)), x);
    return m_b.CreateSelect(m_b.CreateFCmpOLT(abs(x), constant(1)), small, large);
}

llvm::Value* VectorMath::erf(llvm::Value* x)
{
    if (m_hasReciprocal) return erf512(x);
    llvm::Value* z = mul(x, x);
    llvm::Value* magnitude = abs(x);
    llvm::Value* small = nullptr;
    if (m_isDouble) {
        // Maclaurin series of erf for |x| < 2.5 in confluent form: 2/sqrt(pi) e^-z x sum 2^k
        // z^k/(2k+1)!!
        llvm::Value* sum = constant(1);
        for (int k = 40; k >= 1; --k)
            sum = fma(mul(sum, z), constant(2.0 / (2 * k + 1)), constant(1));
        small = mul(mul(constant(1.1283791670955126), mul(x, exp(neg(z)))), sum);
        // erfc as a continued fraction e^-z / (sqrt(pi) (x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))))
        llvm::Value* fraction = magnitude;
        for (int k = 30; k >= 1; --k) fraction = add(magnitude, div(constant(0.5 * k), fraction));
        llvm::Value* tail = div(exp(neg(z)), mul(constant(1.7724538509055160), fraction));
        return m_b.CreateSelect(m_b.CreateFCmpOLT(magnitude, constant(2.5)), small,
                                withSignOf(sub(constant(1), tail), x));
    }
    small = mul(x, horner(z, {-5.63145120349e-4, 4.91755947834e-3, -2.67113194654e-2,
                              1.12801804744e-1, -3.76123262528e-1, 1.12837912253}));
    // The eighth root of erfc on [1, 3.95], with the least largest error of erf: 1.6e-8. Above, erf
    // is 1 in binary32.
    llvm::Value* root =
        horner(notAbove(magnitude, 3.95),
               {1.49848201434e-4, -2.46972050172e-3, 1.29258216893e-2, -1.13734755825e-2,
                -6.14264388444e-2, -1.45060537882e-1, 1.00083470025});
    llvm::Value* square = mul(root, root);
    llvm::Value* fourth = mul(square, square);
    return m_b.CreateSelect(m_b.CreateFCmpOLT(magnitude, constant(1)), small,
                            withSignOf(fma(neg(fourth), fourth, constant(1)), x));
}

llvm::Value* VectorMath::atan(llvm::Value* x)
{
    // atan(x) = pi/2 - atan(1/x); atan(t) = pi/4 + atan((t-1)/(t+1)) bring |t| below tan(pi/8).
    llvm::Value* magnitude = abs(x);
    llvm::Value* isBig = m_b.CreateFCmpOGT(magnitude, constant(2.414213562373095));
    llvm::Value* isMiddle = m_b.CreateFCmpOGT(magnitude, constant(0.41421356237309503));
    llvm::Value* t = m_b.CreateSelect(
        isBig, div(constant(-1), magnitude),
        m_b.CreateSelect(isMiddle, div(sub(magnitude, constant(1)), add(magnitude, constant(1))),
                         magnitude));
    llvm::Value* offset =
        m_b.CreateSelect(isBig, constant(1.5707963267948966),
                         m_b.CreateSelect(isMiddle, constant(0.78539816339744828), constant(0)));
    llvm::Value* z = mul(t, t);
    llvm::Value* p = nullptr;
    if (m_isDouble) {
        p = constant(0);
        for (int k = 43; k >= 3; k -= 2) p = fma(p, z, constant((k % 4 == 3 ? -1.0 : 1.0) / k));
    } else {
        p = horner(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
    }
    return withSignOf(add(offset, fma(mul(p, z), t, t)), x);
}

llvm::Value* VectorMath::asin(llvm::Value* x)
{
    return atan(div(x, sqrt(mul(sub(constant(1), x), add(constant(1), x)))));
}

llvm::Value* VectorMath::logOfOnePlus(llvm::Value* t)
{
    // log(u) with u = 1 + t, corrected by what the rounding of u left out: t / (u - 1). Of large t
    // that is nothing, and of infinity not a number.
    llvm::Value* u = add(constant(1), t);
    llvm::Value* logarithm = log(u);
    llvm::Value* corrected = mul(logarithm, div(t, sub(u, constant(1))));
    llvm::Value* out = m_b.CreateSelect(m_b.CreateFCmpOEQ(u, constant(1)), t, corrected);
    return m_b.CreateSelect(m_b.CreateFCmpOEQ(u, t), logarithm, out);
}

llvm::Value* VectorMath::asinh(llvm::Value* x)
{
    // log1p(a + a^2 / (1 + sqrt(a^2 + 1))); log(2a) where squares would overflow.
    llvm::Value* a = abs(x);
    llvm::Value* isLarge = m_b.CreateFCmpOGT(a, constant(kLargeArea));
    llvm::Value* root = sqrt(fma(a, a, constant(1)));
    llvm::Value* t = add(a, div(mul(a, a), add(constant(1), root)));
    llvm::Value* out = logOfOnePlus(m_b.CreateSelect(isLarge, a, t));
    return withSignOf(add(out, m_b.CreateSelect(isLarge, constant(kLogOfTwo), constant(0))), x);
}

llvm::Value* VectorMath::acosh(llvm::Value* x)
{
    // log(x + sqrt(x^2 - 1)), likewise; below 1 a root is not a number.
    llvm::Value* isLarge = m_b.CreateFCmpOGT(x, constant(kLargeArea));
    llvm::Value* root = mul(sqrt(sub(x, constant(1))), sqrt(add(x, constant(1))));
    llvm::Value* out = log(m_b.CreateSelect(isLarge, x, add(x, root)));
    return add(out, m_b.CreateSelect(isLarge, constant(kLogOfTwo), constant(0)));
}

llvm::Value* VectorMath::unary(Intrinsic which, llvm::Value* x)
{
    const auto direct = [&](llvm::Intrinsic::ID id) { return m_b.CreateUnaryIntrinsic(id, x); };
    llvm::Value* one = constant(1);
    switch (which) {
    case Intrinsic::Ceil: return direct(llvm::Intrinsic::ceil);
    case Intrinsic::Floor: return direct(llvm::Intrinsic::floor);
    case Intrinsic::Round: return direct(llvm::Intrinsic::roundeven);
    case Intrinsic::Trunc: return direct(llvm::Intrinsic::trunc);
    case Intrinsic::Sqrt: return direct(llvm::Intrinsic::sqrt);
    case Intrinsic::Rsqrt: return div(one, sqrt(x));
    case Intrinsic::Exp: return exp(x);
    case Intrinsic::ExpNonPositive: return expNonPositive(x);
    case Intrinsic::Log: return log(x);
    case Intrinsic::Tanh: return tanh(x);
    case Intrinsic::Sigmoid: return sigmoid(x);
    case Intrinsic::Erf: return erf(x);
    case Intrinsic::Sin: return sineOf(angle(x), false);
    case Intrinsic::Cos: return sineOf(angle(x), true);
    case Intrinsic::Tan: return tangent(x);
    case Intrinsic::Sinh: return expm1Over(x);
    case Intrinsic::Cosh: {
        llvm::Value* e = halfOfExp(abs(x));
        return add(e, div(constant(0.25), e));
    }
    case Intrinsic::Atan: return atan(x);
    case Intrinsic::Asin: return asin(x);
    case Intrinsic::Acos: return sub(constant(1.5707963267948966), asin(x));
    case Intrinsic::Asinh: return asinh(x);
    case Intrinsic::Acosh: return acosh(x);
    case Intrinsic::Atanh: {
        llvm::Value* a = abs(x);
        return withSignOf(mul(constant(0.5), logOfOnePlus(div(add(a, a), sub(one, a)))), x);
    }
    default: CHECK(false) << tir::intrinsicText(which) << " has no expansion";
    }
    return x;
}

} // namespace tenon::compiler
