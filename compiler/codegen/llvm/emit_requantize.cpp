// SPDX-License-Identifier: Apache-2.0
// Requantization. On AArch64 one instruction rounds to an integer and saturates, narrowing
// saturates again, so the limits of the type cost nothing; elsewhere limits come before rounding,
// one in place of two.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/requantization.h"
#include "compiler/codegen/llvm/unsplat.h"

#include <llvm/IR/IntrinsicsAArch64.h>

#include <bit>
#include <cmath>
#include <cstdlib>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

constexpr int kLanes = 4; ///< of 32 bits in a register

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
    return lanes >= kLanes && std::has_single_bit(static_cast<unsigned>(lanes));
}

/// The numbers as integers by an instruction that saturates, four by four.
std::vector<llvm::Value*> quadsOf(llvm::IRBuilderBase& builder, llvm::Value* numbers,
                                  llvm::Intrinsic::ID conversion)
{
    const auto lanes =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(numbers->getType())->getNumElements());
    auto* quad = llvm::FixedVectorType::get(builder.getInt32Ty(), kLanes);
    std::vector<llvm::Value*> quads;
    for (int first = 0; first < lanes; first += kLanes) {
        llvm::Value* part =
            lanes == kLanes
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

} // namespace

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

/// Between two requantizations in one kernel: integers of at most ten bits are exact as floats, so
/// they are rounded and limited as what they are.
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
    const auto match = requantizationOf(*whole->args[0]);
    if (!match) return nullptr;
    const Narrowing& to = match->narrowing;
    llvm::Value* x = value(*match->value);
    const auto real = [&](int64_t number) {
        return llvm::ConstantFP::get(x->getType(), static_cast<double>(number));
    };
    const auto limit = [&](llvm::Constant* bound, bool isTop) {
        if (m_options.hasNarrowLanes) // one instruction
            return m_builder.CreateBinaryIntrinsic(
                isTop ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, x, bound);
        const auto beyond = isTop ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT;
        return m_builder.CreateSelect(m_builder.CreateFCmp(beyond, bound, x), bound, x);
    };
    x = limit(real(to.least - to.zeroPoint), false);
    x = limit(real(to.most - to.zeroPoint), true);
    x = m_builder.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
    shift += to.zeroPoint;
    return shift == 0 ? x : m_builder.CreateFAdd(x, real(shift));
}

llvm::Value* Emitter::saturated(const ExprNode& cast)
{
    const DataType dtype = cast.dtype.scalar();
    const int lanes = cast.dtype.lanes;
    const bool isByte = dtype.bits == 8 && dtype.isInt() && !dtype.isBool();
    if (!isByte || cast.args[0]->dtype.scalar() != kFloat32 ||
        (m_options.hasNarrowLanes && !hasWholeQuads(lanes)))
        return nullptr;
    const auto low = static_cast<double>(tir::lowestOf(dtype)->integer);
    const auto high = static_cast<double>(tir::highestOf(dtype)->integer);
    bool hasLow = false, hasHigh = false;
    const Expr& number =
        withoutLimits(cast.args[0], ExprKind::FloatImm, [&](bool isTop, const ExprNode& limit) {
            (isTop ? hasHigh : hasLow) = limit.number == (isTop ? high : low);
        });
    if (!hasLow || !hasHigh) return nullptr;
    Narrowing narrowing{0, static_cast<int64_t>(low), static_cast<int64_t>(high), dtype.isSigned()};
    if (!m_options.hasNarrowLanes) {
        if (!m_options.convertsToNearest || lanes != 1) return nullptr;
        const ExprNode* rounded = roundedNumber(*number, narrowing.zeroPoint);
        return rounded ? bytesOf(m_builder,
                                 nearestWithin(value(rounded->args[0]), narrowing, kBothLimits),
                                 narrowing, typeOf(cast.dtype))
                       : nullptr;
    }
    return narrowQuads(m_builder, quadsOf(m_builder, value(number), llvm::Intrinsic::fptosi_sat),
                       narrowing);
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
