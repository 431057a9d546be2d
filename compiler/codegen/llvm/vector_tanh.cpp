// SPDX-License-Identifier: Apache-2.0
// Hyperbolic tangents by exponentials.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

llvm::Value* VectorMath::tanh(llvm::Value* x)
{
    if (!m_isDouble) return tanhOfSingle(x);
    // 1 - 2 e^-2|x| / (1 + e^-2|x|), which is 1 from the bound on, loses digits near zero.
    llvm::Value* magnitude = abs(x);
    llvm::Value* capped = notAbove(magnitude, 20.0);
    llvm::Value* power = normalExp(add(capped, capped), -1);
    llvm::Value* large =
        fma(neg(add(power, power)), reciprocal(add(constant(1), power)), constant(1));
    llvm::Value* s = expm1Over(magnitude); // sinh; cosh = sqrt(1 + sinh^2)
    llvm::Value* small = withSignOf(div(s, sqrt(fma(s, s, constant(1)))), x);
    return m_b.CreateSelect(m_b.CreateFCmpOLT(magnitude, constant(0.625)), small,
                            withSignOf(large, x));
}

llvm::Value* VectorMath::tanhOfSingle(llvm::Value* x)
{
    // E / (E + 1) with 2 E = e^2|x| - 1 = 2^n (e^2r - 1) + (2^n - 1), which loses no digits near
    // zero. From 10 on that is 1. The larger n is, the less an error of r counts, so that half the
    // logarithm of 2 in one number does.
    constexpr double kShifter = 0x1.8p23 + 127;
    llvm::Value* capped = notAbove(abs(x), 10.0);
    llvm::Value* shifted = fma(capped, constant(2 * 1.4426950408889634), constant(kShifter));
    llvm::Value* n = sub(shifted, constant(kShifter));
    llvm::Value* r = fma(n, constant(-0.69314718055994531 / 2), capped);
    // (e^2r - 1) / 2 = r + r^2 p(r), with the least largest relative error for |r| <= ln(2)/4:
    // 1.3e-8.
    llvm::Value* p = horner(
        r, {4.4424070045e-2, 1.3386430453e-1, 3.3333759846e-1, 6.6666174528e-1, 9.9999996308e-1});
    llvm::Value* q = fma(mul(r, r), p, r);
    llvm::Value* power = m_b.CreateBitCast(
        m_b.CreateShl(m_b.CreateBitCast(shifted, m_intType), integer(23)), m_type);
    llvm::Value* above = fma(q, power, fma(power, constant(0.5), constant(-0.5)));
    return withSignOf(quotient(above, add(above, constant(1))), x);
}

llvm::Value* VectorMath::quotient(llvm::Value* above, llvm::Value* below)
{
    if (!m_hasReciprocal) return div(above, below);
    // What the estimate leaves over corrects it.
    llvm::Value* inverse =
        m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rcp14_ps_512, {},
                            {below, llvm::Constant::getNullValue(m_type), m_b.getInt16(0xffff)});
    llvm::Value* estimate = mul(above, inverse);
    return fma(fma(neg(below), estimate, above), inverse, estimate);
}

} // namespace tenon::compiler
