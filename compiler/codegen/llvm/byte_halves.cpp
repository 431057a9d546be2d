// SPDX-License-Identifier: Apache-2.0
// Bytes of depthwise convolutions, whose columns lie side by side, and of what is added to sums.
#include "compiler/codegen/llvm/byte_halves.h"

#include "compiler/codegen/llvm/lane_loads.h"
#include "compiler/codegen/llvm/neon_products.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

constexpr int kLow[] = {0, 1, 2, 3}, kHigh[] = {4, 5, 6, 7}, kBoth[] = {0, 1, 2, 3, 0, 1, 2, 3};

/// Four bytes that become four of 16 bits in products, or four of 32 bits.
bool isWidened(llvm::LoadInst& load)
{
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
    if (!type || type->getNumElements() != 4 || type->getScalarSizeInBits() != 8 ||
        load.use_empty())
        return false;
    return llvm::all_of(load.users(), [](const llvm::User* user) {
        const auto* wide = llvm::dyn_cast<llvm::SExtInst>(user);
        if (!wide) return false;
        const unsigned bits = wide->getType()->getScalarSizeInBits();
        return bits == 32 || (bits == 16 && llvm::all_of(wide->users(), isLongProduct));
    });
}

class Joiner
{
public:
    void joinRuns(const Neighbours& sorted)
    {
        for (size_t at = 0; at < sorted.size();) {
            size_t count = 1;
            while (count < kQuads && at + count < sorted.size() &&
                   sorted[at + count].offset == sorted[at].offset + static_cast<int>(count))
                ++count;
            count -= count % 2;
            const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(at);
            if (count > 0) join({from, from + static_cast<std::ptrdiff_t>(count)});
            at += std::max<size_t>(1, count);
        }
    }

private:
    static constexpr size_t kQuads = 4; ///< in a register

    /// One or two pairs.
    void join(const Neighbours& quads)
    {
        llvm::IRBuilder<> builder(firstOf(quads).load);
        auto* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(),
                                                 static_cast<unsigned>(4 * quads.size()));
        llvm::Value* all =
            builder.CreateAlignedLoad(bytes, addressOf(builder, quads), quads[0].load->getAlign());
        for (size_t at = 0; at < quads.size(); at += 2) {
            std::vector<int> lanes(8);
            std::iota(lanes.begin(), lanes.end(), static_cast<int>(4 * at));
            llvm::Value* pair = builder.CreateShuffleVector(all, lanes);
            widen(builder, *pair, *quads[at].load, *quads[at + 1].load);
        }
    }

    void widen(llvm::IRBuilder<>& builder, llvm::Value& bytes, llvm::LoadInst& first,
               llvm::LoadInst& second)
    {
        llvm::Value* whole =
            builder.CreateSExt(&bytes, llvm::FixedVectorType::get(builder.getInt16Ty(), 8));
        replace(builder, first, *builder.CreateShuffleVector(whole, kLow));
        llvm::Value* high = builder.CreateShuffleVector(whole, kHigh);
        replace(builder, second, *high);
        for (llvm::User* user : llvm::make_early_inc_range(high->users()))
            if (takesHighHalves(user)) useHighHalves(*llvm::cast<llvm::IntrinsicInst>(user), *high);
    }

    static void replace(llvm::IRBuilder<>& builder, llvm::LoadInst& load, llvm::Value& half)
    {
        for (llvm::User* user : llvm::make_early_inc_range(load.users())) {
            auto* wide = llvm::cast<llvm::SExtInst>(user);
            wide->replaceAllUsesWith(builder.CreateSExt(&half, wide->getType()));
        }
    }

    void useHighHalves(llvm::IntrinsicInst& product, llvm::Value& high)
    {
        const unsigned other = product.getArgOperand(0) == &high ? 1 : 0;
        auto* factor = llvm::dyn_cast<llvm::Instruction>(product.getArgOperand(other));
        if (!factor) return;
        llvm::Value* copies = nullptr;
        if (const auto half = m_halves.find(factor); half != m_halves.end()) {
            copies = half->second;
        } else {
            if (factor->getParent() == product.getParent()) return;
            copies = copiesOf(*factor, *product.getParent());
        }
        llvm::IRBuilder<> builder(&product);
        product.setArgOperand(other, builder.CreateShuffleVector(copies, kHigh));
    }

    /// All readers in `block` take either half of them: one register, not two.
    llvm::Value* copiesOf(llvm::Instruction& factor, llvm::BasicBlock& block)
    {
        llvm::IRBuilder<> behind(factor.getParent(), *factor.getInsertionPointAfterDef());
        llvm::Value* copies = behind.CreateShuffleVector(&factor, kBoth);
        for (llvm::Use& use : llvm::make_early_inc_range(factor.uses())) {
            auto* reader = llvm::cast<llvm::Instruction>(use.getUser());
            if (reader->getParent() != &block) continue;
            llvm::IRBuilder<> builder(reader);
            llvm::Value* low = builder.CreateShuffleVector(copies, kLow);
            use.set(low);
            m_halves[low] = copies;
        }
        return copies;
    }

    llvm::DenseMap<llvm::Value*, llvm::Value*> m_halves; ///< low ones of copies in both
};

} // namespace

void joinByteHalves(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
{
    if (function.isDeclaration()) return;
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    Joiner joiner;
    for (llvm::BasicBlock& block : function)
        visitNeighbours(block, evolution, isWidened,
                        [&](const Neighbours& sorted) { joiner.joinRuns(sorted); });
}

} // namespace tenon::compiler
