// SPDX-License-Identifier: Apache-2.0
// Natural logarithms: exponent and mantissa apart.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <limits>

namespace tenon::compiler {

llvm::Value* VectorMath::logOfParts(llvm::Value* f, llvm::Value* n)
{
    if (m_isDouble) {
        // log((1+s)/(1-s)) = 2 (s + s^3/3 + s^5/5 + ...), s = f / (2 + f), |s| < 0.172
        llvm::Value* s = div(f, add(constant(2), f));
        llvm::Value* z = mul(s, s);
        llvm::Value* series = horner(z, {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                                         2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
        llvm::Value* tail = fma(mul(series, z), s, mul(n, constant(1.9082149292705877e-10)));
        return fma(n, constant(6.93147180369123816490e-01), add(add(s, s), tail));
    }
    llvm::Value* z = mul(f, f);
    llvm::Value* p = mul(mul(horner(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                                        -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                                        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1}),
                             z),
                         f);
    p = fma(n, constant(-2.12194440e-4), p);
    p = fma(z, constant(-0.5), p);
    return fma(n, constant(0.693359375), add(f, p));
}

llvm::Value* VectorMath::log(llvm::Value* x)
{
    if (m_hasReciprocal) return log512(x);
    const int mantissa = m_isDouble ? 52 : 23;
    const int bias = m_isDouble ? 1022 : 126;
    const double tiny = m_isDouble ? 2.2250738585072014e-308 : 1.17549435e-38;
    const double lift = m_isDouble ? 0x1p54 : 0x1p25;
    llvm::Value* isSubnormal = m_b.CreateFCmpOLT(x, constant(tiny));
    llvm::Value* lifted = m_b.CreateSelect(isSubnormal, mul(x, constant(lift)), x);
    llvm::Value* bits = m_b.CreateBitCast(lifted, m_intType);
    llvm::Value* exponent = m_b.CreateSub(m_b.CreateLShr(bits, integer(mantissa)), integer(bias));
    const int64_t mantissaMask = (int64_t{1} << mantissa) - 1;
    llvm::Value* fraction =
        m_b.CreateBitCast(m_b.CreateOr(m_b.CreateAnd(bits, integer(mantissaMask)),
                                       integer(int64_t{bias} << mantissa)),
                          m_type); // in [0.5, 1)
    llvm::Value* n = m_b.CreateSIToFP(exponent, m_type);
    n = sub(n, m_b.CreateSelect(isSubnormal, constant(m_isDouble ? 54 : 25), constant(0)));
    llvm::Value* isLow = m_b.CreateFCmpOLT(fraction, constant(0.70710678118654752440));
    n = m_b.CreateSelect(isLow, sub(n, constant(1)), n);
    llvm::Value* f = sub(m_b.CreateSelect(isLow, add(fraction, fraction), fraction), constant(1));
    llvm::Value* result = logOfParts(f, n);
    const double inf = std::numeric_limits<double>::infinity();
    result = m_b.CreateSelect(m_b.CreateFCmpOEQ(x, constant(inf)), x, result);
    result = m_b.CreateSelect(m_b.CreateFCmpOEQ(x, constant(0)), constant(-inf), result);
    return m_b.CreateSelect(m_b.CreateFCmpUGE(x, constant(0)),
                            m_b.CreateSelect(m_b.CreateFCmpUNO(x, x), x, result),
                            constant(std::numeric_limits<double>::quiet_NaN()));
}

llvm::Value* VectorMath::log512(llvm::Value* x)
{
    // x = m * 2^n with m in [0.75, 1.5), by two instructions that know subnormal numbers, and that
    // make of zero and infinity the exponent that is the result, of negative numbers NaN.
    constexpr int kFromThreeQuarters = 3, kNegativesAreNan = 2 << 2, kZeroIsPositive = 1 << 2;
    llvm::Value* none = llvm::Constant::getNullValue(m_type);
    llvm::Value* all = m_b.getInt16(0xffff);
    llvm::Value* currentRounding = m_b.getInt32(4);
    llvm::Value* mantissa = m_b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, {},
        {x, m_b.getInt32(kFromThreeQuarters | kNegativesAreNan | kZeroIsPositive), none, all,
         currentRounding});
    const auto exponentOf = [&](llvm::Value* of) {
        return m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, {},
                                   {of, none, all, currentRounding});
    };
    llvm::Value* n = sub(exponentOf(x), exponentOf(mantissa));
    llvm::Value* f = sub(mantissa, constant(1));
    // Least largest relative error on [-0.25, 0.5]: 5e-9.
    llvm::Value* p = horner(f, {-4.5487088115e-2, 1.0499824423e-1, -1.3158847199e-1,
                                1.4469369454e-1, -1.6646174590e-1, 1.9991480335e-1,
                                -2.5000196571e-1, 3.3333436291e-1, -4.9999998032e-1});
    return fma(n, constant(0.69314718055994531), fma(mul(f, f), p, f));
}

} // namespace tenon::compiler
