// SPDX-License-Identifier: Apache-2.0
// Runs of elements that lie side by side in memory. Vectors of 7 or 14 lanes, rows of small images,
// take one instruction where a mask leaves the other lanes of a register alone; without it LLVM
// puts them together from vectors of 8, 4 and 2 (14 lanes: 5 instructions to load, 4 to store).
#include "compiler/codegen/llvm/masked_runs.h"

#include <llvm/ADT/bit.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tenon::compiler {
namespace {

constexpr unsigned kFewestLanes = 5; // LLVM moves 3 lanes by two instructions

/// Lanes of the register that holds so many; 0 where there is no mask, or no need of one.
unsigned maskedLanes(const tir::BufferNode& buffer, llvm::Type* type, const EmitOptions& options)
{
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!options.masksLanes || !vector || buffer.scope == tir::Scope::Register) return 0;
    const unsigned lanes = vector->getNumElements(), bits = type->getScalarSizeInBits();
    const unsigned whole = llvm::bit_ceil(lanes);
    const bool fits = whole * bits <= static_cast<unsigned>(options.vectorBytes) * 8;
    return (bits == 32 || bits == 64) && lanes >= kFewestLanes && lanes != whole && fits ? whole
                                                                                         : 0;
}

llvm::Constant* firstOf(llvm::LLVMContext& context, unsigned lanes, unsigned whole)
{
    std::vector<llvm::Constant*> mask;
    for (unsigned lane = 0; lane < whole; ++lane)
        mask.push_back(llvm::ConstantInt::getBool(context, lane < lanes));
    return llvm::ConstantVector::get(mask);
}

/// The first `to` lanes of a vector, or it and lanes of any content.
llvm::Value* withLanes(llvm::IRBuilderBase& builder, llvm::Value* vector, unsigned to)
{
    const unsigned from = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
    std::vector<int> order(to, -1);
    std::iota(order.begin(), order.begin() + std::min(from, to), 0);
    return builder.CreateShuffleVector(vector, order);
}

} // namespace

llvm::Value* loadRun(llvm::IRBuilderBase& builder, const EmitOptions& options,
                     const tir::BufferNode& buffer, llvm::Type* type, const RunPlace& place)
{
    const unsigned whole = maskedLanes(buffer, type, options);
    if (whole == 0) return builder.CreateAlignedLoad(type, place.pointer, place.align);
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    auto* wide = llvm::FixedVectorType::get(type->getScalarType(), whole);
    llvm::Value* loaded = builder.CreateMaskedLoad(wide, place.pointer, place.align,
                                                   firstOf(builder.getContext(), lanes, whole),
                                                   llvm::Constant::getNullValue(wide));
    return withLanes(builder, loaded, lanes);
}

void storeRun(llvm::IRBuilderBase& builder, const EmitOptions& options,
              const tir::BufferNode& buffer, llvm::Value* stored, const RunPlace& place)
{
    const unsigned whole = maskedLanes(buffer, stored->getType(), options);
    if (whole == 0) {
        builder.CreateAlignedStore(stored, place.pointer, place.align);
        return;
    }
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(stored->getType())->getNumElements();
    builder.CreateMaskedStore(withLanes(builder, stored, whole), place.pointer, place.align,
                              firstOf(builder.getContext(), lanes, whole));
}

} // namespace tenon::compiler
