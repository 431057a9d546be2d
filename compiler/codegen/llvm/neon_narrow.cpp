// SPDX-License-Identifier: Apache-2.0
// Stores are moved down to the last one of their group, past nothing that touches their bytes.
#include "compiler/codegen/llvm/neon_narrow.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>

namespace tenon::compiler {
namespace {

namespace Intrinsic = llvm::Intrinsic;

constexpr int kNarrowLanes = 4; ///< 32-bit integers in a register
constexpr size_t kQuads = 4;

int64_t lowest(const Narrowing& n) { return n.isSigned ? INT8_MIN : 0; }
int64_t highest(const Narrowing& n) { return n.isSigned ? INT8_MAX : UINT8_MAX; }

/// The lanes of both, those of `a` first; an empty register behind `a` where `b` is null.
llvm::Value* joined(llvm::IRBuilderBase& builder, llvm::Value* a, llvm::Value* b)
{
    std::vector<int> lanes(2 * llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements());
    std::iota(lanes.begin(), lanes.end(), 0);
    if (b) return builder.CreateShuffleVector(a, b, lanes);
    std::fill(lanes.begin() + static_cast<std::ptrdiff_t>(lanes.size() / 2), lanes.end(), -1);
    return builder.CreateShuffleVector(a, lanes);
}

/// 16-bit lanes of eight integers as bytes.
llvm::Value* narrowHalves(llvm::IRBuilderBase& builder, llvm::Value* halves, const Narrowing& n)
{
    const auto splat = [](llvm::Type* type, int64_t value) {
        return llvm::ConstantInt::getSigned(type, value);
    };
    if (n.zeroPoint != 0)
        halves = builder.CreateIntrinsic(Intrinsic::sadd_sat, {halves->getType()},
                                         {halves, splat(halves->getType(), n.zeroPoint)});
    auto* type = llvm::FixedVectorType::get(builder.getInt8Ty(), 8);
    llvm::Value* bytes = builder.CreateIntrinsic(n.isSigned ? Intrinsic::aarch64_neon_sqxtn
                                                            : Intrinsic::aarch64_neon_sqxtun,
                                                 {type}, {halves});
    if (n.least > lowest(n))
        bytes = builder.CreateBinaryIntrinsic(n.isSigned ? Intrinsic::smax : Intrinsic::umax, bytes,
                                              splat(type, n.least));
    if (n.most < highest(n))
        bytes = builder.CreateBinaryIntrinsic(n.isSigned ? Intrinsic::smin : Intrinsic::umin, bytes,
                                              splat(type, n.most));
    return bytes;
}

/// The first half of a vector.
llvm::Value* firstHalf(llvm::IRBuilderBase& builder, llvm::Value* vector)
{
    std::vector<int> lanes(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements() /
                           2);
    std::iota(lanes.begin(), lanes.end(), 0);
    return builder.CreateShuffleVector(vector, lanes);
}

llvm::IntrinsicInst* callOf(llvm::Value* value, std::initializer_list<Intrinsic::ID> ids)
{
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
    return call && std::find(ids.begin(), ids.end(), call->getIntrinsicID()) != ids.end() ? call
                                                                                          : nullptr;
}

std::optional<int64_t> splatOf(llvm::Value* value)
{
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    const auto* splat = constant ? llvm::dyn_cast_or_null<llvm::ConstantInt>(
                                       constant->getSplatValue(/*AllowPoison=*/true))
                                 : nullptr;
    return splat ? std::optional(splat->getSExtValue()) : std::nullopt;
}

/// The first operand of a shuffle that keeps its first lanes in order.
llvm::Value* widenedOrHalved(llvm::Value* value)
{
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
    if (!shuffle || shuffle->getShuffleMask().size() < kNarrowLanes) return nullptr;
    for (int lane = 0; lane < kNarrowLanes; ++lane)
        if (shuffle->getMaskValue(static_cast<unsigned>(lane)) != lane) return nullptr;
    return shuffle->getOperand(0);
}

/// Where 128 is taken off and the limits are those of the type, bytes without a sign are narrowed
/// and their highest bit is turned: one instruction for sixteen in place of a sum for eight.
bool isTurned(const Narrowing& n)
{
    return n.isSigned && n.zeroPoint == INT8_MIN && n.least == INT8_MIN && n.most == INT8_MAX;
}
constexpr Narrowing kUnsigned{0, 0, UINT8_MAX, false};

llvm::Value* withHighestBitTurned(llvm::IRBuilderBase& builder, llvm::Value* bytes)
{
    return builder.CreateXor(bytes, llvm::ConstantInt::getSigned(bytes->getType(), INT8_MIN));
}

/// What is narrowed without a sign; null where no bit is turned.
llvm::Value* beforeTurning(llvm::Value* value)
{
    auto* turn = llvm::dyn_cast<llvm::BinaryOperator>(value);
    const bool isTurn = turn && turn->getOpcode() == llvm::Instruction::Xor && turn->hasOneUse() &&
                        splatOf(turn->getOperand(1)) == INT8_MIN;
    return isTurn ? turn->getOperand(0) : nullptr;
}

/// What one store writes: four bytes that narrowQuads made of `quad`.
struct NarrowStore
{
    llvm::StoreInst* store;
    llvm::Value* bytes; ///< eight, of which the first four are stored
    llvm::Value* quad;
    Narrowing narrowing;
    int offset = 0; ///< in vectors of four bytes, from the first store of its group
};

/// The vector inside a lower and an upper limit, which are noted; null where there are others.
llvm::Value* withoutLimits(llvm::Value* bytes, std::optional<int64_t>& least,
                           std::optional<int64_t>& most)
{
    while (auto* limit = callOf(
               bytes, {Intrinsic::smin, Intrinsic::umin, Intrinsic::smax, Intrinsic::umax})) {
        const auto id = limit->getIntrinsicID();
        const bool isTop = id == Intrinsic::smin || id == Intrinsic::umin;
        std::optional<int64_t>& side = isTop ? most : least;
        if (side) return nullptr;
        side = splatOf(limit->getArgOperand(1));
        if (!side) return nullptr;
        bytes = limit->getArgOperand(0);
    }
    return bytes;
}

/// Undoes narrowQuads.
std::optional<NarrowStore> narrowStoreOf(llvm::StoreInst& store)
{
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(store.getValueOperand()->getType());
    if (!store.isSimple() || !type || type->getNumElements() != kNarrowLanes ||
        !type->getElementType()->isIntegerTy(8) || !store.getValueOperand()->hasOneUse())
        return std::nullopt;
    llvm::Value* eight = widenedOrHalved(store.getValueOperand());
    llvm::Value* turned = eight ? beforeTurning(eight) : nullptr;
    llvm::Value* bytes = turned ? turned : eight;
    std::optional<int64_t> least, most;
    if (bytes) bytes = withoutLimits(bytes, least, most);
    auto* narrow =
        bytes ? callOf(bytes, {Intrinsic::aarch64_neon_sqxtn, Intrinsic::aarch64_neon_sqxtun})
              : nullptr;
    if (!narrow) return std::nullopt;
    NarrowStore out{&store, eight, nullptr, {}};
    Narrowing& n = out.narrowing;
    n.isSigned = narrow->getIntrinsicID() == Intrinsic::aarch64_neon_sqxtn;
    const auto limitOf = [&](int64_t value) { return n.isSigned ? value : value & 255; };
    n.least = least ? limitOf(*least) : lowest(n);
    n.most = most ? limitOf(*most) : highest(n);
    llvm::Value* halves = narrow->getArgOperand(0);
    if (auto* sum = callOf(halves, {Intrinsic::sadd_sat})) {
        const auto zero = splatOf(sum->getArgOperand(1));
        if (!zero) return std::nullopt;
        n.zeroPoint = *zero;
        halves = sum->getArgOperand(0);
    }
    llvm::Value* first = widenedOrHalved(halves);
    auto* half = first ? callOf(first, {Intrinsic::aarch64_neon_sqxtn}) : nullptr;
    if (!half) return std::nullopt;
    out.quad = half->getArgOperand(0);
    if (turned) {
        if (!(n == kUnsigned)) return std::nullopt;
        n = {INT8_MIN, INT8_MIN, INT8_MAX, true};
    }
    return out;
}

class Merger
{
public:
    Merger(llvm::ScalarEvolution& evolution, llvm::AAResults& aliases)
        : m_evolution(evolution)
        , m_aliases(aliases)
    {
    }

    void run(llvm::BasicBlock& block)
    {
        std::vector<std::vector<NarrowStore>> groups;
        for (llvm::Instruction& instruction : block)
            if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
                if (auto narrow = narrowStoreOf(*store)) add(groups, *narrow);
        for (std::vector<NarrowStore>& group : groups) mergeAll(group);
    }

private:
    void add(std::vector<std::vector<NarrowStore>>& groups, NarrowStore store)
    {
        llvm::Type* type = store.store->getValueOperand()->getType();
        for (std::vector<NarrowStore>& group : groups) {
            const NarrowStore& first = group.front();
            if (!(first.narrowing == store.narrowing)) continue;
            const auto offset = llvm::getPointersDiff(
                type, first.store->getPointerOperand(), type, store.store->getPointerOperand(),
                store.store->getModule()->getDataLayout(), m_evolution, /*StrictCheck=*/true);
            if (!offset) continue;
            store.offset = *offset;
            group.push_back(store);
            return;
        }
        groups.push_back({store});
    }

    void mergeAll(std::vector<NarrowStore>& group)
    {
        std::stable_sort(
            group.begin(), group.end(),
            [](const NarrowStore& a, const NarrowStore& b) { return a.offset < b.offset; });
        for (size_t at = 0; at < group.size();) {
            const std::span<const NarrowStore> rest = std::span(group).subspan(at);
            size_t count = std::bit_floor(std::min(kQuads, rest.size()));
            while (count > 1 && !merge(rest.first(count))) count /= 2;
            if (count == 1) storeWord(rest.front());
            at += count;
        }
    }

    bool merge(std::span<const NarrowStore> run)
    {
        llvm::StoreInst* last = run[0].store;
        std::vector<llvm::Value*> quads;
        for (size_t i = 0; i < run.size(); ++i) {
            if (run[i].offset != run[0].offset + static_cast<int>(i)) return false;
            if (last->comesBefore(run[i].store)) last = run[i].store;
            quads.push_back(run[i].quad);
        }
        for (const NarrowStore& one : run)
            if (!canSink(*one.store, *last, run)) return false;
        llvm::IRBuilder<> builder(last);
        llvm::Value* bytes = narrowQuads(builder, quads, run[0].narrowing);
        builder.CreateAlignedStore(bytes, run[0].store->getPointerOperand(),
                                   run[0].store->getAlign());
        for (const NarrowStore& one : run) one.store->eraseFromParent();
        return true;
    }

    /// As a vector of its own, half of a register would be widened and narrowed once more.
    static void storeWord(const NarrowStore& one)
    {
        llvm::IRBuilder<> builder(one.store);
        auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), 2);
        llvm::Value* word =
            builder.CreateExtractElement(builder.CreateBitCast(one.bytes, words), uint64_t{0});
        builder.CreateAlignedStore(word, one.store->getPointerOperand(), one.store->getAlign());
        one.store->eraseFromParent();
    }

    /// Nothing between the two reads or writes what `store` writes, but the others of the run.
    bool canSink(llvm::StoreInst& store, const llvm::StoreInst& last,
                 std::span<const NarrowStore> run)
    {
        const llvm::MemoryLocation place = llvm::MemoryLocation::get(&store);
        for (llvm::Instruction* at = &store; at != &last; at = at->getNextNode()) {
            const bool isOfRun = std::any_of(
                run.begin(), run.end(), [&](const NarrowStore& one) { return one.store == at; });
            if (!isOfRun && at->mayReadOrWriteMemory() &&
                llvm::isModOrRefSet(m_aliases.getModRefInfo(at, place)))
                return false;
        }
        return true;
    }

    llvm::ScalarEvolution& m_evolution;
    llvm::AAResults& m_aliases;
};

} // namespace

llvm::Value* narrowQuads(llvm::IRBuilderBase& builder, const std::vector<llvm::Value*>& quads,
                         const Narrowing& narrowing)
{
    const bool turns = isTurned(narrowing);
    const Narrowing& to = turns ? kUnsigned : narrowing;
    const auto turned = [&](llvm::Value* bytes) {
        return turns ? withHighestBitTurned(builder, bytes) : bytes;
    };
    auto* type = llvm::FixedVectorType::get(builder.getInt16Ty(), kNarrowLanes);
    std::vector<llvm::Value*> parts;
    for (llvm::Value* quad : quads)
        parts.push_back(builder.CreateIntrinsic(Intrinsic::aarch64_neon_sqxtn, {type}, {quad}));
    if (parts.size() == 1)
        return firstHalf(builder,
                         turned(narrowHalves(builder, joined(builder, parts[0], nullptr), to)));
    std::vector<llvm::Value*> bytes;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
        bytes.push_back(narrowHalves(builder, joined(builder, parts[i], parts[i + 1]), to));
    while (bytes.size() > 1) {
        for (size_t i = 0; i < bytes.size() / 2; ++i)
            bytes[i] = joined(builder, bytes[2 * i], bytes[2 * i + 1]);
        bytes.resize(bytes.size() / 2);
    }
    return turned(bytes[0]);
}

void mergeNarrowStores(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
{
    if (function.isDeclaration()) return;
    Merger merger(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                  analyses.getResult<llvm::AAManager>(function));
    for (llvm::BasicBlock& block : function) merger.run(block);
}

} // namespace tenon::compiler
