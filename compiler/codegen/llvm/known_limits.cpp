// SPDX-License-Identifier: Apache-2.0
// A limit is a choice between a number and a constant by comparing them, or one instruction.
#include "compiler/codegen/llvm/known_limits.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tenon::compiler {
namespace {

/// Limits that a number went through last.
struct KnownLimits
{
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
};

std::optional<double> constantOf(const llvm::Value* value)
{
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    return number ? std::optional(number->getValueAPF().convertToDouble()) : std::nullopt;
}

/// A minimum or maximum of `of` and a constant.
struct Limit
{
    const llvm::Value* of;
    bool isMost;
    double bound;
};

std::optional<Limit> chosenLimit(const llvm::SelectInst& choice)
{
    const auto* compare = llvm::dyn_cast<llvm::FCmpInst>(choice.getCondition());
    // Either may be chosen where it is less, or greater.
    if (!compare || compare->getOperand(0) != choice.getTrueValue() ||
        compare->getOperand(1) != choice.getFalseValue())
        return std::nullopt;
    const bool isMost = compare->getPredicate() == llvm::CmpInst::FCMP_OLT;
    if (!isMost && compare->getPredicate() != llvm::CmpInst::FCMP_OGT) return std::nullopt;
    if (const auto bound = constantOf(choice.getTrueValue()))
        return Limit{choice.getFalseValue(), isMost, *bound};
    const auto bound = constantOf(choice.getFalseValue());
    return bound ? std::optional(Limit{choice.getTrueValue(), isMost, *bound}) : std::nullopt;
}

std::optional<Limit> limitOf(const llvm::Value* x)
{
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(x)) return chosenLimit(*choice);
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(x);
    if (!call) return std::nullopt;
    const auto is = [&](llvm::Intrinsic::ID id) { return call->getIntrinsicID() == id; };
    const bool isMost = is(llvm::Intrinsic::minimum) || is(llvm::Intrinsic::minnum);
    if (!isMost && !is(llvm::Intrinsic::maximum) && !is(llvm::Intrinsic::maxnum))
        return std::nullopt;
    const auto bound = constantOf(call->getArgOperand(1));
    return bound ? std::optional(Limit{call->getArgOperand(0), isMost, *bound}) : std::nullopt;
}

void add(const Limit& limit, KnownLimits& limits)
{
    if (limit.isMost)
        limits.most = std::min(limits.most, limit.bound);
    else
        limits.least = std::max(limits.least, limit.bound);
}

/// What adding and subtracting 1.5 * 2^23 rounds to units of 1, whatever its sign.
bool isNear(const KnownLimits& limits) { return limits.least >= -0x1p22 && limits.most <= 0x1p22; }

/// A sum with a constant; null for any other.
const llvm::BinaryOperator* sumWithConstant(const llvm::User* user)
{
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
    const bool isSum = sum && sum->getOpcode() == llvm::Instruction::FAdd;
    return isSum && constantOf(sum->getOperand(1)) ? sum : nullptr;
}

/// The only limit that reads the value; null where anybody else does.
const llvm::Value* onlyLimit(const llvm::Value& value)
{
    const llvm::Value* found = nullptr;
    for (const llvm::User* user : value.users()) {
        if (llvm::isa<llvm::FCmpInst>(user)) continue;
        const auto limit = limitOf(user);
        if (!limit || limit->of != &value || found) return nullptr;
        found = user;
    }
    const bool isChoice = found && llvm::isa<llvm::SelectInst>(found);
    return found && value.hasNUses(isChoice ? 2 : 1) ? found : nullptr;
}

} // namespace

bool isNearBefore(const llvm::Value* x)
{
    KnownLimits limits;
    for (auto limit = limitOf(x); limit; limit = limitOf(limit->of)) add(*limit, limits);
    return isNear(limits);
}

const llvm::Value* limitedBehind(const llvm::Value& whole)
{
    constexpr double kMostZero = 0x1p16;
    const llvm::Value* at = &whole;
    if (at->hasOneUse())
        if (const auto* sum = sumWithConstant(*at->user_begin())) {
            if (std::abs(*constantOf(sum->getOperand(1))) > kMostZero) return nullptr;
            at = sum;
        }
    KnownLimits limits;
    while (const llvm::Value* limit = onlyLimit(*at)) {
        add(*limitOf(limit), limits);
        at = limit;
    }
    return limits.least >= -0x1p21 && limits.most <= 0x1p21 ? at : nullptr;
}

bool hasNoSignOfZero(const llvm::Value& value)
{
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
    if (call && llvm::isa<llvm::FPMathOperator>(call) && call->hasNoSignedZeros()) return true;
    return std::all_of(value.user_begin(), value.user_end(), [](const llvm::User* user) {
        if (llvm::isa<llvm::FPToSIInst>(user)) return true;
        const auto* sum = sumWithConstant(user);
        return sum && *constantOf(sum->getOperand(1)) != 0;
    });
}

} // namespace tenon::compiler
