// SPDX-License-Identifier: Apache-2.0
// Requantization. On AArch64 one instruction rounds to an integer and saturates, narrowing
// saturates again, so the limits of the type cost nothing; elsewhere limits come before rounding,
// one in place of two.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/requantization.h"
#include "compiler/codegen/llvm/unsplat.h"

#include <llvm/IR/IntrinsicsAArch64.h>

#include <bit>
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
const ExprNode* withoutLimits(const Expr& expr, ExprKind constant, const Limit& limit)
{
    const ExprNode* node = expr.get();
    while ((node->kind == ExprKind::Min || node->kind == ExprKind::Max) &&
           unsplat(node->args[1])->kind == constant) {
        limit(node->kind == ExprKind::Min, *unsplat(node->args[1]));
        node = node->args[0].get();
    }
    return node;
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
        });
    const bool isRound = inner->kind == ExprKind::Intrinsic &&
                         inner->intrinsic == tir::Intrinsic::Round &&
                         inner->dtype.scalar() == kFloat32;
    if (!isFar || !isRound) return std::nullopt;
    return Rounded{&inner->args[0], inner == node.args[0].get()};
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
        });
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

llvm::Value* Emitter::requantized(const ExprNode& cast)
{
    const int lanes = cast.dtype.lanes;
    const auto match = requantizationOf(cast);
    if (!match) return nullptr;
    if (!m_options.hasNarrowLanes) {
        llvm::Value* whole = nearestWithin(value(*match->value), match->narrowing, kBothLimits);
        llvm::Value* zero =
            llvm::ConstantInt::getSigned(whole->getType(), match->narrowing.zeroPoint);
        return m_builder.CreateTrunc(m_builder.CreateAdd(whole, zero), typeOf(cast.dtype));
    }
    if (lanes < kLanes || !std::has_single_bit(static_cast<unsigned>(lanes))) return nullptr;
    llvm::Value* numbers = value(*match->value);
    auto* quad = llvm::FixedVectorType::get(m_builder.getInt32Ty(), kLanes);
    std::vector<llvm::Value*> quads;
    for (int first = 0; first < lanes; first += kLanes) {
        llvm::Value* part =
            lanes == kLanes
                ? numbers
                : m_builder.CreateShuffleVector(numbers, {first, first + 1, first + 2, first + 3});
        quads.push_back(m_builder.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_fcvtns,
                                                  {quad, part->getType()}, {part}));
    }
    return narrowQuads(m_builder, quads, match->narrowing);
}

} // namespace tenon::compiler
