// SPDX-License-Identifier: Apache-2.0
// Quads of bytes from up to four vectors (rows of an image, for depthwise convolutions; planes or
// columns, for the first layer): where a processor permutes bytes, the vectors side by side become
// quads by one instruction in place of a widening and a shift each; AArch64 stores four vectors
// element by element, or interleaves two.
#include "compiler/codegen/llvm/byte_quads.h"
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/interleaved.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprNode;

namespace {

constexpr int kLanes = 16;
constexpr int kQuad = 4;

/// Indices of the bytes of quads. The load is volatile so that LLVM does not know them: it would
/// make of insertions and one permutation what takes three permutations' time.
llvm::Value* interleaving(llvm::BasicBlock& entry, llvm::Type* type)
{
    constexpr const char* kName = "tenon.quads";
    llvm::Module& module = *entry.getModule();
    llvm::GlobalVariable* indices = module.getNamedGlobal(kName);
    if (!indices) {
        std::array<uint8_t, kQuad * kLanes> bytes{};
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<uint8_t>(i % kQuad * kLanes + i / kQuad);
        indices = new llvm::GlobalVariable(
            module, type, true, llvm::GlobalValue::PrivateLinkage,
            llvm::ConstantDataVector::get(module.getContext(), llvm::ArrayRef(bytes)), kName);
        indices->setAlignment(llvm::Align(bytes.size()));
    }
    for (llvm::User* user : indices->users())
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user); load && load->getParent() == &entry)
            return load;
    llvm::IRBuilder<> builder(&entry, entry.begin());
    return builder.CreateAlignedLoad(type, indices, *indices->getAlign(), /*isVolatile=*/true);
}

} // namespace

llvm::Value* Emitter::quads(const ExprNode& node)
{
    // Of one quad, LLVM sees it by itself.
    const bool mayLoad = !m_mask && node.dtype.scalar() == kInt32 && node.dtype.lanes > 1 &&
                         m_module.getDataLayout().isLittleEndian();
    if (!mayLoad) return quadsOfVectors(node);
    const Expr first = firstByteOfQuads(node);
    if (!first.get()) return quadsOfVectors(node);
    const auto [pointer, align] = address(first->buffer, first->args[0]);
    return m_builder.CreateAlignedLoad(typeOf(node.dtype), pointer, align);
}

llvm::Value* Emitter::quadsOfVectors(const ExprNode& node)
{
    if ((!m_options.permutesBytes && !m_options.hasNarrowLanes) ||
        node.dtype != kInt32.withLanes(kLanes))
        return nullptr;
    std::array<Expr, kQuad> vectors;
    if (!collectQuad(node, vectors)) return nullptr;
    const auto count = std::count_if(vectors.begin(), vectors.end(),
                                     [](const Expr& vector) { return vector.get() != nullptr; });
    if (count < 3) return nullptr; // two are widened as fast
    llvm::Value* rows = llvm::Constant::getNullValue(
        llvm::FixedVectorType::get(m_builder.getInt8Ty(), kQuad * kLanes));
    for (size_t i = 0; i < kQuad; ++i)
        if (vectors[i].get())
            rows = m_builder.CreateInsertVector(rows->getType(), rows, value(vectors[i]),
                                                m_builder.getInt64(i * kLanes));
    llvm::Value* quads =
        m_options.hasNarrowLanes
            ? interleaved(m_builder, rows)
            : m_builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_qi_512, {},
                                        {rows, interleaving(*m_entry, rows->getType())});
    return m_builder.CreateBitCast(quads, typeOf(node.dtype));
}

} // namespace tenon::compiler
