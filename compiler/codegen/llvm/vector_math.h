// SPDX-License-Identifier: Apache-2.0
// VectorMath: exp, log, tanh, ... written into LLVM IR as arithmetic on one float or double
// (vector) type; in straight lines but for sines, of arguments that are seldom seen.
#pragma once

#include "compiler/codegen/llvm/emit_options.h"
#include "core/ir/tir/expr.h"

#include <llvm/IR/IRBuilder.h>

#include <initializer_list>

namespace tenon::compiler {

/// Bound to one IRBuilder position and one type; every function returns the value for all lanes,
/// special cases included.
class VectorMath
{
public:
    /// With `options.hasReciprocal` vectors of 16 may divide 1 by an estimate and a Newton step,
    /// and scale by powers of two (AVX-512 with DQ).
    VectorMath(llvm::IRBuilderBase& builder, llvm::Type* type, const EmitOptions& options);

    llvm::Value* unary(tir::Intrinsic which, llvm::Value* x);
    llvm::Value* pow(llvm::Value* x, llvm::Value* y);
    /// Of magnitudes that binary32 has, in binary64: what rounds to binary32 with an error of 0.54
    /// ulp.
    llvm::Value* powerOfSingle(llvm::Value* x, llvm::Value* y);
    /// x^y of |x|^y.
    llvm::Value* signedPower(llvm::Value* power, llvm::Value* x, llvm::Value* y);

private:
    /// mantissa * 2^exponent
    struct Scaled
    {
        llvm::Value* mantissa;
        llvm::Value* exponent; ///< in the low bits of integers as wide as the type
    };
    /// e^(sign t) for |t| < 2^20, `bias` added to the exponent; NaN gives a mantissa of NaN and
    /// any exponent. A sign of -1 costs nothing here.
    Scaled reducedExp(llvm::Value* t, double sign, int bias);
    llvm::Value* twiceScaled(const Scaled& scaled);      ///< of an exponent with twice the bias
    llvm::Value* normalExp(llvm::Value* t, double sign); ///< where e^(sign t) is a normal number
    llvm::Value* normalExp512(llvm::Value* t, double sign);
    llvm::Value* exp(llvm::Value* x);
    llvm::Value* expNonPositive(llvm::Value* x);
    llvm::Value* exp512(llvm::Value* x, double low); ///< zero below `low`
    llvm::Value* log(llvm::Value* x);
    llvm::Value* logOfOnePlus(llvm::Value* t);
    llvm::Value* logOfParts(llvm::Value* f, llvm::Value* n); ///< log(1 + f) + n log(2)
    llvm::Value* log512(llvm::Value* x);
    llvm::Value* logOfSingle(llvm::Value* x);
    llvm::Value* tanh(llvm::Value* x);
    llvm::Value* tanhOfSingle(llvm::Value* x);
    llvm::Value* sigmoid(llvm::Value* x);
    llvm::Value* erf(llvm::Value* x);
    llvm::Value* erf512(llvm::Value* x);
    /// `rest` from the nearest multiple of pi/2, whose number's last two bits `quadrant` has.
    struct Angle
    {
        llvm::Value* rest;
        llvm::Value* quadrant;
    };
    Angle angle(llvm::Value* x); ///< exact enough everywhere in binary32, up to 1e15 in binary64
    Angle nearAngle(llvm::Value* x);
    Angle farAngle(llvm::Value* x); ///< where |x| is at least 2^16, in binary32
    /// Of the circle, from |x| radians of at least 2^16, times 2^32; without whole ones.
    llvm::Value* turnsOf(llvm::Value* x);
    llvm::Value* sineOf(const Angle& angle, bool isCosine);
    llvm::Value* tangent(llvm::Value* x);
    llvm::Value* atan(llvm::Value* x);
    llvm::Value* asin(llvm::Value* x);
    llvm::Value* asinh(llvm::Value* x);
    llvm::Value* acosh(llvm::Value* x);
    llvm::Value* halfOfExp(llvm::Value* x); ///< e^x / 2
    llvm::Value* expm1Over(llvm::Value* x); ///< (e^x - e^-x)/2 without cancellation near zero

    int bias() const { return m_isDouble ? 1023 : 127; }
    llvm::Value* constant(double v) { return llvm::ConstantFP::get(m_type, v); }
    llvm::Value* integer(int64_t v) { return llvm::ConstantInt::getSigned(m_intType, v); }
    llvm::Value* add(llvm::Value* a, llvm::Value* b) { return m_b.CreateFAdd(a, b); }
    llvm::Value* sub(llvm::Value* a, llvm::Value* b) { return m_b.CreateFSub(a, b); }
    llvm::Value* mul(llvm::Value* a, llvm::Value* b) { return m_b.CreateFMul(a, b); }
    llvm::Value* div(llvm::Value* a, llvm::Value* b) { return m_b.CreateFDiv(a, b); }
    llvm::Value* neg(llvm::Value* a) { return m_b.CreateFNeg(a); }
    llvm::Value* abs(llvm::Value* a);
    llvm::Value* sqrt(llvm::Value* a);
    llvm::Value* withSignOf(llvm::Value* magnitude, llvm::Value* sign);
    llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
    llvm::Value* horner(llvm::Value* x, std::initializer_list<double> highestFirst);
    llvm::Value* notAbove(llvm::Value* x, double limit); ///< NaN stays
    llvm::Value* notBelow(llvm::Value* x, double limit); ///< NaN stays
    llvm::Value* reciprocal(llvm::Value* x);             ///< of what is neither huge nor subnormal
    llvm::Value* quotient(llvm::Value* above, llvm::Value* below); ///< `below` likewise

    llvm::IRBuilderBase& m_b;
    llvm::Type* m_type;
    llvm::Type* m_intType;
    bool m_isDouble;
    bool m_hasReciprocal;
    bool m_hasNanMaximum;
};

} // namespace tenon::compiler
