// SPDX-License-Identifier: Apache-2.0
// Two products of 16-bit numbers and their sum by one instruction of x86: numbers side by side in
// memory, the same for all lanes, times the halves of a word of each lane.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/unsplat.h"
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;

namespace {

bool isShiftByHalf(const Expr& expr, Intrinsic shift)
{
    if (expr->kind != ExprKind::Intrinsic || expr->intrinsic != shift) return false;
    const Expr& bits = unsplat(expr->args[1]);
    return bits->kind == ExprKind::IntImm && bits->integer == 16;
}

/// The words of which `expr` is a half with its sign; null for anything else.
const Expr* wordsOf(const Expr& expr, int half)
{
    if (!isShiftByHalf(expr, Intrinsic::ShiftRight)) return nullptr;
    const Expr& words = expr->args[0];
    if (half == 1) return &words;
    return isShiftByHalf(words, Intrinsic::ShiftLeft) ? &words->args[0] : nullptr;
}

/// What a widened int16 of all lanes is loaded by; null for anything else.
const tir::ExprNode* loadOf(const Expr& expr)
{
    const Expr& cast = unsplat(expr);
    if (cast->kind != ExprKind::Cast) return nullptr;
    const Expr& load = unsplat(cast->args[0]);
    if (load->kind != ExprKind::Load || load->buffer->dtype != kInt16) return nullptr;
    return load->args[0]->dtype.lanes == 1 ? load.get() : nullptr;
}

llvm::Intrinsic::ID instructionOf(int lanes, int vectorBytes)
{
    if (lanes * 4 > vectorBytes) return llvm::Intrinsic::not_intrinsic;
    switch (lanes) {
    case 4: return llvm::Intrinsic::x86_sse2_pmadd_wd;
    case 8: return llvm::Intrinsic::x86_avx2_pmadd_wd;
    case 16: return llvm::Intrinsic::x86_avx512_pmaddw_d_512;
    default: return llvm::Intrinsic::not_intrinsic;
    }
}

} // namespace

llvm::Value* Emitter::pairOfProducts(const tir::ExprNode& sum)
{
    const bool hasPairs =
        m_options.byteDot == ByteDot::MultiplyAdd || m_options.byteDot == ByteDot::SignedAdd;
    if (!hasPairs || sum.kind != ExprKind::Add || sum.dtype.scalar() != kInt32) return nullptr;
    const auto id = instructionOf(sum.dtype.lanes, m_options.vectorBytes);
    const Expr &low = sum.args[0], &high = sum.args[1];
    if (id == llvm::Intrinsic::not_intrinsic || low->kind != ExprKind::Mul ||
        high->kind != ExprKind::Mul)
        return nullptr;
    const Expr *words = wordsOf(low->args[1], 0), *same = wordsOf(high->args[1], 1);
    const tir::ExprNode *first = loadOf(low->args[0]), *second = loadOf(high->args[0]);
    if (!words || !same || !tir::structuralEqual(*words, *same) || !first || !second ||
        first->buffer != second->buffer)
        return nullptr;
    const tir::Sum apart =
        tir::added(tir::asWritten(second->args[0]), tir::asWritten(first->args[0]), -1);
    if (!apart.isConst() || apart.constant != 1) return nullptr;
    auto* halves = llvm::FixedVectorType::get(m_builder.getInt16Ty(),
                                              2 * static_cast<unsigned>(sum.dtype.lanes));
    const auto [place, align] = address(first->buffer, first->args[0]);
    llvm::Value* both = m_builder.CreateAlignedLoad(m_builder.getInt32Ty(), place, align);
    llvm::Value* copies = m_builder.CreateVectorSplat(sum.dtype.lanes, both);
    return m_builder.CreateIntrinsic(
        id, {},
        {m_builder.CreateBitCast(copies, halves), m_builder.CreateBitCast(value(*words), halves)});
}

} // namespace tenon::compiler
