// SPDX-License-Identifier: Apache-2.0
// Exponentials: for every argument, and for those whose result is a normal number.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

VectorMath::Scaled VectorMath::reducedExp(llvm::Value* t, double sign, int bias)
{
    // Adding 1.5 * 2^mantissa rounds to an integer and leaves it in the low bits: cheaper than a
    // rounding instruction and a conversion, and NaN needs no care.
    const double shifter = (m_isDouble ? 0x1.8p52 : 0x1.8p23) + bias;
    llvm::Value* shifted = fma(t, constant(sign * 1.4426950408889634), constant(shifter));
    llvm::Value* n = sub(shifted, constant(shifter));
    llvm::Value* r = m_isDouble ? fma(n, constant(sign * -1.9082149292705877e-10),
                                      fma(n, constant(sign * -6.93147180369123816490e-01), t))
                                : fma(n, constant(sign * 2.12194440e-4),
                                      fma(n, constant(sign * -0.693359375), t));
    const double s = sign;
    llvm::Value* p = nullptr;
    if (m_isDouble) {
        p = horner(r, {s / 6227020800.0, 1.0 / 479001600.0, s / 39916800.0, 1.0 / 3628800.0,
                       s / 362880.0, 1.0 / 40320.0, s / 5040.0, 1.0 / 720.0, s / 120.0, 1.0 / 24.0,
                       s / 6.0, 0.5, s, 1.0});
    } else {
        // Least largest relative error on [-ln(2)/2, ln(2)/2]: 2e-9.
        p = horner(r, {1.3843559932e-3, s * 8.3742359337e-3, 4.1668007418e-2, s * 1.6666430338e-1,
                       4.9999994174e-1, s * 1.0000000324, 1.0});
    }
    return {p, m_b.CreateBitCast(shifted, m_intType)};
}

llvm::Value* VectorMath::normalExp(llvm::Value* t, double sign)
{
    if (m_hasReciprocal) return normalExp512(t, sign);
    const auto [mantissa, exponent] = reducedExp(t, sign, bias());
    llvm::Value* power = m_b.CreateShl(exponent, integer(m_isDouble ? 52 : 23));
    return mul(mantissa, m_b.CreateBitCast(power, m_type));
}

llvm::Value* VectorMath::exp(llvm::Value* x)
{
    const double high = m_isDouble ? 710.5 : 89.5; // a little above the overflow
    const double low = m_isDouble ? -745.13321910194122 : -103.97207708;
    if (m_hasReciprocal) return exp512(notAbove(x, high), low);
    if (m_hasNanMaximum) {
        // Below `kLeast` the scaling rounds to 0 by itself, and costs such processors no more.
        constexpr double kLeast = -104;
        return twiceScaled(reducedExp(notBelow(notAbove(x, high), kLeast), 1, 2 * bias()));
    }
    // Clamp so that the scaling below stays defined. What becomes 0 is computed as exp(0): masked
    // scores would else make subnormal numbers, each an assist of some hundred cycles (softmax of a
    // masked row 4 times slower). NaN passes both comparisons.
    llvm::Value* below = m_b.CreateFCmpOLT(x, constant(low));
    llvm::Value* t = m_b.CreateSelect(below, constant(0), notAbove(x, high));
    return m_b.CreateSelect(below, constant(0), twiceScaled(reducedExp(t, 1, 2 * bias())));
}

llvm::Value* VectorMath::twiceScaled(const Scaled& scaled)
{
    // Two powers that share the exponent reach subnormal and infinite results. Halves of what is
    // biased twice are biased once; what the rounding left above them is shifted out.
    const auto power = [&](llvm::Value* exponent) {
        return m_b.CreateBitCast(m_b.CreateShl(exponent, integer(m_isDouble ? 52 : 23)), m_type);
    };
    llvm::Value* half = m_b.CreateLShr(scaled.exponent, integer(1));
    llvm::Value* rest = m_b.CreateSub(scaled.exponent, half);
    return mul(mul(scaled.mantissa, power(half)), power(rest));
}

llvm::Value* VectorMath::expNonPositive(llvm::Value* x)
{
    if (m_hasReciprocal) return exp512(x, -87.336544); // of the least normal result
    // From here down the exponent is that of 0, which the product then is.
    const double zero = m_isDouble ? -709.0 : -88.0;
    return normalExp(notBelow(x, zero), 1);
}

llvm::Value* VectorMath::exp512(llvm::Value* x, double low)
{
    // One instruction scales by any power; its mask makes the zeros, without subnormal numbers.
    const auto [mantissa, shifted] = reducedExp(x, 1, 0);
    llvm::Value* n = sub(m_b.CreateBitCast(shifted, m_type), constant(0x1.8p23));
    llvm::Value* isKept = m_b.CreateFCmpUGE(x, constant(low));
    return m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                               {mantissa, n, llvm::Constant::getNullValue(m_type),
                                m_b.CreateBitCast(isKept, m_b.getInt16Ty()), m_b.getInt32(4)});
}

llvm::Value* VectorMath::normalExp512(llvm::Value* t, double sign)
{
    // 2^(n + r) with n + r = t log2(e) and 0 <= r < 1: one instruction gives r, another scales by
    // 2^n, which it rounds down to by itself. Rounding the product makes an error of 6e-8 |t|.
    // Least largest relative error of the polynomial: 8e-8.
    constexpr int kKeepFractionOfFloor = 1;
    llvm::Value* power = mul(t, constant(sign * 1.4426950408889634));
    llvm::Value* none = llvm::Constant::getNullValue(m_type);
    llvm::Value* all = m_b.getInt16(0xffff);
    llvm::Value* currentRounding = m_b.getInt32(4);
    llvm::Value* r = m_b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_reduce_ps_512, {},
        {power, m_b.getInt32(kKeepFractionOfFloor), none, all, currentRounding});
    llvm::Value* p = horner(r, {1.8671303352e-3, 9.0170297599e-3, 5.5799913507e-2, 2.4016445004e-1,
                                6.9315131181e-1, 1.0});
    return m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                               {p, power, none, all, currentRounding});
}

} // namespace tenon::compiler
