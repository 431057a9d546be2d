// SPDX-License-Identifier: Apache-2.0
// Powers by the exponential of a logarithm, and what signs, zeros and ones make of them.
#include "compiler/codegen/llvm/vector_math.h"

#include <bit>
#include <limits>

namespace tenon::compiler {

llvm::Value* VectorMath::pow(llvm::Value* x, llvm::Value* y)
{
    return signedPower(exp(mul(y, log(abs(x)))), x, y);
}

llvm::Value* VectorMath::signedPower(llvm::Value* power, llvm::Value* x, llvm::Value* y)
{
    const double inf = std::numeric_limits<double>::infinity();
    llvm::Value* whole = m_b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, y);
    llvm::Value* isWhole = m_b.CreateFCmpOEQ(whole, y);
    llvm::Value* half = mul(y, constant(0.5));
    llvm::Value* isOdd = m_b.CreateAnd(
        isWhole, m_b.CreateFCmpUNE(m_b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, half), half));
    llvm::Value* isNegative = m_b.CreateFCmpOLT(x, constant(0));
    llvm::Value* result = m_b.CreateSelect(isOdd, withSignOf(power, x), power);
    llvm::Value* isUndefined = m_b.CreateAnd(isNegative, m_b.CreateNot(isWhole));
    result = m_b.CreateSelect(m_b.CreateAnd(isUndefined, m_b.CreateFCmpOGT(x, constant(-inf))),
                              constant(std::numeric_limits<double>::quiet_NaN()), result);
    llvm::Value* isOne =
        m_b.CreateOr(m_b.CreateFCmpOEQ(y, constant(0)), m_b.CreateFCmpOEQ(x, constant(1)));
    llvm::Value* isEvenForEver = m_b.CreateAnd(m_b.CreateFCmpOEQ(abs(x), constant(1)),
                                               m_b.CreateFCmpOEQ(abs(y), constant(inf)));
    isOne = m_b.CreateOr(isOne, isEvenForEver);
    return m_b.CreateSelect(isOne, constant(1), result);
}

llvm::Value* VectorMath::logOfSingle(llvm::Value* x)
{
    // x = m * 2^n with m in [sqrt(1/2), sqrt(2)); no number of binary32 is subnormal here.
    // Exponents become numbers in the low bits of 2^52.
    constexpr int kMantissa = 52;
    constexpr int64_t kOne = int64_t{1023} << kMantissa, kExponents = int64_t{0xfff} << kMantissa;
    const auto root = std::bit_cast<int64_t>(0.70710678118654752440);
    llvm::Value* bits = m_b.CreateBitCast(x, m_intType);
    llvm::Value* above = m_b.CreateAdd(bits, integer(kOne - root));
    llvm::Value* number = m_b.CreateOr(m_b.CreateLShr(above, integer(kMantissa)),
                                       integer(std::bit_cast<int64_t>(0x1p52)));
    llvm::Value* n = sub(m_b.CreateBitCast(number, m_type), constant(0x1p52 + 1023));
    llvm::Value* mantissa = m_b.CreateAdd(
        m_b.CreateSub(bits, m_b.CreateAnd(above, integer(kExponents))), integer(kOne));
    llvm::Value* f = sub(m_b.CreateBitCast(mantissa, m_type), constant(1));
    // Least largest relative error: 1.8e-11.
    llvm::Value* p =
        horner(f, {5.511195890955e-2, -9.980418928065e-2, 9.994127223533e-2, -9.900888134454e-2,
                   1.100954049625e-1, -1.249978695962e-1, 1.429068633055e-1, -1.666683246848e-1,
                   1.999989339729e-1, -2.499999639654e-1, 3.333333409061e-1, -5.000000001455e-1});
    llvm::Value* result = fma(n, constant(0.69314718055994531), fma(mul(f, f), p, f));
    const double inf = std::numeric_limits<double>::infinity();
    result = m_b.CreateSelect(m_b.CreateFCmpUGE(x, constant(inf)), x, result);
    return m_b.CreateSelect(m_b.CreateFCmpOEQ(x, constant(0)), constant(-inf), result);
}

llvm::Value* VectorMath::powerOfSingle(llvm::Value* x, llvm::Value* y)
{
    // Of a magnitude beyond e^200 binary32 makes zero and infinity.
    constexpr double kEnd = 200, kShifter = 0x1.8p52 + 1023;
    llvm::Value* t = notAbove(mul(y, logOfSingle(x)), kEnd);
    t = m_b.CreateSelect(m_b.CreateFCmpOLT(t, constant(-kEnd)), constant(-kEnd), t);
    llvm::Value* shifted = fma(t, constant(1.4426950408889634), constant(kShifter));
    llvm::Value* n = sub(shifted, constant(kShifter));
    llvm::Value* r = fma(n, constant(-0.69314718055994531), t);
    // Least largest relative error on [-ln(2)/2, ln(2)/2]: 4e-11.
    llvm::Value* p =
        horner(r, {1.977517176094e-4, 1.3948185665904e-3, 8.3335611036776e-3, 4.1666225390733e-2,
                   1.666666512597e-1, 5.0000001045487e-1, 1.0000000002431, 9.9999999996168e-1});
    llvm::Value* power = m_b.CreateShl(m_b.CreateBitCast(shifted, m_intType), integer(52));
    return mul(p, m_b.CreateBitCast(power, m_type));
}

} // namespace tenon::compiler
