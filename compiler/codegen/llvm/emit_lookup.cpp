// SPDX-License-Identifier: Apache-2.0
// Vectors of bytes as indices of a table of 256: what a function of one 8-bit tensor became. With
// instructions that permute bytes, the table stays in registers.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/byte_table.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

namespace {

/// The bytes that a vector of indices widens; null where it is anything else.
Expr bytesOf(const Expr& index)
{
    const bool isWidened =
        index->kind == ExprKind::Cast && index->args[0]->dtype.scalar() == kUInt8;
    return isWidened && index->dtype.lanes > 1 ? index->args[0] : Expr();
}

/// Lanes [from, from + count) of `vector`; those that it lacks are anything.
llvm::Value* part(KnownBuilder& builder, llvm::Value* vector, unsigned from, unsigned count)
{
    const auto* type = llvm::cast<llvm::FixedVectorType>(vector->getType());
    std::vector<int> lanes(count, llvm::PoisonMaskElem);
    for (unsigned i = 0; i < count && from + i < type->getNumElements(); ++i)
        lanes[i] = static_cast<int>(from + i);
    return builder.CreateShuffleVector(vector, lanes);
}

/// AVX-512 VBMI: two tables of 128 bytes, the index's highest bit chooses.
llvm::Value* permuted(KnownBuilder& builder, const std::vector<llvm::Value*>& table,
                      llvm::Value* index)
{
    const auto half = [&](size_t first) {
        return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                       {table[first], index, table[first + 1]});
    };
    llvm::Value* isUpper =
        builder.CreateICmpSLT(index, llvm::Constant::getNullValue(index->getType()));
    return builder.CreateSelect(isUpper, half(2), half(0));
}

/// Neon: four tables of 64 bytes, each of which leaves what it does not hold alone.
llvm::Value* extended(KnownBuilder& builder, const std::vector<llvm::Value*>& table,
                      llvm::Value* index)
{
    constexpr unsigned kRows = 4, kRowBytes = 16;
    llvm::Type* type = index->getType();
    llvm::Value* out = builder.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_tbl4, {type},
                                               {table[0], table[1], table[2], table[3], index});
    for (size_t first = kRows; first < table.size(); first += kRows) {
        index = builder.CreateSub(
            index, llvm::ConstantInt::get(type, static_cast<uint64_t>(kRows) * kRowBytes));
        out = builder.CreateIntrinsic(
            llvm::Intrinsic::aarch64_neon_tbx4, {type},
            {out, table[first], table[first + 1], table[first + 2], table[first + 3], index});
    }
    return out;
}

} // namespace

llvm::Value* Emitter::lookup(const ExprNode& node)
{
    const Expr bytes = bytesOf(node.args[0]);
    if (m_mask || !bytes.get() || !tir::isByteTable(*node.buffer) || node.dtype.isBool())
        return nullptr;
    if (!m_options.permutesBytes && !m_options.hasNarrowLanes) return nullptr;
    const unsigned width = m_options.permutesBytes ? 64 : 16;
    auto* type = llvm::FixedVectorType::get(m_builder.getInt8Ty(), width);
    std::vector<llvm::Value*> table;
    for (unsigned at = 0; at < tir::kByteTableEntries; at += width) {
        const auto [pointer, align] = address(node.buffer, Expr(static_cast<int64_t>(at)));
        table.push_back(m_builder.CreateAlignedLoad(type, pointer, align));
    }
    llvm::Value* index = value(bytes);
    const auto lanes = static_cast<unsigned>(node.dtype.lanes);
    std::vector<llvm::Value*> chosen;
    for (unsigned from = 0; from < lanes; from += width) {
        llvm::Value* bytesHere = part(m_builder, index, from, width);
        chosen.push_back(m_options.permutesBytes ? permuted(m_builder, table, bytesHere)
                                                 : extended(m_builder, table, bytesHere));
    }
    return part(m_builder, llvm::concatenateVectors(m_builder, chosen), 0, lanes);
}

} // namespace tenon::compiler
