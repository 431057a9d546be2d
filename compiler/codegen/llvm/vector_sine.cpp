// SPDX-License-Identifier: Apache-2.0
// Sines and cosines. Arguments are reduced by multiples of pi/2: in three parts where that is exact
// enough (W. J. Cody and W. Waite, 1980), else by as many bits of 1/(2 pi) as matter (M. Payne and
// R. Hanek, 1983).
#include "compiler/codegen/llvm/vector_math.h"

#include <array>

namespace tenon::compiler {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;
/// 1/(2 pi), the first bit highest: 32 bits before the point and 192 behind.
constexpr std::array<uint32_t, 7> kTurnsPerRadian{0,          0x28BE60DB, 0x9391054A, 0x7F09D5F4,
                                                  0x7D4D3770, 0x36D8A566, 0x4F10E410};
/// From here on the nearest multiple is not found by a product that is rounded to binary32.
constexpr double kFar = 65536;

} // namespace

VectorMath::Angle VectorMath::nearAngle(llvm::Value* x)
{
    llvm::Value* n =
        m_b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, mul(x, constant(0.63661977236758134308)));
    llvm::Value* rest = nullptr;
    if (m_isDouble)
        rest = fma(n, constant(-2.02226624879595063154e-21),
                   fma(n, constant(-6.07710050630396597660e-11),
                       fma(n, constant(-1.57079632673412561417), x)));
    else
        rest = fma(n, constant(-1.5099580e-7 * 0.5),
                   fma(n, constant(-4.837512969970703125e-4), fma(n, constant(-1.5703125), x)));
    return {rest, m_b.CreateFPToSI(n, m_intType)};
}

llvm::Value* VectorMath::turnsOf(llvm::Value* x)
{
    // |x| = m 2^e turns the circle m times 2^e / (2 pi): of that, whole turns do not matter, and 64
    // bits from bit e of 1/(2 pi) on are enough for 2^-32 of a turn. Products of halves of m and of
    // the second 32 bits fit into 32 bits each.
    llvm::Value* bits = m_b.CreateBitCast(x, m_intType);
    llvm::Value* m = m_b.CreateOr(m_b.CreateAnd(bits, integer(0x7fffff)), integer(0x800000));
    llvm::Value* e =
        m_b.CreateSub(m_b.CreateAnd(m_b.CreateLShr(bits, 23), integer(255)), integer(150 - 32));
    llvm::Value* word = m_b.CreateLShr(e, 5);
    llvm::Value* shift = m_b.CreateAnd(e, integer(31));
    const auto wordBehind = [&](size_t place) {
        const auto constantWord = [&](size_t at) {
            return integer(static_cast<int32_t>(kTurnsPerRadian[at]));
        };
        llvm::Value* out = constantWord(place);
        for (size_t w = 1; w + 2 < kTurnsPerRadian.size(); ++w)
            out = m_b.CreateSelect(m_b.CreateICmpEQ(word, integer(static_cast<int64_t>(w))),
                                   constantWord(place + w), out);
        return out;
    };
    llvm::Value* const second = wordBehind(1);
    const auto shifted = [&](llvm::Value* high, llvm::Value* low) {
        return m_b.CreateIntrinsic(llvm::Intrinsic::fshl, {m_intType}, {high, low, shift});
    };
    llvm::Value* high = shifted(wordBehind(0), second);
    llvm::Value* low = shifted(second, wordBehind(2));
    llvm::Value* mHigh = m_b.CreateLShr(m, 12);
    llvm::Value* mLow = m_b.CreateAnd(m, integer(0xfff));
    llvm::Value* lowHigh = m_b.CreateLShr(low, 16);
    llvm::Value* lowLow = m_b.CreateAnd(low, integer(0xffff));
    llvm::Value* turns = m_b.CreateMul(m, high);
    turns = m_b.CreateAdd(turns, m_b.CreateLShr(m_b.CreateMul(mHigh, lowHigh), 4));
    turns = m_b.CreateAdd(turns, m_b.CreateLShr(m_b.CreateMul(mLow, lowHigh), 16));
    return m_b.CreateAdd(turns, m_b.CreateLShr(m_b.CreateMul(mHigh, lowLow), 20));
}

VectorMath::Angle VectorMath::farAngle(llvm::Value* x)
{
    llvm::Value* turns = turnsOf(x);
    llvm::Value* quadrant = m_b.CreateLShr(m_b.CreateAdd(turns, integer(1 << 29)), 30);
    llvm::Value* part = m_b.CreateSub(turns, m_b.CreateShl(quadrant, 30)); // of 2^30 in pi/2
    llvm::Value* rest = mul(m_b.CreateSIToFP(part, m_type), constant(kHalfPi / (1 << 30)));
    llvm::Value* isNegative = m_b.CreateFCmpOLT(x, constant(0));
    rest = m_b.CreateSelect(isNegative, neg(rest), rest);
    rest = add(rest, sub(x, x)); // infinities have no angle
    return {rest, m_b.CreateSelect(isNegative, m_b.CreateNeg(quadrant), quadrant)};
}

VectorMath::Angle VectorMath::angle(llvm::Value* x)
{
    const Angle nearest = nearAngle(x);
    if (m_isDouble) return nearest;
    // Nobody asks for such angles, but an answer has to be right: a branch costs least.
    llvm::BasicBlock* const before = m_b.GetInsertBlock();
    llvm::Function* const function = before->getParent();
    llvm::Value* isFar = m_b.CreateFCmpUGE(abs(x), constant(kFar)); // or NaN
    auto* const farBlock = llvm::BasicBlock::Create(m_b.getContext(), "far", function);
    auto* const behind = llvm::BasicBlock::Create(m_b.getContext(), "angles", function);
    llvm::Value* isAnyFar = m_type->isVectorTy() ? m_b.CreateOrReduce(isFar) : isFar;
    m_b.CreateCondBr(isAnyFar, farBlock, behind);
    m_b.SetInsertPoint(farBlock);
    const Angle distant = farAngle(x);
    llvm::Value* farRest = m_b.CreateSelect(isFar, distant.rest, nearest.rest);
    llvm::Value* farQuadrant = m_b.CreateSelect(isFar, distant.quadrant, nearest.quadrant);
    m_b.CreateBr(behind);
    m_b.SetInsertPoint(behind);
    const auto merged = [&](llvm::Value* ifNear, llvm::Value* ifFar) {
        llvm::PHINode* phi = m_b.CreatePHI(ifNear->getType(), 2);
        phi->addIncoming(ifNear, before);
        phi->addIncoming(ifFar, farBlock);
        return phi;
    };
    llvm::Value* rest = merged(nearest.rest, farRest);
    return {rest, merged(nearest.quadrant, farQuadrant)};
}

llvm::Value* VectorMath::sineOf(const Angle& angle, bool isCosine)
{
    const auto [r, n] = angle;
    llvm::Value* z = mul(r, r);
    llvm::Value* s = nullptr;
    llvm::Value* c = nullptr;
    if (m_isDouble) {
        s = fma(mul(horner(z, {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0,
                               -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0,
                               -1.0 / 6.0}),
                    z),
                r, r);
        c = fma(horner(z, {-1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0,
                           1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0,
                           1.0 / 24.0, -0.5}),
                z, constant(1));
    } else {
        s = fma(mul(horner(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}), z), r, r);
        c = fma(
            mul(horner(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2}), z),
            z, fma(z, constant(-0.5), constant(1)));
    }
    llvm::Value* quadrant = isCosine ? m_b.CreateAdd(n, integer(1)) : n;
    llvm::Value* useCosine = m_b.CreateICmpNE(m_b.CreateAnd(quadrant, integer(1)), integer(0));
    llvm::Value* isNegative = m_b.CreateICmpNE(m_b.CreateAnd(quadrant, integer(2)), integer(0));
    llvm::Value* chosen = m_b.CreateSelect(useCosine, c, s);
    return m_b.CreateSelect(isNegative, neg(chosen), chosen);
}

llvm::Value* VectorMath::tangent(llvm::Value* x)
{
    const Angle both = angle(x);
    return div(sineOf(both, false), sineOf(both, true));
}

} // namespace tenon::compiler
