// SPDX-License-Identifier: Apache-2.0
// Addresses are sums modulo 2^64: taking them apart and adding in another order is exact.
#include "compiler/codegen/llvm/step_pointers.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::compiler {
namespace {

using namespace llvm::PatternMatch;

/// What an iteration adds a constant to.
struct Counter
{
    llvm::PHINode* phi = nullptr;
    uint64_t step = 0;
};

/// base + sum of coefficient * term + perCount * counter + distance, in bytes; base and terms do
/// not change in the loop.
struct Address
{
    llvm::Value* base = nullptr;
    std::vector<std::pair<llvm::Value*, uint64_t>> terms;
    uint64_t perCount = 0;
    uint64_t distance = 0;

    bool isNear(const Address& other) const
    {
        return base == other.base && perCount == other.perCount &&
               std::is_permutation(terms.begin(), terms.end(), other.terms.begin(),
                                   other.terms.end());
    }
};

/// How far an address is taken apart: to what does not change in the loop, or to what the function
/// begins with, where equal parts are seen that were hoisted one by one.
enum class Parts
{
    OfLoop,
    OfFunction,
};

struct Access
{
    llvm::Instruction* pointer = nullptr;
    Address inLoop, inFunction;
};

/// Accesses that differ in their distances only.
using Group = std::vector<Access>;

std::optional<Counter> counterOf(const llvm::Loop& loop)
{
    for (llvm::PHINode& phi : loop.getHeader()->phis()) {
        const llvm::APInt* step = nullptr;
        if (phi.getType()->isIntegerTy(64) &&
            match(phi.getIncomingValueForBlock(loop.getLoopLatch()),
                  m_Add(m_Specific(&phi), m_APInt(step))) &&
            !step->isZero())
            return Counter{&phi, step->getZExtValue()};
    }
    return std::nullopt;
}

class AddressReader
{
public:
    AddressReader(const llvm::Loop& loop, const Counter& counter, Parts parts)
        : m_loop(loop)
        , m_counter(counter)
        , m_parts(parts)
    {
    }

    /// Nothing where the address is another function of the counter, or none.
    std::optional<Address> read(llvm::Value* pointer) const
    {
        Address address;
        while (!isPart(pointer)) {
            const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
            if (!step) break;
            llvm::MapVector<llvm::Value*, llvm::APInt> offsets;
            llvm::APInt constant(64, 0);
            const llvm::DataLayout& layout = m_loop.getHeader()->getDataLayout();
            if (!step->collectOffset(layout, 64, offsets, constant)) return std::nullopt;
            address.distance += constant.getZExtValue();
            for (const auto& [value, scale] : offsets)
                if (!add(address, value, scale.getZExtValue())) return std::nullopt;
            pointer = const_cast<llvm::Value*>(step->getPointerOperand());
        }
        address.base = pointer;
        if (address.perCount == 0 || !m_loop.isLoopInvariant(pointer)) return std::nullopt;
        return address;
    }

private:
    bool isPart(const llvm::Value* value) const
    {
        return m_parts == Parts::OfLoop && m_loop.isLoopInvariant(value);
    }

    /// False where the value is no sum of multiples of the counter and of what does not change.
    bool add(Address& address, llvm::Value* value, uint64_t scale) const
    {
        llvm::Value *a = nullptr, *b = nullptr;
        const llvm::APInt* number = nullptr;
        if (!value->getType()->isIntegerTy(64)) return false;
        if (match(value, m_APInt(number)))
            address.distance += scale * number->getZExtValue();
        else if (value == m_counter.phi)
            address.perCount += scale;
        else if (isPart(value))
            addTerm(address, value, scale);
        else if (match(value, m_AddLike(m_Value(a), m_Value(b))))
            return add(address, a, scale) && add(address, b, scale);
        else if (match(value, m_Sub(m_Value(a), m_Value(b))))
            return add(address, a, scale) && add(address, b, -scale);
        else if (match(value, m_Mul(m_Value(a), m_APInt(number))))
            return add(address, a, scale * number->getZExtValue());
        else if (match(value, m_Shl(m_Value(a), m_APInt(number))) && number->ult(64))
            return add(address, a, scale << number->getZExtValue());
        else if (m_loop.isLoopInvariant(value))
            addTerm(address, value, scale);
        else
            return false;
        return true;
    }

    static void addTerm(Address& address, llvm::Value* value, uint64_t scale)
    {
        const auto same = std::find_if(address.terms.begin(), address.terms.end(),
                                       [&](const auto& term) { return term.first == value; });
        if (same == address.terms.end())
            address.terms.emplace_back(value, scale);
        else
            same->second += scale;
    }

    const llvm::Loop& m_loop;
    const Counter& m_counter;
    Parts m_parts;
};

/// What memory is reached by at addresses that the loop computes.
std::vector<Group> groupsOf(const llvm::Loop& loop, const Counter& counter)
{
    const AddressReader ofLoop(loop, counter, Parts::OfLoop);
    const AddressReader ofFunction(loop, counter, Parts::OfFunction);
    std::vector<Group> groups;
    llvm::SmallPtrSet<llvm::Value*, 32> seen;
    const auto add = [&](llvm::Value* operand) {
        auto* pointer = llvm::dyn_cast<llvm::GetElementPtrInst>(operand);
        if (!pointer || pointer->getType()->isVectorTy() || !seen.insert(pointer).second) return;
        const auto inLoop = ofLoop.read(pointer);
        const auto inFunction = ofFunction.read(pointer);
        if (!inLoop || !inFunction) return;
        const auto near = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return group.front().inFunction.isNear(*inFunction);
        });
        Group& group = near == groups.end() ? groups.emplace_back() : *near;
        group.push_back({pointer, *inLoop, *inFunction});
    };
    for (llvm::BasicBlock* block : loop.blocks())
        for (llvm::Instruction& user : *block)
            if (!llvm::isa<llvm::GetElementPtrInst>(user))
                std::for_each(user.op_begin(), user.op_end(), add);
    return groups;
}

/// Half-way, for short displacements either way.
uint64_t middleOf(const Group& group)
{
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
    for (const Access& access : group) {
        low = std::min(low, static_cast<int64_t>(access.inFunction.distance));
        high = std::max(high, static_cast<int64_t>(access.inFunction.distance));
    }
    const auto half = (static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / 2;
    return static_cast<uint64_t>(low) + half / 64 * 64;
}

/// What grows by `step` bytes in each iteration, beginning at `start`.
llvm::PHINode* stepped(const llvm::Loop& loop, llvm::Value* start, uint64_t step)
{
    llvm::IRBuilder<> at(loop.getHeader(), loop.getHeader()->begin());
    llvm::PHINode* value = at.CreatePHI(start->getType(), 2);
    at.SetInsertPoint(loop.getLoopLatch()->getTerminator());
    llvm::Value* bytes = at.getInt64(step);
    value->addIncoming(start, loop.getLoopPreheader());
    value->addIncoming(start->getType()->isPointerTy() ? at.CreatePtrAdd(value, bytes)
                                                       : at.CreateAdd(value, bytes),
                       loop.getLoopLatch());
    return value;
}

/// base + ... + distance in the first iteration.
llvm::Value* startOf(const llvm::Loop& loop, const Counter& counter, Address address)
{
    llvm::BasicBlock* before = loop.getLoopPreheader();
    llvm::IRBuilder<> at(before->getTerminator());
    address.terms.emplace_back(counter.phi->getIncomingValueForBlock(before), address.perCount);
    llvm::Value* start = address.base;
    for (const auto& [term, coefficient] : address.terms) {
        const auto* number = llvm::dyn_cast<llvm::ConstantInt>(term);
        if (number)
            address.distance += coefficient * number->getZExtValue();
        else
            start = at.CreatePtrAdd(start, at.CreateMul(term, at.getInt64(coefficient)));
    }
    return address.distance == 0 ? start : at.CreatePtrAdd(start, at.getInt64(address.distance));
}

/// Ends the loop where the offset meets its end instead of the counter, which then serves nothing.
void compareOffset(const llvm::Loop& loop, const Counter& counter, llvm::PHINode* offset,
                   uint64_t step)
{
    llvm::BasicBlock* latch = loop.getLoopLatch();
    llvm::Value* next = counter.phi->getIncomingValueForBlock(latch);
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    auto* compare = branch && branch->isConditional()
                        ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                        : nullptr;
    const llvm::APInt *begin = nullptr, *end = nullptr;
    if (!compare || !compare->isEquality() || !compare->hasOneUse() ||
        compare->getOperand(0) != next || !match(compare->getOperand(1), m_APInt(end)) ||
        !match(counter.phi->getIncomingValueForBlock(loop.getLoopPreheader()), m_APInt(begin)) ||
        !counter.phi->hasOneUse() || !next->hasNUses(2))
        return;
    const uint64_t distance = end->getZExtValue() - begin->getZExtValue();
    if (distance == 0 || distance % counter.step != 0) return;
    compare->moveBefore(latch->getTerminator());
    compare->setOperand(0, offset->getIncomingValueForBlock(latch));
    compare->setOperand(1,
                        llvm::ConstantInt::get(offset->getType(), distance / counter.step * step));
}

/// In a loop so short that each instruction counts, pointers share an offset from their starts.
/// These are its bytes per count, which an address can have once, twice, 4 or 8 times; 0: longer.
uint64_t sharedBytes(const llvm::Loop& loop, const std::vector<Group>& groups)
{
    constexpr size_t kShort = 32;
    size_t size = 0;
    for (const llvm::BasicBlock* block : loop.blocks()) size += block->size();
    if (size > kShort || groups.empty()) return 0;
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (const Group& group : groups) least = std::min(least, group.front().inLoop.perCount);
    const bool fits = std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
        const uint64_t times = group.front().inLoop.perCount / least;
        return times * least == group.front().inLoop.perCount && times <= 8 &&
               llvm::has_single_bit(times);
    });
    return fits ? least : 0;
}

/// Replaces the addresses by distances from what points to the middle of them in an iteration.
void movePointers(const Group& group, uint64_t middle, llvm::Value* pointer, llvm::Value* offset,
                  llvm::SmallVectorImpl<llvm::WeakTrackingVH>& unused)
{
    for (const Access& access : group) {
        llvm::IRBuilder<> at(access.pointer);
        llvm::Value* moved = offset ? at.CreatePtrAdd(pointer, offset) : pointer;
        const uint64_t distance = access.inFunction.distance - middle;
        access.pointer->replaceAllUsesWith(
            distance == 0 ? moved : at.CreatePtrAdd(moved, at.getInt64(distance)));
        unused.emplace_back(access.pointer);
    }
}

void stepPointersOf(const llvm::Loop& loop)
{
    if (!loop.getLoopPreheader() || !loop.getLoopLatch()) return;
    const auto counter = counterOf(loop);
    if (!counter) return;
    const std::vector<Group> groups = groupsOf(loop, *counter);
    const uint64_t shared = sharedBytes(loop, groups);
    llvm::PHINode* offset = shared
                                ? stepped(loop, llvm::ConstantInt::get(counter->phi->getType(), 0),
                                          shared * counter->step)
                                : nullptr;
    llvm::SmallVector<llvm::WeakTrackingVH> unused;
    for (const Group& group : groups) {
        // What lies on the stack is reached from there, and is known not to lie elsewhere.
        if (!offset && llvm::isa<llvm::AllocaInst>(group.front().inFunction.base)) continue;
        const uint64_t middle = middleOf(group);
        Address first = group.front().inLoop;
        first.distance += middle - group.front().inFunction.distance;
        llvm::Value* start = startOf(loop, *counter, first);
        if (!offset) {
            movePointers(group, middle, stepped(loop, start, first.perCount * counter->step),
                         nullptr, unused);
            continue;
        }
        llvm::IRBuilder<> at(loop.getHeader(), loop.getHeader()->getFirstInsertionPt());
        const uint64_t times = first.perCount / shared;
        movePointers(group, middle, start,
                     times == 1 ? offset : at.CreateMul(offset, at.getInt64(times)), unused);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
    if (offset) compareOffset(loop, *counter, offset, shared * counter->step);
}

} // namespace

void stepPointers(llvm::Function& function)
{
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder())
        if (loop->isInnermost()) stepPointersOf(*loop);
}

} // namespace tenon::compiler
