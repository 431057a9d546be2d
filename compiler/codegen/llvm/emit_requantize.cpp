// SPDX-License-Identifier: Apache-2.0
// Requantization. On AArch64 one instruction rounds to an integer and saturates, narrowing
// saturates again, so the limits of the type cost nothing; elsewhere limits come before rounding,
// one in place of two.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/near_reciprocal.h"
#include "compiler/codegen/llvm/requantization.h"
#include "compiler/codegen/llvm/unsplat.h"

#include <llvm/IR/IntrinsicsAArch64.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

constexpr int kCodeLanes = 4; ///< of 32 bits in a register

/// An integer constant, also one of another type that is cast.
std::optional<int64_t> integerOf(const Expr& expr)
{
    const ExprNode* node = unsplat(expr).get();
    if (node->kind == ExprKind::Cast && node->dtype.scalar() == kInt32)
        node = unsplat(node->args[0]).get();
    return node->kind == ExprKind::IntImm ? std::optional(node->integer) : std::nullopt;
}

/// The expression inside minima and maxima with constants, each shown to `limit`.
template <typename Limit>
const Expr& withoutLimits(const Expr& expr, ExprKind constant, const Limit& limit)
{
    const Expr* inner = &expr;
    while (((*inner)->kind == ExprKind::Min || (*inner)->kind == ExprKind::Max) &&
           unsplat((*inner)->args[1])->kind == constant) {
        limit((*inner)->kind == ExprKind::Min, *unsplat((*inner)->args[1]));
        inner = &(*inner)->args[0];
    }
    return *inner;
}

struct Rounded
{
    const Expr* value;
    bool isNear; ///< without limits, so that none is needed
};

/// x of int32(round(x)), a binary32 number that may be limited beyond what 16 bits can hold.
std::optional<Rounded> roundedValue(const ExprNode& node)
{
    if (node.kind != ExprKind::Cast || node.dtype.scalar() != kInt32) return std::nullopt;
    bool isFar = true;
    const ExprNode* inner =
        withoutLimits(node.args[0], ExprKind::FloatImm, [&](bool isTop, const ExprNode& limit) {
            isFar = isFar && (isTop ? limit.number > INT16_MAX : limit.number < INT16_MIN);
        }).get();
    const bool isRound = inner->kind == ExprKind::Intrinsic &&
                         inner->intrinsic == tir::Intrinsic::Round &&
                         inner->dtype.scalar() == kFloat32;
    if (!isFar || !isRound) return std::nullopt;
    return Rounded{&inner->args[0], inner == node.args[0].get()};
}

bool hasWholeQuads(int lanes)
{
    return lanes >= kCodeLanes && std::has_single_bit(static_cast<unsigned>(lanes));
}

/// The numbers as integers by an instruction that saturates, four by four.
std::vector<llvm::Value*> quadsOf(llvm::IRBuilderBase& builder, llvm::Value* numbers,
                                  llvm::Intrinsic::ID conversion)
{
    const auto lanes =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(numbers->getType())->getNumElements());
    auto* quad = llvm::FixedVectorType::get(builder.getInt32Ty(), kCodeLanes);
    std::vector<llvm::Value*> quads;
    for (int first = 0; first < lanes; first += kCodeLanes) {
        llvm::Value* part =
            lanes == kCodeLanes
                ? numbers
                : builder.CreateShuffleVector(numbers, {first, first + 1, first + 2, first + 3});
        quads.push_back(builder.CreateIntrinsic(conversion, {quad, part->getType()}, {part}));
    }
    return quads;
}

/// Whole numbers within their limits, as bytes.
llvm::Value* bytesOf(llvm::IRBuilderBase& builder, llvm::Value* whole, const Narrowing& to,
                     llvm::Type* type)
{
    llvm::Value* zero = llvm::ConstantInt::getSigned(whole->getType(), to.zeroPoint);
    return builder.CreateTrunc(builder.CreateAdd(whole, zero), type);
}

/// A whole number among floats, also an integer that is cast.
std::optional<int64_t> wholeOf(const Expr& expr)
{
    const ExprNode* node = unsplat(expr).get();
    if (node->kind == ExprKind::FloatImm && node->number == std::nearbyint(node->number) &&
        std::abs(node->number) <= UINT8_MAX)
        return static_cast<int64_t>(node->number);
    if (node->kind == ExprKind::Cast) node = unsplat(node->args[0]).get();
    const bool isWhole = node->kind == ExprKind::IntImm && std::abs(node->integer) <= UINT8_MAX;
    return isWhole ? std::optional(node->integer) : std::nullopt;
}

/// The rounded number in round(x) + `zeroPoint`; null where it is none.
const ExprNode* roundedNumber(const ExprNode& number, int64_t& zeroPoint)
{
    const ExprNode* rounded = &number;
    if (number.kind == ExprKind::Add) {
        const auto zero = wholeOf(number.args[1]);
        if (!zero) return nullptr;
        zeroPoint = *zero;
        rounded = number.args[0].get();
    }
    const bool isRound =
        rounded->kind == ExprKind::Intrinsic && rounded->intrinsic == tir::Intrinsic::Round;
    return isRound ? rounded : nullptr;
}

Narrowing limitsOf(DataType dtype)
{
    const DataType scalar = dtype.scalar();
    return {0, tir::lowestOf(scalar)->integer, tir::highestOf(scalar)->integer, scalar.isSigned()};
}

/// The binary32 number that a cast to bytes limits to what they hold; null where it does not.
const Expr* saturatedNumber(const ExprNode& cast)
{
    const DataType dtype = cast.dtype.scalar();
    const bool isByte = dtype.bits == 8 && dtype.isInt() && !dtype.isBool();
    if (!isByte || cast.args[0]->dtype.scalar() != kFloat32) return nullptr;
    const Narrowing limits = limitsOf(dtype);
    bool hasLow = false, hasHigh = false;
    const Expr& number =
        withoutLimits(cast.args[0], ExprKind::FloatImm, [&](bool isTop, const ExprNode& limit) {
            (isTop ? hasHigh : hasLow) =
                limit.number == static_cast<double>(isTop ? limits.most : limits.least);
        });
    return hasLow && hasHigh ? &number : nullptr;
}

/// A number of few digits, rounded. RISC-V rounds by way of an integer, and asks first whether the
/// number is small enough for one where it does not know.
llvm::Value* wholeNumber(llvm::IRBuilderBase& builder, const EmitOptions& options, llvm::Value* x)
{
    if (options.convertsToNearest && !x->getType()->isVectorTy()) {
        llvm::Type* word = builder.GetInsertBlock()->getModule()->getDataLayout().getIntPtrType(
            builder.getContext());
        llvm::Value* whole =
            builder.CreateIntrinsic(llvm::Intrinsic::lrint, {word, x->getType()}, {x});
        return builder.CreateSIToFP(whole, x->getType());
    }
    x = builder.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
    if (auto* call = llvm::dyn_cast<llvm::Instruction>(x)) call->setHasNoSignedZeros(true);
    return x;
}

} // namespace

std::optional<Requantization> quantizationOf(const ExprNode& cast)
{
    const Expr* number = saturatedNumber(cast);
    if (!number) return std::nullopt;
    Narrowing narrowing = limitsOf(cast.dtype);
    const ExprNode* rounded = roundedNumber(**number, narrowing.zeroPoint);
    if (!rounded || rounded->dtype.scalar() != kFloat32) return std::nullopt;
    return Requantization{&rounded->args[0], false, narrowing};
}

std::optional<Requantization> requantizationOf(const ExprNode& cast)
{
    const DataType dtype = cast.dtype.scalar();
    if (dtype.bits != 8 || !dtype.isInt() || dtype.isBool()) return std::nullopt;
    int64_t least = INT32_MIN, most = INT32_MAX;
    const ExprNode* sum =
        withoutLimits(cast.args[0], ExprKind::IntImm, [&](bool isTop, const ExprNode& limit) {
            if (isTop)
                most = std::min(most, limit.integer);
            else
                least = std::max(least, limit.integer);
        }).get();
    int64_t zeroPoint = 0;
    if (const auto constant = sum->kind == ExprKind::Add ? integerOf(sum->args[1]) : std::nullopt) {
        zeroPoint = *constant;
        sum = sum->args[0].get();
    }
    const auto rounded = roundedValue(*sum);
    // Without limits inside the type's the cast would wrap.
    if (!rounded || least < tir::lowestOf(dtype)->integer ||
        most > tir::highestOf(dtype)->integer || least > most || std::abs(zeroPoint) > UINT8_MAX)
        return std::nullopt;
    return Requantization{
        rounded->value, rounded->isNear, {zeroPoint, least, most, dtype.isSigned()}};
}

/// Between what is rounded and its next use in one kernel: integers of at most ten bits are exact
/// as floats, so they are rounded and limited as what they are.
llvm::Value* Emitter::requantizedNumber(const ExprNode& cast)
{
    if (cast.dtype.scalar() != kFloat32 || cast.args[0]->dtype.scalar() != kInt32) return nullptr;
    const ExprNode* whole = cast.args[0].get();
    int64_t shift = 0;
    if (whole->kind == ExprKind::Sub || whole->kind == ExprKind::Add) {
        const auto constant = integerOf(whole->args[1]);
        if (!constant || std::abs(*constant) > UINT8_MAX) return nullptr;
        shift = whole->kind == ExprKind::Sub ? -*constant : *constant;
        whole = whole->args[0].get();
    }
    if (whole->kind != ExprKind::Cast || whole->args[0]->kind != ExprKind::Cast) return nullptr;
    const auto sum = requantizationOf(*whole->args[0]);
    const auto match = sum ? sum : quantizationOf(*whole->args[0]);
    if (!match) return nullptr;
    const Narrowing& to = match->narrowing;
    llvm::Value* x =
        limitedNumber(m_builder, m_options, numberWithin(*match->value, to), to, kBothLimits);
    x = wholeNumber(m_builder, m_options, x);
    shift += to.zeroPoint;
    // Of floats that a reader may see, adding 0 makes 0 of -0, as an integer has it; what sums
    // become is scaled and rounded again.
    const bool isExact = shift == 0 && (sum || to.least >= to.zeroPoint);
    llvm::Value* moved = llvm::ConstantFP::get(x->getType(), static_cast<double>(shift));
    return isExact ? x : m_builder.CreateFAdd(x, moved);
}

llvm::Value* limitedNumber(llvm::IRBuilderBase& builder, const EmitOptions& options, llvm::Value* x,
                           const Narrowing& to, int limits)
{
    const bool isVector = x->getType()->isVectorTy();
    const bool keepsNan = isVector && options.nanMaximumLanes == 2;
    for (const Limits limit : {kLowLimit, kHighLimit}) {
        if (!(limits & limit)) continue;
        const bool isTop = limit == kHighLimit;
        llvm::Value* bound = llvm::ConstantFP::get(
            x->getType(), static_cast<double>((isTop ? to.most : to.least) - to.zeroPoint));
        if (keepsNan || options.hasNarrowLanes || options.convertsToNearest) {
            // One instruction.
            const auto most = keepsNan ? llvm::Intrinsic::minimum : llvm::Intrinsic::minnum;
            const auto least = keepsNan ? llvm::Intrinsic::maximum : llvm::Intrinsic::maxnum;
            x = builder.CreateBinaryIntrinsic(isTop ? most : least, x, bound);
            continue;
        }
        const auto within = isTop ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT;
        x = builder.CreateSelect(builder.CreateFCmp(within, x, bound), x, bound);
    }
    return x;
}

/// A number that will be limited and rounded. What is 0 at least already need not be made so.
llvm::Value* Emitter::numberWithin(const Expr& expr, const Narrowing& to)
{
    const Expr& divisor = expr->kind == ExprKind::Div ? unsplat(expr->args[1]) : expr;
    if (expr->dtype.scalar() != kFloat32 || divisor->kind != ExprKind::FloatImm ||
        divisor->number <= 0)
        return value(expr);
    const Expr* of = &expr->args[0];
    const bool isPositive = (*of)->kind == ExprKind::Max &&
                            unsplat((*of)->args[1])->kind == ExprKind::FloatImm &&
                            unsplat((*of)->args[1])->number == 0;
    if (isPositive && to.least >= to.zeroPoint) of = &(*of)->args[0];
    llvm::Value* x = value(*of);
    llvm::Type* type = x->getType();
    const auto by = static_cast<float>(divisor->number);
    const auto reciprocal =
        m_options.dividesByLanes && type->isVectorTy()
            ? nearReciprocal(by, std::max(to.most - to.zeroPoint, to.zeroPoint - to.least))
            : std::nullopt;
    if (!reciprocal) return m_builder.CreateFDiv(x, llvm::ConstantFP::get(type, divisor->number));
    llvm::Value* high = llvm::ConstantFP::get(type, static_cast<double>(reciprocal->high));
    llvm::Value* low = llvm::ConstantFP::get(type, static_cast<double>(reciprocal->low));
    if (reciprocal->low == 0) return m_builder.CreateFMul(x, high);
    return m_builder.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                     {x, high, m_builder.CreateFMul(x, low)});
}

llvm::Value* Emitter::saturated(const ExprNode& cast)
{
    const int lanes = cast.dtype.lanes;
    const Expr* number = saturatedNumber(cast);
    if (!number || (m_options.hasNarrowLanes && !hasWholeQuads(lanes))) return nullptr;
    const auto match = quantizationOf(cast);
    if (m_options.hasNarrowLanes)
        return match ? narrowQuads(m_builder,
                                   quadsOf(m_builder, numberWithin(*match->value, match->narrowing),
                                           llvm::Intrinsic::aarch64_neon_fcvtns),
                                   match->narrowing)
                     : narrowQuads(m_builder,
                                   quadsOf(m_builder, value(*number), llvm::Intrinsic::fptosi_sat),
                                   limitsOf(cast.dtype));
    const bool isNearest = m_options.convertsToNearest && lanes == 1;
    if (!match || (!isNearest && lanes < kCodeLanes)) return nullptr;
    const Narrowing& to = match->narrowing;
    return bytesOf(m_builder, nearestWithin(numberWithin(*match->value, to), to, kBothLimits), to,
                   typeOf(cast.dtype));
}

llvm::Value* Emitter::requantized(const ExprNode& cast)
{
    const int lanes = cast.dtype.lanes;
    const auto match = requantizationOf(cast);
    if (!match) return saturated(cast);
    if (!m_options.hasNarrowLanes)
        return bytesOf(m_builder,
                       nearestWithin(value(*match->value), match->narrowing, kBothLimits),
                       match->narrowing, typeOf(cast.dtype));
    if (!hasWholeQuads(lanes)) return nullptr;
    return narrowQuads(
        m_builder, quadsOf(m_builder, value(*match->value), llvm::Intrinsic::aarch64_neon_fcvtns),
        match->narrowing);
}

} // namespace tenon::compiler
