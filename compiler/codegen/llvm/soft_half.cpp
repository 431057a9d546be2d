// SPDX-License-Identifier: Apache-2.0
// Each conversion computes the result of every range and selects.
#include "compiler/codegen/llvm/soft_half.h"

#include "compiler/codegen/llvm/llvm_traits.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace tenon::compiler {
namespace {

constexpr uint32_t kSign = 0x80000000u;
constexpr uint32_t kInfiniteBits = 0x7f800000u;
constexpr uint32_t kQuiet = 0x00400000u;
constexpr uint32_t kOneHalf = 0x3f000000u;     ///< bits of 0.5
constexpr uint32_t kRebias = (127 - 15) << 23; ///< between the exponents of the two formats

/// Arithmetic on 32-bit words, as many as the value at hand has lanes.
class Words
{
public:
    Words(llvm::IRBuilderBase& b, llvm::Type* like)
        : m_b(b)
        , m_word(like->getWithNewType(b.getInt32Ty()))
        , m_float(like->getWithNewType(b.getFloatTy()))
        , m_half(like->getWithNewType(b.getInt16Ty()))
    {
    }

    llvm::Value* number(uint32_t value) const { return llvm::ConstantInt::get(m_word, value); }
    llvm::Value* masked(llvm::Value* x, uint32_t mask) { return m_b.CreateAnd(x, number(mask)); }
    llvm::Value* ored(llvm::Value* x, uint32_t bits) { return m_b.CreateOr(x, number(bits)); }
    llvm::Value* plus(llvm::Value* x, uint32_t value) { return m_b.CreateAdd(x, number(value)); }
    llvm::Value* left(llvm::Value* x, uint32_t by) { return m_b.CreateShl(x, number(by)); }
    llvm::Value* right(llvm::Value* x, uint32_t by) { return m_b.CreateLShr(x, number(by)); }
    llvm::Value* isAbove(llvm::Value* x, uint32_t limit)
    {
        return m_b.CreateICmpUGT(x, number(limit));
    }
    llvm::Value* widened(llvm::Value* half) { return m_b.CreateZExt(half, m_word); }
    llvm::Value* narrowed(llvm::Value* word) { return m_b.CreateTrunc(word, m_half); }
    llvm::Value* asWord(llvm::Value* x) { return m_b.CreateBitCast(x, m_word); }
    llvm::Value* asFloat(llvm::Value* x) { return m_b.CreateBitCast(x, m_float); }
    llvm::Type* floatType() const { return m_float; }

private:
    llvm::IRBuilderBase& m_b;
    llvm::Type* m_word;
    llvm::Type* m_float;
    llvm::Type* m_half;
};

llvm::Value* fromBinary16(llvm::IRBuilderBase& b, Words& w, llvm::Value* half)
{
    llvm::Value* bits = w.widened(half);
    llvm::Value* magnitude = w.masked(bits, 0x7fff);
    llvm::Value* shifted = w.left(magnitude, 13);
    // Subnormals count 2^-24, which is what the last bit of 0.5 is worth.
    llvm::Value* small = w.asWord(b.CreateFSub(w.asFloat(w.ored(magnitude, kOneHalf)),
                                               llvm::ConstantFP::get(w.floatType(), 0.5)));
    llvm::Value* nan = w.ored(shifted, kInfiniteBits | kQuiet);
    llvm::Value* result =
        b.CreateSelect(w.isAbove(magnitude, 0x3ff), w.plus(shifted, kRebias), small);
    result = b.CreateSelect(w.isAbove(magnitude, 0x7bff), w.ored(shifted, kInfiniteBits), result);
    result = b.CreateSelect(w.isAbove(magnitude, 0x7c00), nan, result);
    return w.asFloat(b.CreateOr(result, w.left(w.masked(bits, 0x8000), 16)));
}

llvm::Value* toBinary16(llvm::IRBuilderBase& b, Words& w, llvm::Value* number)
{
    llvm::Value* bits = w.asWord(number);
    llvm::Value* magnitude = w.masked(bits, ~kSign);
    // Below 2^-14: adding 0.5 aligns the subnormal step with the float's last bit, and the addition
    // rounds to even.
    llvm::Value* aligned =
        b.CreateFAdd(w.asFloat(magnitude), llvm::ConstantFP::get(w.floatType(), 0.5));
    llvm::Value* small = w.plus(w.asWord(aligned), 0u - kOneHalf);
    llvm::Value* odd = w.masked(w.right(magnitude, 13), 1);
    llvm::Value* normal = w.right(w.plus(b.CreateAdd(magnitude, odd), 0xfffu - kRebias), 13);
    llvm::Value* nan = w.ored(w.masked(w.right(magnitude, 13), 0x3ff), 0x7e00);
    llvm::Value* result = b.CreateSelect(w.isAbove(magnitude, 0x387fffff), normal, small);
    result = b.CreateSelect(w.isAbove(magnitude, 0x477fefff), w.number(0x7c00), result);
    result = b.CreateSelect(w.isAbove(magnitude, kInfiniteBits), nan, result);
    return w.narrowed(b.CreateOr(result, w.masked(w.right(bits, 16), 0x8000)));
}

llvm::Value* toBfloat16(llvm::IRBuilderBase& b, Words& w, llvm::Value* number)
{
    llvm::Value* bits = w.asWord(number);
    llvm::Value* upper = w.right(bits, 16);
    llvm::Value* rounded = w.right(w.plus(b.CreateAdd(bits, w.masked(upper, 1)), 0x7fff), 16);
    llvm::Value* isNan = w.isAbove(w.masked(bits, ~kSign), kInfiniteBits);
    return w.narrowed(b.CreateSelect(isNan, w.ored(upper, kQuiet >> 16), rounded));
}

} // namespace

bool lacksHalf(const llvm::TargetMachine& machine, const LlvmTraits& traits, HalfFormat format)
{
    if (traits.lacksHalf) return true;
    const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
    const llvm::Triple& triple = machine.getTargetTriple();
    const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
    // LLVM 19 rounds vectors of bfloat16 by their operand's last bit on AArch64 without +bf16, as
    // soon as its combiner has drawn an addition or a product into that type.
    if (format == HalfFormat::Bfloat16)
        return triple.isX86() ? !has("+avx512bf16") : !(triple.isAArch64() && has("+bf16"));
    if (triple.isX86()) return !has("+f16c") && !has("+avx512f");
    if (triple.isARM() || triple.isThumb()) return !has("+fp16");
    if (triple.isRISCV()) return !has("+zfhmin") && !has("+zfh");
    return false;
}

llvm::Value* halfFromBits(llvm::IRBuilderBase& b, llvm::Value* bits, HalfFormat format)
{
    Words w(b, bits->getType());
    if (format == HalfFormat::Bfloat16) return w.asFloat(w.left(w.widened(bits), 16));
    return fromBinary16(b, w, bits);
}

llvm::Value* halfToBits(llvm::IRBuilderBase& b, llvm::Value* number, HalfFormat format)
{
    Words w(b, number->getType());
    return format == HalfFormat::Bfloat16 ? toBfloat16(b, w, number) : toBinary16(b, w, number);
}

llvm::Value* narrowedToOdd(llvm::IRBuilderBase& b, llvm::Value* number)
{
    Words w(b, number->getType());
    llvm::Value* near = b.CreateFPTrunc(number, w.floatType());
    llvm::Value* back = b.CreateFPExt(near, number->getType());
    const auto magnitude = [&](llvm::Value* x) {
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    };
    // Towards zero, and an odd last bit for what was lost there; NaN compares as equal to nothing.
    llvm::Value* isLarger = b.CreateFCmpOGT(magnitude(back), magnitude(number));
    llvm::Value* isInexact = b.CreateFCmpONE(back, number);
    llvm::Value* bits = w.asWord(near);
    bits = b.CreateSelect(isLarger, w.plus(bits, ~0u), bits);
    return w.asFloat(b.CreateSelect(isInexact, w.ored(bits, 1), bits));
}

} // namespace tenon::compiler
