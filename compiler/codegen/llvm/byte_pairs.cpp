// SPDX-License-Identifier: Apache-2.0
// Quads that are loaded for all lanes, and of which every reader takes one pair of bytes.
#include "compiler/codegen/llvm/byte_pairs.h"

#include "compiler/codegen/llvm/lane_loads.h"
#include "compiler/codegen/llvm/neon_products.h"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::compiler {
namespace {

constexpr int kLanes = 4;

/// A value that is pair 0 or pair 1 of a quad in every lane.
using Reader = std::pair<llvm::Instruction*, unsigned>;
using Readers = std::vector<Reader>;

llvm::FixedVectorType* pairsType(llvm::LLVMContext& context)
{
    return llvm::FixedVectorType::get(llvm::Type::getInt16Ty(context), kLanes);
}

/// Which of its quad's pairs a shuffle of halves takes for all lanes.
std::optional<unsigned> pairOf(const llvm::ShuffleVectorInst& shuffle)
{
    const llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
    if (mask.size() != kLanes || mask[0] < 0) return std::nullopt;
    for (const int half : mask)
        if (half < 0 || half >= 2 * kLanes || half % 2 != mask[0] % 2) return std::nullopt;
    return static_cast<unsigned>(mask[0] % 2);
}

/// Adds what reads one splat of a quad; false where that is more than pairs.
bool addReaders(llvm::ShuffleVectorInst& splat, Readers& readers)
{
    auto* pairs = pairsType(splat.getContext());
    auto* halves = llvm::FixedVectorType::get(pairs->getElementType(), 2 * kLanes);
    for (llvm::User* user : splat.users()) {
        auto* cast = llvm::dyn_cast<llvm::CastInst>(user);
        if (!cast) return false;
        if (cast->getOpcode() == llvm::Instruction::Trunc && cast->getType() == pairs) {
            readers.emplace_back(cast, 0);
            continue;
        }
        if (cast->getType() != halves) return false;
        for (llvm::User* reader : cast->users()) {
            auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(reader);
            const auto pair =
                shuffle && shuffle->getOperand(0) == cast ? pairOf(*shuffle) : std::nullopt;
            if (!pair) return false;
            readers.emplace_back(shuffle, *pair);
        }
    }
    return true;
}

/// All readers of a loaded quad; none where it serves anything else.
Readers readersOf(llvm::LoadInst& load)
{
    Readers readers;
    for (llvm::ShuffleVectorInst* splat : splatsOf(load)) {
        const auto* type = llvm::cast<llvm::FixedVectorType>(splat->getType());
        if (type->getNumElements() != kLanes || !addReaders(*splat, readers)) return {};
    }
    return readers;
}

/// The pairs of one quad, or of two that lie side by side, by one load at the first of them.
void copyAtLoad(const Neighbours& quads)
{
    llvm::IRBuilder<> builder(firstOf(quads).load);
    llvm::Value* address = addressOf(builder, quads);
    llvm::Value* copies =
        loadedCopies(builder, pairsType(builder.getContext()), address, quads.size() == 2 ? 4 : 2);
    for (unsigned quad = 0; quad < quads.size(); ++quad)
        for (const auto& [reader, pair] : readersOf(*quads[quad].load))
            reader->replaceAllUsesWith(builder.CreateExtractValue(copies, 2 * quad + pair));
}

void copyAll(const Neighbours& sorted)
{
    for (size_t at = 0; at < sorted.size();) {
        const bool isTwo = at + 1 < sorted.size() && sorted[at + 1].offset == sorted[at].offset + 1;
        const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(at);
        copyAtLoad({from, from + (isTwo ? 2 : 1)});
        at += isTwo ? 2 : 1;
    }
}

} // namespace

void copyPairsOfBytes(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
{
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    const auto isQuad = [](llvm::LoadInst& load) {
        return load.getType()->isIntegerTy(32) && !readersOf(load).empty();
    };
    for (llvm::BasicBlock& block : function) visitNeighbours(block, evolution, isQuad, copyAll);
}

} // namespace tenon::compiler
