// SPDX-License-Identifier: Apache-2.0
// Hyperbolic tangents by exponentials.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

llvm::Value* VectorMath::tanh(llvm::Value* x)
{
    if (m_hasReciprocal) return tanh512(x);
    llvm::Value* magnitude = abs(x);
    // 1 - 2 e^-2|x| / (1 + e^-2|x|), which is 1 from the bound on, loses digits near zero.
    llvm::Value* capped = notAbove(magnitude, m_isDouble ? 20.0 : 10.0);
    llvm::Value* power = normalExp(add(capped, capped), -1);
    llvm::Value* large =
        fma(neg(add(power, power)), reciprocal(add(constant(1), power)), constant(1));
    llvm::Value* z = mul(x, x);
    llvm::Value* small = nullptr;
    double border = 0.625;
    if (m_isDouble) {
        llvm::Value* s = expm1Over(magnitude); // sinh; cosh = sqrt(1 + sinh^2)
        small = withSignOf(div(s, sqrt(fma(s, s, constant(1)))), x);
    } else {
        small = fma(mul(horner(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                   1.33314422036e-1, -3.33332819422e-1}),
                        z),
                    x, x);
    }
    return m_b.CreateSelect(m_b.CreateFCmpOLT(magnitude, constant(border)), small,
                            withSignOf(large, x));
}

llvm::Value* VectorMath::tanh512(llvm::Value* x)
{
    // E / (E + 2) with E = e^2|x| - 1 = 2^n (e^r - 1) + (2^n - 1), which loses no digits near zero.
    // From 10 on that is 1.
    constexpr double kShifter = 0x1.8p23 + 127;
    llvm::Value* capped = notAbove(abs(x), 10.0);
    llvm::Value* t = add(capped, capped);
    llvm::Value* shifted = fma(t, constant(1.4426950408889634), constant(kShifter));
    llvm::Value* n = sub(shifted, constant(kShifter));
    llvm::Value* r = fma(n, constant(-0.69314718055994531), t);
    // Least largest relative error on [-ln(2)/2, ln(2)/2]: 1.3e-8.
    llvm::Value* p = horner(
        r, {1.3882521889e-3, 8.3665190334e-3, 4.1667199808e-2, 1.6666543632e-1, 4.9999998154e-1});
    llvm::Value* q = fma(mul(r, r), p, r);
    llvm::Value* power = m_b.CreateBitCast(
        m_b.CreateShl(m_b.CreateBitCast(shifted, m_intType), integer(23)), m_type);
    llvm::Value* above = fma(q, power, sub(power, constant(1)));
    llvm::Value* below = add(above, constant(2));
    // What the estimate of a quotient leaves over corrects it.
    llvm::Value* inverse =
        m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rcp14_ps_512, {},
                            {below, llvm::Constant::getNullValue(m_type), m_b.getInt16(0xffff)});
    llvm::Value* quotient = mul(above, inverse);
    return withSignOf(fma(fma(neg(below), quotient, above), inverse, quotient), x);
}

} // namespace tenon::compiler
