// SPDX-License-Identifier: Apache-2.0
// Integer quotients and remainders. A divisor of data may be zero: some processors trap, others
// give 0 or -1, so zeros are replaced and noted, and the kernel returns the note at its end.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/sum.h"
#include "runtime/include/tenon/c_backend_api.h"

#include <optional>

namespace tenon::compiler {

using tir::ExprKind;
using tir::ExprNode;

namespace {

/// Numbers that an expression, or any lane of it, can be.
std::optional<tir::IntRange> rangeOfLanes(const tir::Expr& expr, const tir::Ranges& ranges)
{
    if (expr->dtype.lanes == 1) return tir::boundsOf(expr, ranges);
    const tir::Var lane = tir::makeVar("lane", kInt64);
    const tir::Expr scalar = tir::asScalar(expr, lane);
    if (!scalar.get()) return std::nullopt;
    tir::Ranges all = ranges;
    all[lane.get()] = {0, expr->dtype.lanes - 1};
    return tir::boundsOf(scalar, all);
}

} // namespace

llvm::Value* Emitter::division(const ExprNode& node)
{
    const bool isFloor = node.kind == ExprKind::FloorDiv || node.kind == ExprKind::FloorMod;
    const bool isPlain = node.kind == ExprKind::Div || node.kind == ExprKind::Mod;
    if (!isFloor && !isPlain) return nullptr;
    CHECK(!isFloor || !node.dtype.isFloat()) << "floor division of floats";
    if (node.dtype.isFloat()) return nullptr;
    const bool isSigned = node.dtype.isSigned();
    const bool wantsRemainder = node.kind == ExprKind::Mod || node.kind == ExprKind::FloorMod;
    llvm::Value* a = isFloor && node.dtype == kInt64 ? linear(node.args[0]) : value(node.args[0]);
    llvm::Value* b = value(node.args[1]);
    const bool isUnsafe = tir::needsSafeDivisor(node, m_ranges, m_loaded);
    llvm::Value* divisor = isUnsafe ? safeDivisor(b, isSigned) : b;
    llvm::Value* out = isFloor          ? floorDivide(node, a, divisor)
                       : wantsRemainder ? isSigned ? m_builder.CreateSRem(a, divisor)
                                                   : m_builder.CreateURem(a, divisor)
                       : isSigned ? m_builder.CreateSDiv(a, divisor)
                                        : m_builder.CreateUDiv(a, divisor);
    if (!isUnsafe || !isSigned || wantsRemainder) return out;
    // The lowest number divided by -1 wraps.
    llvm::Value* isMinusOne =
        m_builder.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
    return m_builder.CreateSelect(isMinusOne, m_builder.CreateNeg(a), out);
}

/// The divisor, but 1 for what must not be divided by; -1 leaves the remainder 0, as 1 does.
llvm::Value* Emitter::safeDivisor(llvm::Value* divisor, bool isSigned)
{
    llvm::Type* type = divisor->getType();
    llvm::Value* isZero = m_builder.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
    noteFault(isZero);
    llvm::Value* isBad = isZero;
    if (isSigned)
        isBad = m_builder.CreateOr(
            isZero, m_builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    return m_builder.CreateSelect(isBad, llvm::ConstantInt::get(type, 1), divisor);
}

void Emitter::noteFault(llvm::Value* isZero)
{
    if (m_mask && isZero->getType()->isVectorTy()) isZero = m_builder.CreateAnd(isZero, m_mask);
    if (isZero->getType()->isVectorTy()) isZero = m_builder.CreateOrReduce(isZero);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(isZero); known && known->isZero())
        return;
    llvm::Value* before = m_builder.CreateLoad(m_builder.getInt32Ty(), faultSlot());
    m_builder.CreateStore(
        m_builder.CreateSelect(isZero, m_builder.getInt32(kTenonDividedByZero), before), m_fault);
}

llvm::AllocaInst* Emitter::faultSlot()
{
    if (m_fault) return m_fault;
    m_fault = entryAlloca(m_builder.getInt32Ty(), llvm::Align(4), "fault");
    llvm::IRBuilder<> entry(m_entry, std::next(m_fault->getIterator()));
    entry.CreateStore(entry.getInt32(0), m_fault);
    return m_fault;
}

llvm::Value* Emitter::status()
{
    if (!m_fault) return m_builder.getInt32(0);
    return m_builder.CreateLoad(m_builder.getInt32Ty(), m_fault);
}

llvm::Value* Emitter::floorDivide(const ExprNode& node, llvm::Value* a, llvm::Value* b)
{
    const bool wantsRemainder = node.kind == ExprKind::FloorMod;
    const auto dividend = rangeOfLanes(node.args[0], m_ranges);
    const auto range = rangeOfLanes(node.args[1], m_ranges);
    const bool isNatural = dividend && dividend->min >= 0 && range && range->min >= 1;
    if (isNatural && node.dtype.lanes > 1 && node.dtype.scalar() == kInt64) {
        // No vector instruction multiplies 64 bits into 128, as dividing by a constant does: lane
        // after lane would be taken out, divided and put back.
        constexpr int64_t kMostOfHalf = UINT32_MAX;
        if (dividend->max <= kMostOfHalf && range->max <= kMostOfHalf) {
            llvm::Type* half = llvm::VectorType::get(
                m_builder.getInt32Ty(),
                llvm::cast<llvm::VectorType>(a->getType())->getElementCount());
            llvm::Value* narrow = m_builder.CreateTrunc(a, half);
            llvm::Value* by = m_builder.CreateTrunc(b, half);
            return m_builder.CreateZExt(wantsRemainder ? m_builder.CreateURem(narrow, by)
                                                       : m_builder.CreateUDiv(narrow, by),
                                        a->getType());
        }
    }
    if (!node.dtype.isSigned() || isNatural)
        return wantsRemainder ? m_builder.CreateURem(a, b) : m_builder.CreateUDiv(a, b);
    // Sizes known at run time only may be any number here: correct the C result.
    llvm::Value* remainder = m_builder.CreateSRem(a, b);
    llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
    llvm::Value* isWrong =
        m_builder.CreateAnd(m_builder.CreateICmpNE(remainder, zero),
                            m_builder.CreateICmpSLT(m_builder.CreateXor(remainder, b), zero));
    if (wantsRemainder)
        return m_builder.CreateAdd(remainder, m_builder.CreateSelect(isWrong, b, zero));
    llvm::Value* quotient = m_builder.CreateSDiv(a, b);
    return m_builder.CreateSub(quotient, m_builder.CreateZExt(isWrong, a->getType()));
}

} // namespace tenon::compiler
