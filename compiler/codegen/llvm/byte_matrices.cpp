// SPDX-License-Identifier: Apache-2.0
// A web is all that one sum goes through: the dot products and the phis of its loops. Two webs of
// one shape with the same weights are rewritten together.
#include "compiler/codegen/llvm/byte_matrices.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAArch64.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::compiler {
namespace {

using llvm::Value;

llvm::IntrinsicInst* dotOf(Value* value)
{
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
    const bool isDot = call && call->getIntrinsicID() == llvm::Intrinsic::aarch64_neon_sdot;
    return isDot && llvm::cast<llvm::FixedVectorType>(call->getType())->getNumElements() == 4
               ? call
               : nullptr;
}

/// One quad that all lanes of a dot product's input share.
struct Quad
{
    Value* vector;
    int lane;

    friend auto operator<=>(const Quad&, const Quad&) = default;
};

std::optional<Quad> quadOf(const llvm::IntrinsicInst& dot)
{
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(dot.getArgOperand(2));
    auto* splat = cast ? llvm::dyn_cast<llvm::ShuffleVectorInst>(cast->getOperand(0)) : nullptr;
    if (!splat || splat->getType() != dot.getType() ||
        splat->getOperand(0)->getType() != splat->getType())
        return std::nullopt;
    const llvm::ArrayRef<int> mask = splat->getShuffleMask();
    if (mask[0] < 0 || mask[0] >= 4 ||
        std::any_of(mask.begin(), mask.end(), [&](int lane) { return lane != mask[0]; }))
        return std::nullopt;
    return Quad{splat->getOperand(0), mask[0]};
}

/// Two dot products in a row.
struct Step
{
    llvm::IntrinsicInst* first;
    llvm::IntrinsicInst* second;
};

struct Web
{
    std::vector<llvm::PHINode*> phis; ///< in program order
    std::vector<Step> steps;
    std::unordered_set<const Value*> members;

    /// What two webs must have in common.
    std::vector<const Value*> shape() const
    {
        std::vector<const Value*> out;
        for (const llvm::PHINode* phi : phis) out.push_back(phi->getParent());
        for (const Step& step : steps)
            out.insert(out.end(), {step.first->getParent(), step.first->getArgOperand(1),
                                   step.second->getArgOperand(1)});
        return out;
    }
};

/// Everything that `start` is summed up through.
std::vector<llvm::Instruction*> connected(llvm::Instruction& start)
{
    std::vector<llvm::Instruction*> out{&start};
    std::unordered_set<const Value*> seen{&start};
    const auto reach = [&](Value* value) {
        auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
        const bool isPart = instruction && instruction->getType() == start.getType() &&
                            (llvm::isa<llvm::PHINode>(instruction) || dotOf(instruction));
        if (isPart && seen.insert(instruction).second) out.push_back(instruction);
    };
    for (size_t i = 0; i < out.size(); ++i) {
        if (auto* phi = llvm::dyn_cast<llvm::PHINode>(out[i]))
            for (Value* incoming : phi->incoming_values()) reach(incoming);
        else
            reach(dotOf(out[i])->getArgOperand(0));
        for (llvm::User* user : out[i]->users()) reach(user);
    }
    return out;
}

/// The web of a dot product whose dot products come in pairs within their blocks.
std::optional<Web> webOf(llvm::IntrinsicInst& start,
                         const std::unordered_map<const Value*, size_t>& order)
{
    Web web;
    std::vector<llvm::Instruction*> all = connected(start);
    std::sort(all.begin(), all.end(),
              [&](const Value* a, const Value* b) { return order.at(a) < order.at(b); });
    web.members.insert(all.begin(), all.end());
    llvm::IntrinsicInst* first = nullptr;
    for (llvm::Instruction* instruction : all) {
        if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
            web.phis.push_back(phi);
            continue;
        }
        auto* dot = dotOf(instruction);
        if (!quadOf(*dot)) return std::nullopt;
        if (!first) {
            if (!dot->hasOneUse()) return std::nullopt;
            first = dot;
            continue;
        }
        if (dot->getArgOperand(0) != first || dot->getParent() != first->getParent())
            return std::nullopt;
        web.steps.push_back({first, dot});
        first = nullptr;
    }
    return first ? std::nullopt : std::optional(web);
}

class PairRewriter
{
public:
    PairRewriter(const Web& a, const Web& b)
        : m_a(a)
        , m_b(b)
    {
    }

    /// True when both webs are linked alike and no value is read before both sums have it.
    bool canRewrite() const
    {
        const Places a = placesOf(m_a), b = placesOf(m_b);
        for (size_t i = 0; i < m_a.phis.size(); ++i)
            for (const llvm::BasicBlock* block : m_a.phis[i]->blocks())
                if (placeIn(a, m_a.phis[i]->getIncomingValueForBlock(block)) !=
                    placeIn(b, m_b.phis[i]->getIncomingValueForBlock(block)))
                    return false;
        for (size_t i = 0; i < m_a.steps.size(); ++i) {
            const auto from = placeIn(a, m_a.steps[i].first->getArgOperand(0));
            const bool isMade = !from || *from < m_a.phis.size() + i;
            if (from != placeIn(b, m_b.steps[i].first->getArgOperand(0)) || !isMade ||
                isReadEarly(m_a, i) || isReadEarly(m_b, i))
                return false;
        }
        return true;
    }

    void run()
    {
        for (size_t i = 0; i < m_a.phis.size(); ++i) {
            llvm::PHINode* phi = m_a.phis[i];
            llvm::IRBuilder<> builder(phi);
            const auto made = [&] {
                return builder.CreatePHI(phi->getType(), phi->getNumIncomingValues());
            };
            m_sums[phi] = {made(), made()};
            m_sums[m_b.phis[i]] = m_sums[phi];
        }
        for (size_t i = 0; i < m_a.steps.size(); ++i) multiply(i);
        for (size_t i = 0; i < m_a.phis.size(); ++i) connect(*m_a.phis[i], *m_b.phis[i]);
        for (const Web* web : {&m_a, &m_b}) replaceReaders(*web);
        for (const Web* web : {&m_a, &m_b}) erase(*web);
    }

private:
    using Places = std::unordered_map<const Value*, size_t>;

    /// Phis, then steps.
    static Places placesOf(const Web& web)
    {
        Places out;
        for (const llvm::PHINode* phi : web.phis) out.emplace(phi, out.size());
        for (const Step& step : web.steps) out.emplace(step.second, out.size());
        return out;
    }

    static std::optional<size_t> placeIn(const Places& places, const Value* value)
    {
        const auto found = places.find(value);
        return found != places.end() ? std::optional(found->second) : std::nullopt;
    }

    bool isReadEarly(const Web& web, size_t step) const
    {
        const llvm::Instruction* made = laterOf(step);
        return llvm::any_of(web.steps[step].second->users(), [&](const llvm::User* user) {
            const auto* reader = llvm::cast<llvm::Instruction>(user);
            return web.members.count(reader) == 0 && reader->getParent() == made->getParent() &&
                   !llvm::isa<llvm::PHINode>(reader) && !made->comesBefore(reader);
        });
    }

    using Sums = std::pair<Value*, Value*>; ///< channels 0 and 1 of both positions; 2 and 3

    llvm::Instruction* laterOf(size_t step) const
    {
        llvm::Instruction* a = m_a.steps[step].second;
        llvm::Instruction* b = m_b.steps[step].second;
        return a->comesBefore(b) ? b : a;
    }

    static Sums interleaved(llvm::IRBuilder<>& builder, Value* a, Value* b)
    {
        return {builder.CreateShuffleVector(a, b, {0, 1, 4, 5}),
                builder.CreateShuffleVector(a, b, {2, 3, 6, 7})};
    }

    static Value* asBytes(llvm::IRBuilder<>& builder, Value* quads)
    {
        return builder.CreateBitCast(quads, llvm::FixedVectorType::get(builder.getInt8Ty(), 16));
    }

    /// Two rows of eight bytes: two quads of each position.
    static Value* rowsOf(llvm::IRBuilder<>& builder, const Step& a, const Step& b)
    {
        const Quad a0 = *quadOf(*a.first), a1 = *quadOf(*a.second);
        const Quad b0 = *quadOf(*b.first), b1 = *quadOf(*b.second);
        if (a0.vector == b0.vector && a1.vector == b1.vector)
            return builder.CreateShuffleVector(a0.vector, a1.vector,
                                               {a0.lane, 4 + a1.lane, b0.lane, 4 + b1.lane});
        const auto pair = [&](const Quad& x, const Quad& y) {
            return builder.CreateShuffleVector(x.vector, y.vector, {x.lane, 4 + y.lane, -1, -1});
        };
        return builder.CreateShuffleVector(pair(a0, a1), pair(b0, b1), {0, 1, 4, 5});
    }

    /// The quads of int32 lanes behind a dot product's weights.
    static Value* weightsOf(llvm::IRBuilder<>& builder, const llvm::IntrinsicInst& dot)
    {
        Value* bytes = dot.getArgOperand(1);
        auto* cast = llvm::dyn_cast<llvm::BitCastInst>(bytes);
        return cast && cast->getOperand(0)->getType() == dot.getType()
                   ? cast->getOperand(0)
                   : builder.CreateBitCast(bytes, dot.getType());
    }

    void multiply(size_t step)
    {
        const Step& a = m_a.steps[step];
        const Step& b = m_b.steps[step];
        llvm::IRBuilder<> builder(laterOf(step)->getNextNode());
        Value* rows = asBytes(builder, rowsOf(builder, a, b));
        Value* first = weightsOf(builder, *a.first);
        Value* second = weightsOf(builder, *a.second);
        const auto times = [&](Value* sum, llvm::ArrayRef<int> mask) {
            Value* columns = asBytes(builder, builder.CreateShuffleVector(first, second, mask));
            return builder.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_smmla,
                                           {sum->getType(), rows->getType()}, {sum, rows, columns});
        };
        const Sums before = sumsOf(builder, a.first->getArgOperand(0), b.first->getArgOperand(0));
        const Sums after = {times(before.first, {0, 4, 1, 5}), times(before.second, {2, 6, 3, 7})};
        m_sums[a.second] = m_sums[b.second] = after;
    }

    /// Sums of the same place in both webs; values from outside are brought into their form.
    Sums sumsOf(llvm::IRBuilder<>& builder, Value* a, Value* b)
    {
        const auto found = m_sums.find(a);
        return found != m_sums.end() ? found->second : interleaved(builder, a, b);
    }

    void connect(llvm::PHINode& a, llvm::PHINode& b)
    {
        const Sums sums = m_sums.at(&a);
        for (unsigned i = 0; i < a.getNumIncomingValues(); ++i) {
            llvm::BasicBlock* block = a.getIncomingBlock(i);
            llvm::IRBuilder<> builder(block->getTerminator());
            const Sums in =
                sumsOf(builder, a.getIncomingValue(i), b.getIncomingValueForBlock(block));
            llvm::cast<llvm::PHINode>(sums.first)->addIncoming(in.first, block);
            llvm::cast<llvm::PHINode>(sums.second)->addIncoming(in.second, block);
        }
    }

    /// Readers outside the web get their position's lanes back.
    void replaceReaders(const Web& web)
    {
        const std::vector<int> mask =
            &web == &m_a ? std::vector<int>{0, 1, 4, 5} : std::vector<int>{2, 3, 6, 7};
        const auto replace = [&](llvm::Instruction& old, llvm::BasicBlock::iterator at) {
            const auto isOutside = [&](const llvm::Use& use) {
                return web.members.count(use.getUser()) == 0;
            };
            if (std::none_of(old.use_begin(), old.use_end(), isOutside)) return;
            llvm::IRBuilder<> builder(at->getParent(), at);
            const auto& [first, second] = m_sums.at(&old);
            old.replaceUsesWithIf(builder.CreateShuffleVector(first, second, mask), isOutside);
        };
        for (llvm::PHINode* phi : web.phis) replace(*phi, phi->getParent()->getFirstInsertionPt());
        for (const Step& step : web.steps) {
            auto* sum = llvm::cast<llvm::Instruction>(m_sums.at(step.second).second);
            replace(*step.second, std::next(sum->getIterator()));
        }
    }

    static void erase(const Web& web)
    {
        std::vector<llvm::Instruction*> all(web.phis.begin(), web.phis.end());
        for (const Step& step : web.steps) all.insert(all.end(), {step.first, step.second});
        for (llvm::Instruction* old : all)
            old->replaceAllUsesWith(llvm::PoisonValue::get(old->getType()));
        for (llvm::Instruction* old : all) old->eraseFromParent();
    }

    const Web& m_a;
    const Web& m_b;
    std::map<const Value*, Sums> m_sums;
};

} // namespace

void formByteMatrices(llvm::Function& function)
{
    std::unordered_map<const Value*, size_t> order;
    std::vector<llvm::IntrinsicInst*> dots;
    for (llvm::BasicBlock& block : function)
        for (llvm::Instruction& instruction : block) {
            order.emplace(&instruction, order.size());
            if (auto* dot = dotOf(&instruction)) dots.push_back(dot);
        }
    std::unordered_set<const Value*> done;
    std::map<std::vector<const Value*>, Web> waiting; ///< for another of the same shape
    for (llvm::IntrinsicInst* dot : dots) {
        if (!done.insert(dot).second) continue;
        const std::optional<Web> web = webOf(*dot, order);
        if (!web) continue;
        done.insert(web->members.begin(), web->members.end());
        const auto twin = waiting.find(web->shape());
        if (twin == waiting.end()) {
            waiting.emplace(web->shape(), *web);
            continue;
        }
        PairRewriter rewriter(twin->second, *web);
        if (rewriter.canRewrite()) rewriter.run();
        waiting.erase(twin);
    }
}

} // namespace tenon::compiler
