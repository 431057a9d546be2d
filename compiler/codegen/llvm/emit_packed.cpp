// SPDX-License-Identifier: Apache-2.0
// Numbers that become bytes: rounded by one instruction where x86 has it, and on AVX2 and AVX-512
// up to four vectors per store.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/requantization.h"
#include "compiler/codegen/llvm/unsplat.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;

namespace {

/// Vectors whose bytes fill another one.
constexpr int64_t kPacked = 4;
constexpr int kMostLanes = 16; ///< of AVX-512; 8 are those of AVX2

/// Integers times a constant below 1: conversions of them do not overflow.
bool fitsInt32(const Expr& value)
{
    if (value->kind != ExprKind::Mul) return false;
    const Expr& whole = value->args[0];
    const Expr& factor = unsplat(value->args[1]);
    return factor->kind == ExprKind::FloatImm && std::abs(factor->number) < 0.99 &&
           whole->kind == ExprKind::Cast && whole->args[0]->dtype.scalar() == kInt32;
}

/// Packing saturates, also what is below all integers; a number above them would become negative.
int limitsBeforePacking(const Requantization& match)
{
    const Narrowing& to = match.narrowing;
    const bool isLowest = to.least == (to.isSigned ? INT8_MIN : 0);
    const bool isHighest = to.most == (to.isSigned ? INT8_MAX : UINT8_MAX);
    const bool fits = match.isNear || fitsInt32(*match.value);
    return (isLowest ? 0 : kLowLimit) | (isHighest && fits ? 0 : kHighLimit);
}

/// Up to four vectors of 32-bit integers as bytes in order.
llvm::Value* packed(llvm::IRBuilderBase& builder, const std::vector<llvm::Value*>& whole,
                    const Narrowing& to)
{
    using namespace llvm::Intrinsic;
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(whole[0]->getType())->getNumElements();
    const bool isWide = lanes == kMostLanes;
    const auto halves = [&](size_t first) -> llvm::Value* {
        llvm::Value* pair =
            builder.CreateIntrinsic(isWide ? x86_avx512_packssdw_512 : x86_avx2_packssdw, {},
                                    {whole[first], whole[std::min(first + 1, whole.size() - 1)]});
        if (to.zeroPoint == 0) return pair;
        llvm::Value* zero = llvm::ConstantInt::getSigned(pair->getType(), to.zeroPoint);
        return builder.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, pair, zero);
    };
    const ID pack = isWide ? (to.isSigned ? x86_avx512_packsswb_512 : x86_avx512_packuswb_512)
                           : (to.isSigned ? x86_avx2_packsswb : x86_avx2_packuswb);
    llvm::Value* low = halves(0);
    llvm::Value* bytes =
        builder.CreateIntrinsic(pack, {}, {low, whole.size() > 2 ? halves(2) : low});
    // Each 16 bytes hold four of every vector.
    std::vector<int> order;
    for (int vector = 0; vector < static_cast<int>(whole.size()); ++vector)
        for (int part = 0; part < static_cast<int>(lanes) / 4; ++part)
            order.push_back(4 * part + vector);
    auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), lanes);
    return builder.CreateShuffleVector(builder.CreateBitCast(bytes, words), order);
}

} // namespace

/// Limits that are whole numbers may come before rounding.
llvm::Value* Emitter::nearestWithin(llvm::Value* x, const Narrowing& to, int limits)
{
    x = limitedNumber(m_builder, m_options, x, to, limits);
    if (m_options.convertsToNearest && !x->getType()->isVectorTy()) {
        llvm::Type* word = m_module.getDataLayout().getIntPtrType(m_builder.getContext());
        return m_builder.CreateTrunc(
            m_builder.CreateIntrinsic(llvm::Intrinsic::lrint, {word, x->getType()}, {x}),
            m_builder.getInt32Ty());
    }
    auto* integers = x->getType()->getWithNewType(m_builder.getInt32Ty());
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
    const int lanes = vector ? static_cast<int>(vector->getNumElements()) : 1;
    const bool isX86 = llvm::Triple(m_module.getTargetTriple()).getArch() == llvm::Triple::x86_64;
    if (isX86 && lanes * 4 <= m_options.vectorBytes) {
        if (lanes == 4)
            return m_builder.CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvtps2dq, {}, {x});
        if (lanes == 8)
            return m_builder.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, {x});
        constexpr uint32_t kCurrentMode = 4; // to nearest, halves to even: nothing changes it
        if (lanes == kMostLanes)
            return m_builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
                                             {x, llvm::Constant::getNullValue(integers),
                                              m_builder.getInt16(0xffff),
                                              m_builder.getInt32(kCurrentMode)});
    }
    return m_builder.CreateFPToSI(m_builder.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x),
                                  integers);
}

bool Emitter::unrolledPacked(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                             int64_t extent)
{
    const tir::StmtNode& store = *node.body;
    if (store.kind != tir::StmtKind::Store || extent < 2) return false;
    const Expr& index = store.indices[0];
    const int lanes = store.value->dtype.lanes;
    if ((lanes != kMostLanes && lanes != kMostLanes / 2) || lanes > m_options.packedLanes ||
        store.value->kind != ExprKind::Cast || index->kind != ExprKind::Ramp ||
        !index->args[1].isConstInt(1))
        return false;
    const auto sum = requantizationOf(*store.value);
    const auto match = sum ? sum : quantizationOf(*store.value);
    if (!match) return false;
    const Narrowing& to = match->narrowing;
    const auto select = [&](int64_t i) { selectRound(node, begin, i); };
    const auto startOf = [&](int64_t i) {
        select(i);
        return affineOf(index->args[0]);
    };
    const Affine first = startOf(0), second = startOf(1);
    if (second.terms != first.terms || second.constant != first.constant + lanes) return false;
    for (int64_t i = 0; i < extent; i += kPacked) {
        std::vector<llvm::Value*> whole;
        for (int64_t k = i; k < std::min(i + kPacked, extent); ++k) {
            select(k);
            llvm::Value* number = sum ? value(*match->value) : numberWithin(*match->value, to);
            whole.push_back(nearestWithin(number, to, limitsBeforePacking(*match)));
        }
        select(i);
        const auto [pointer, align] = address(store.buffer, index->args[0]);
        m_builder.CreateAlignedStore(packed(m_builder, whole, to), pointer, align);
    }
    return true;
}

} // namespace tenon::compiler
