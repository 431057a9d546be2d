// SPDX-License-Identifier: Apache-2.0
// Groups are formed within a block and between two writes to memory, so order does not matter.
#include "compiler/codegen/llvm/lane_loads.h"

#include "compiler/codegen/llvm/neon_products.h"

#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int kLanes = 4;
constexpr int kHalfLanes = 8; ///< of 16 bits in one register

/// The shuffles that copy element 0 of `inserted` to every lane; empty when it has other uses.
std::vector<llvm::ShuffleVectorInst*> splatsOfInserted(llvm::InsertElementInst& inserted)
{
    std::vector<llvm::ShuffleVectorInst*> out;
    for (llvm::User* user : inserted.users()) {
        auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
        if (!shuffle || shuffle->getOperand(0) != &inserted || !shuffle->isZeroEltSplat())
            return {};
        out.push_back(shuffle);
    }
    return out;
}

void addTo(std::vector<Neighbours>& groups, llvm::LoadInst& load, llvm::ScalarEvolution& evolution)
{
    for (Neighbours& group : groups) {
        const llvm::LoadInst& first = *group.front().load;
        if (first.getType() != load.getType()) continue;
        const auto offset = llvm::getPointersDiff(
            first.getType(), const_cast<llvm::Value*>(first.getPointerOperand()), load.getType(),
            load.getPointerOperand(), load.getModule()->getDataLayout(), evolution,
            /*StrictCheck=*/true);
        if (!offset) continue;
        group.push_back({&load, *offset});
        return;
    }
    groups.push_back(Neighbours{Place{&load, 0}});
}

/// Four scalars in one register.
class Merger
{
public:
    /// Of 16 bits where each splat is half a register: a lane of such is an operand, too.
    static bool takes(llvm::LoadInst& load)
    {
        if (load.getType()->isVectorTy()) return false;
        const auto bits = load.getType()->getPrimitiveSizeInBits();
        const auto splats = splatsOf(load);
        if (bits == 32) return !splats.empty();
        return bits == 16 && !splats.empty() &&
               std::all_of(splats.begin(), splats.end(), [](const auto* splat) {
                   return splat->getShuffleMask().size() == kLanes;
               });
    }

    static void mergeRuns(const Neighbours& sorted)
    {
        const bool areHalves = sorted.front().load->getType()->getPrimitiveSizeInBits() == 16;
        for (size_t at = 0; at < sorted.size();) {
            const int lanes = areHalves && isConsecutive(sorted, at, kHalfLanes) ? kHalfLanes
                              : isConsecutive(sorted, at, kLanes)                ? kLanes
                                                                                 : 1;
            const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(at);
            if (lanes > 1) merge({from, from + lanes});
            at += static_cast<size_t>(lanes);
        }
    }

private:
    static bool isConsecutive(const Neighbours& sorted, size_t at, int count)
    {
        for (int i = 0; i < count; ++i) {
            const size_t next = at + static_cast<size_t>(i);
            if (next >= sorted.size() || sorted[next].offset != sorted[at].offset + i) return false;
        }
        return true;
    }

    static void merge(const Neighbours& lanes)
    {
        llvm::Type* element = lanes[0].load->getType();
        llvm::IRBuilder<> builder(firstOf(lanes).load);
        llvm::LoadInst* whole = builder.CreateAlignedLoad(
            llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes.size())),
            addressOf(builder, lanes), llvm::commonAlignment(lanes[0].load->getAlign(), 4));
        for (int lane = 0; lane < static_cast<int>(lanes.size()); ++lane)
            for (llvm::ShuffleVectorInst* splat :
                 splatsOf(*lanes[static_cast<size_t>(lane)].load)) {
                const std::vector<int> mask(splat->getShuffleMask().size(), lane);
                if (element->getPrimitiveSizeInBits() == 32)
                    splatHalves(builder, *whole, *splat, lane);
                splat->replaceAllUsesWith(builder.CreateShuffleVector(whole, mask));
            }
    }

    /// Every second 16-bit half of a splat is a splat of one half: a lane, too.
    static void splatHalves(llvm::IRBuilder<>& builder, llvm::Value& whole,
                            llvm::ShuffleVectorInst& splat, int lane)
    {
        auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * kLanes);
        const auto use = [&](llvm::Instruction& reader, size_t lanes, int half) {
            const std::vector<int> mask(lanes, 2 * lane + half);
            reader.replaceAllUsesWith(
                builder.CreateShuffleVector(builder.CreateBitCast(&whole, halves), mask));
        };
        for (llvm::User* user : llvm::make_early_inc_range(splat.users())) {
            auto* cast = llvm::dyn_cast<llvm::CastInst>(user);
            if (cast && cast->getOpcode() == llvm::Instruction::Trunc &&
                cast->getType()->getScalarType()->isIntegerTy(16))
                use(*cast, splat.getShuffleMask().size(), 0);
            if (!cast || cast->getType() != halves) continue;
            for (llvm::User* reader : llvm::make_early_inc_range(cast->users())) {
                auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(reader);
                if (!shuffle || shuffle->getOperand(0) != cast) continue;
                const llvm::ArrayRef<int> from = shuffle->getShuffleMask();
                if (std::all_of(from.begin(), from.end(), [&](int half) {
                        return half >= 0 && half < 2 * kLanes && half % 2 == from[0] % 2;
                    }))
                    use(*shuffle, from.size(), from[0] % 2);
            }
        }
    }
};

/// Half a register of 16-bit numbers that are only multiplied into wider ones.
bool isHalfOfProducts(llvm::LoadInst& load)
{
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
    return type && type->getNumElements() == kLanes && type->getScalarSizeInBits() == 16 &&
           llvm::all_of(load.users(), isLongProduct);
}

/// Two of them by one load: products take either half of a register.
void joinHalves(const Neighbours& sorted)
{
    for (size_t at = 0; at + 1 < sorted.size(); ++at) {
        if (sorted[at + 1].offset != sorted[at].offset + 1) continue;
        const Neighbours both{sorted[at], sorted[at + 1]};
        auto* half = llvm::cast<llvm::FixedVectorType>(both[0].load->getType());
        llvm::IRBuilder<> builder(firstOf(both).load);
        llvm::Value* whole =
            builder.CreateAlignedLoad(llvm::FixedVectorType::getDoubleElementsVectorType(half),
                                      addressOf(builder, both), both[0].load->getAlign());
        both[0].load->replaceAllUsesWith(builder.CreateShuffleVector(whole, {0, 1, 2, 3}));
        both[1].load->replaceAllUsesWith(builder.CreateShuffleVector(whole, {4, 5, 6, 7}));
        ++at;
    }
}

/// Loads that nothing reads any more would have a say in where the pointers of a loop begin: amid
/// their words, whence LLVM does not load whole vectors in pairs (a 1 x 1 layer: 97 instructions
/// for 80 products, 95 without).
void removeUnused(llvm::BasicBlock& block)
{
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block)))
        if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
}

} // namespace

std::vector<llvm::ShuffleVectorInst*> splatsOf(llvm::LoadInst& load)
{
    std::vector<llvm::ShuffleVectorInst*> out;
    for (llvm::User* user : load.users()) {
        auto* inserted = llvm::dyn_cast<llvm::InsertElementInst>(user);
        const auto* index =
            inserted ? llvm::dyn_cast<llvm::ConstantInt>(inserted->getOperand(2)) : nullptr;
        if (!index || !index->isZero() || inserted->getOperand(1) != &load) return {};
        const auto splats = splatsOfInserted(*inserted);
        if (splats.empty()) return {};
        out.insert(out.end(), splats.begin(), splats.end());
    }
    return out;
}

const Place& firstOf(const Neighbours& loads)
{
    return *std::min_element(loads.begin(), loads.end(), [](const Place& a, const Place& b) {
        return a.load->comesBefore(b.load);
    });
}

llvm::Value* addressOf(llvm::IRBuilderBase& builder, const Neighbours& sorted)
{
    const Place& first = firstOf(sorted);
    return builder.CreateConstGEP1_64(
        first.load->getType(), first.load->getPointerOperand(),
        static_cast<uint64_t>(static_cast<int64_t>(sorted[0].offset - first.offset)));
}

void visitNeighbours(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution,
                     llvm::function_ref<bool(llvm::LoadInst&)> isWanted,
                     llvm::function_ref<void(const Neighbours&)> visit)
{
    std::vector<Neighbours> groups;
    const auto visitAll = [&] {
        for (Neighbours& group : groups) {
            std::stable_sort(group.begin(), group.end(),
                             [](const Place& a, const Place& b) { return a.offset < b.offset; });
            visit(group);
        }
        groups.clear();
    };
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        if (instruction.mayWriteToMemory()) {
            visitAll();
            continue;
        }
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (load && load->isSimple() && isWanted(*load)) addTo(groups, *load, evolution);
    }
    visitAll();
}

void mergeLaneLoads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                    LaneOperands operands)
{
    if (function.isDeclaration()) return;
    auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
    const auto isWanted = [&](llvm::LoadInst& load) {
        const bool isOperand = operands == LaneOperands::All || load.getType()->isIntegerTy(16);
        return isOperand && Merger::takes(load);
    };
    for (llvm::BasicBlock& block : function) {
        visitNeighbours(block, evolution, isWanted, Merger::mergeRuns);
        visitNeighbours(block, evolution, isHalfOfProducts, joinHalves);
        removeUnused(block);
    }
}

} // namespace tenon::compiler
