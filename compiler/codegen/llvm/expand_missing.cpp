// SPDX-License-Identifier: Apache-2.0
// Works on vectors as on scalars, except for division, which is done lane by lane.
#include "compiler/codegen/llvm/expand_missing.h"

#include "compiler/codegen/llvm/known_limits.h"
#include "compiler/codegen/llvm/llvm_traits.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/IntegerDivision.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace tenon::compiler {
namespace {

/// Of the processors whose features say it.
Lacks lacksOf(const llvm::TargetMachine& machine)
{
    const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
    const llvm::Triple& triple = machine.getTargetTriple();
    const auto has = [&](const char* feature) { return info.checkFeatures(feature); };
    Lacks lacks;
    if (triple.isX86()) {
        lacks.rounding = !has("+sse4.1");
        lacks.fma = !has("+fma") && !has("+avx512f");
    } else if (triple.isARM() || triple.isThumb()) {
        lacks.rounding = !has("+fp-armv8");
        lacks.fma = !has("+vfp4") && !has("+vfp4d16sp");
        lacks.conversion = true;
        lacks.wideDivision = true;
        lacks.division = triple.isARM() ? !has("+hwdiv-arm") : !has("+hwdiv");
    } else if (triple.isAArch64()) {
        lacks.narrowConversion = true; // by way of binary64
    }
    return lacks;
}

class Expansion
{
public:
    Expansion(llvm::Module& module, const Lacks& lacks)
        : m_lacks(lacks)
        , m_b(module.getContext())
    {
    }

    void run(llvm::Function& function)
    {
        std::vector<llvm::Instruction*> all;
        for (llvm::Instruction& instruction : llvm::instructions(function))
            all.push_back(&instruction);
        for (llvm::Instruction* instruction : all) {
            m_b.SetInsertPoint(instruction);
            if (llvm::Value* better = replacement(*instruction)) {
                instruction->replaceAllUsesWith(better);
                instruction->eraseFromParent();
            }
        }
        // These split blocks, so they come last.
        for (llvm::BinaryOperator* division : m_divisions) divide(division);
        m_divisions.clear();
    }

private:
    llvm::Value* replacement(llvm::Instruction& instruction)
    {
        if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return intrinsic(*call);
        if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return conversion(*cast);
        if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
            return lanes(*binary);
        return nullptr;
    }

    llvm::Value* intrinsic(llvm::IntrinsicInst& call)
    {
        const bool isWide = call.getType()->getScalarType()->isDoubleTy();
        if (call.getIntrinsicID() == llvm::Intrinsic::fma &&
            (m_lacks.fma || (m_lacks.wideFma && isWide))) {
            return m_b.CreateIntrinsic(
                llvm::Intrinsic::fmuladd, {call.getType()},
                {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
        }
        if (!m_lacks.rounding) return nullptr;
        llvm::Value* x = call.arg_size() > 0 ? call.getArgOperand(0) : nullptr;
        switch (call.getIntrinsicID()) {
        case llvm::Intrinsic::rint:
        case llvm::Intrinsic::nearbyint:
        case llvm::Intrinsic::roundeven: return nearest(call, x);
        case llvm::Intrinsic::floor: return withSign(floor(x), x);
        case llvm::Intrinsic::ceil: return withSign(m_b.CreateFNeg(floor(m_b.CreateFNeg(x))), x);
        case llvm::Intrinsic::trunc: return withSign(floor(magnitudeOf(x)), x);
        default: return nullptr;
        }
    }

    llvm::Value* number(llvm::Type* type, double value)
    {
        return llvm::ConstantFP::get(type, value);
    }
    llvm::Value* magnitudeOf(llvm::Value* x)
    {
        return m_b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    }
    llvm::Value* withSign(llvm::Value* x, llvm::Value* sign)
    {
        return m_b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
    }

    /// As `rounded`, by fewer steps where limits before or behind it allow that. NaN stays.
    llvm::Value* nearest(const llvm::IntrinsicInst& call, llvm::Value* x)
    {
        const bool isSingle = x->getType()->getScalarType()->isFloatTy();
        const llvm::Value* end = isSingle && isNearBefore(x) ? &call : nullptr;
        if (isSingle && !end) end = limitedBehind(call);
        if (!end) return withSign(rounded(x), x);
        llvm::Value* unit = number(x->getType(), 0x1.8p23);
        llvm::Value* near = m_b.CreateFSub(m_b.CreateFAdd(x, unit), unit);
        return hasNoSignOfZero(*end) || hasNoSignOfZero(call) ? near : withSign(near, x);
    }

    /// To the nearest, ties to even: adding and subtracting a power of two whose unit is 1 rounds
    /// as the machine does. From there on up every number is whole; so are infinities and NaN.
    llvm::Value* rounded(llvm::Value* x)
    {
        llvm::Type* type = x->getType();
        llvm::Value* unit = number(type, type->getScalarType()->isDoubleTy() ? 0x1p52 : 0x1p23);
        llvm::Value* magnitude = magnitudeOf(x);
        llvm::Value* whole = m_b.CreateFSub(m_b.CreateFAdd(magnitude, unit), unit);
        llvm::Value* isSmall = m_b.CreateFCmpOLT(magnitude, unit);
        return m_b.CreateSelect(isSmall, withSign(whole, x), x);
    }

    llvm::Value* floor(llvm::Value* x)
    {
        llvm::Value* near = rounded(x);
        llvm::Value* isAbove = m_b.CreateFCmpOGT(near, x);
        llvm::Value* less = m_b.CreateFSub(near, number(x->getType(), 1));
        return m_b.CreateSelect(isAbove, less, near);
    }

    static bool isWideInteger(llvm::Type* type) { return type->getScalarType()->isIntegerTy(64); }

    /// A vector of 64-bit integers as binary32, where it becomes binary64 in between.
    llvm::Value* throughWide(llvm::CastInst& cast)
    {
        const bool isSigned = llvm::isa<llvm::SIToFPInst>(cast);
        if (!isSigned && !llvm::isa<llvm::UIToFPInst>(cast)) return nullptr;
        llvm::Value* source = cast.getOperand(0);
        if (!isWideInteger(source->getType()) || !source->getType()->isVectorTy() ||
            !cast.getType()->getScalarType()->isFloatTy())
            return nullptr;
        return m_b.CreateCast(cast.getOpcode(), within53Bits(source, isSigned), cast.getType());
    }

    /// Between 64-bit integers and floats by way of two 32-bit halves in binary64.
    llvm::Value* conversion(llvm::CastInst& cast)
    {
        if (m_lacks.narrowConversion) return throughWide(cast);
        if (!m_lacks.conversion) return nullptr;
        llvm::Value* source = cast.getOperand(0);
        const bool isSigned =
            llvm::isa<llvm::SIToFPInst>(cast) || llvm::isa<llvm::FPToSIInst>(cast);
        const bool isToFloat =
            llvm::isa<llvm::SIToFPInst>(cast) || llvm::isa<llvm::UIToFPInst>(cast);
        const bool isToInt = llvm::isa<llvm::FPToSIInst>(cast) || llvm::isa<llvm::FPToUIInst>(cast);
        if (isToFloat && isWideInteger(source->getType()))
            return toFloat(source, cast.getType(), isSigned);
        if (isToInt && isWideInteger(cast.getType()))
            return toInteger(source, cast.getType(), isSigned);
        return nullptr;
    }

    llvm::Type* shaped(llvm::Type* like, llvm::Type* scalar)
    {
        return like->getWithNewType(scalar);
    }

    /// What is not rounded by binary64 and rounds to the same binary32: of more bits, the last ones
    /// become one that says whether any was set.
    llvm::Value* within53Bits(llvm::Value* x, bool isSigned)
    {
        constexpr uint64_t kLast = 2047;
        const auto number = [&](uint64_t value) {
            return llvm::ConstantInt::get(x->getType(), value);
        };
        llvm::Value* carried = m_b.CreateAdd(m_b.CreateAnd(x, number(kLast)), number(kLast));
        llvm::Value* odd = m_b.CreateAnd(m_b.CreateOr(x, carried), number(~kLast));
        const uint64_t limit = uint64_t{1} << 53;
        llvm::Value* fits =
            isSigned ? m_b.CreateICmpULT(m_b.CreateAdd(x, number(limit)), number(2 * limit))
                     : m_b.CreateICmpULT(x, number(limit));
        return m_b.CreateSelect(fits, x, odd);
    }

    llvm::Value* toFloat(llvm::Value* source, llvm::Type* type, bool isSigned)
    {
        llvm::Type* half = shaped(type, m_b.getInt32Ty());
        llvm::Type* wide = shaped(type, m_b.getDoubleTy());
        if (type->getScalarType()->isFloatTy()) source = within53Bits(source, isSigned);
        llvm::Value* low = m_b.CreateUIToFP(m_b.CreateTrunc(source, half), wide);
        llvm::Value* upper = m_b.CreateTrunc(m_b.CreateLShr(source, 32), half);
        llvm::Value* high =
            isSigned ? m_b.CreateSIToFP(upper, wide) : m_b.CreateUIToFP(upper, wide);
        llvm::Value* sum = m_b.CreateFAdd(m_b.CreateFMul(high, number(wide, 0x1p32)), low);
        return m_b.CreateFPCast(sum, type);
    }

    llvm::Value* toInteger(llvm::Value* source, llvm::Type* type, bool isSigned)
    {
        llvm::Type* half = shaped(type, m_b.getInt32Ty());
        llvm::Type* wide = shaped(type, m_b.getDoubleTy());
        // Truncated first, so that negative numbers do not end below their whole part.
        llvm::Value* exact = m_b.CreateFPCast(source, wide);
        llvm::Value* whole = m_lacks.rounding
                                 ? withSign(floor(magnitudeOf(exact)), exact)
                                 : m_b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, exact);
        llvm::Value* scaled = m_b.CreateFMul(whole, number(wide, 0x1p-32));
        llvm::Value* upper = m_lacks.rounding
                                 ? floor(scaled)
                                 : m_b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, scaled);
        llvm::Value* rest = m_b.CreateFSub(whole, m_b.CreateFMul(upper, number(wide, 0x1p32)));
        llvm::Value* high =
            isSigned ? m_b.CreateFPToSI(upper, half) : m_b.CreateFPToUI(upper, half);
        llvm::Value* low = m_b.CreateZExt(m_b.CreateFPToUI(rest, half), type);
        return m_b.CreateOr(m_b.CreateShl(m_b.CreateZExt(high, type), 32), low);
    }

    static bool isDivision(const llvm::BinaryOperator& binary)
    {
        const auto code = binary.getOpcode();
        return code == llvm::Instruction::SDiv || code == llvm::Instruction::UDiv ||
               code == llvm::Instruction::SRem || code == llvm::Instruction::URem;
    }

    /// Notes a division for later; a vector's division becomes one per lane first.
    llvm::Value* lanes(llvm::BinaryOperator& binary)
    {
        const bool isMissing =
            m_lacks.division || (m_lacks.wideDivision && isWideInteger(binary.getType()));
        // LLVM turns powers of two into shifts and masks, without any call.
        const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
        const bool isShift = divisor && divisor->getValue().isPowerOf2();
        if (!isDivision(binary) || !isMissing || isShift) return nullptr;
        auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(binary.getType());
        if (!vector) {
            m_divisions.push_back(&binary);
            return nullptr;
        }
        llvm::Value* result = llvm::PoisonValue::get(vector);
        for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
            llvm::Value* part = m_b.CreateBinOp(
                binary.getOpcode(), m_b.CreateExtractElement(binary.getOperand(0), lane),
                m_b.CreateExtractElement(binary.getOperand(1), lane));
            if (auto* division = llvm::dyn_cast<llvm::BinaryOperator>(part))
                m_divisions.push_back(division);
            result = m_b.CreateInsertElement(result, part, lane);
        }
        return result;
    }

    static void divide(llvm::BinaryOperator* division)
    {
        const auto code = division->getOpcode();
        if (code == llvm::Instruction::SDiv || code == llvm::Instruction::UDiv)
            llvm::expandDivision(division);
        else
            llvm::expandRemainder(division);
    }

    Lacks m_lacks;
    llvm::IRBuilder<> m_b;
    std::vector<llvm::BinaryOperator*> m_divisions;
};

} // namespace

void expandMissing(llvm::Module& module, const llvm::TargetMachine& machine,
                   const LlvmTraits& traits)
{
    const Lacks lacks = traits.lacks ? *traits.lacks : lacksOf(machine);
    if (lacks == Lacks()) return;
    Expansion expansion(module, lacks);
    for (llvm::Function& function : module)
        if (!function.isDeclaration()) expansion.run(function);
}

} // namespace tenon::compiler
