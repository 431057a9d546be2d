// SPDX-License-Identifier: Apache-2.0
// Steps of a recurrent operator wait for one another, so that a second thread has nothing to do;
// the other direction of a bidirectional one waits for nothing.
#include "compiler/passes/fuse/side_by_side.h"

#include "compiler/ops/op.h"
#include "compiler/ops/recurrent.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Operations of a recurrent operator, most of which wait for its weights, of those that the
/// machine could do (16 of 64 per cycle on Sapphire Rapids).
constexpr double kReached = 0.25;

/// Fewest operations of each that are worth a thread.
double leastOperations(const TargetFacts& facts)
{
    return facts.sharedCycles() * kReached * 2 * facts.floatMacs;
}

class Pairs
{
public:
    Pairs(const Module& module, const GraphFunction& function, const TargetFacts& facts,
          std::vector<FusionGroup> groups)
        : m_module(module)
        , m_uses(module, function)
        , m_facts(facts)
        , m_groups(std::move(groups))
    {
        for (const NodeId id : function.order) m_position[id] = m_position.size();
    }

    std::vector<FusionGroup> joined()
    {
        std::vector<size_t> waiting; ///< groups that found no partner yet
        std::vector<bool> isGone(m_groups.size(), false);
        for (size_t i = 0; i < m_groups.size(); ++i) {
            if (!isRecurrent(i)) continue;
            const auto fits = [&](size_t other) { return canRunBeside(node(other), node(i)); };
            const auto partner = std::find_if(waiting.begin(), waiting.end(), fits);
            if (partner == waiting.end()) {
                waiting.push_back(i);
                continue;
            }
            join(*partner, i);
            isGone[*partner] = true;
            waiting.erase(partner);
        }
        std::vector<FusionGroup> out;
        for (size_t i = 0; i < m_groups.size(); ++i)
            if (!isGone[i]) out.push_back(std::move(m_groups[i]));
        return out;
    }

private:
    const NodeRecord& node(size_t group) const { return m_module.node(m_groups[group].members[0]); }

    bool isRecurrent(size_t group) const
    {
        if (m_groups[group].members.size() != 1) return false;
        const NodeRecord& record = node(group);
        const OpDef& op = factsOf(record);
        if (!op.isRecurrent) return false;
        for (const ValueRef operand : record.operands)
            if (operand.node.isValid() && !knownShape(m_module, operand)) return false;
        const Types operands = operandTypes(m_module, record);
        const OpView view{record.op, record.attrs, operands, record.types};
        return op.cost(view).flops >= leastOperations(m_facts) && gainsBeside(view);
    }

    /// Two threads with an operator each are not slower than all threads at one after the other,
    /// whose parts of the weights may fit their caches.
    bool gainsBeside(const OpView& op) const
    {
        const ProductSize size = productOfStep(op, m_facts);
        const double shared = productCycles(m_facts, size, threadsOfProduct(m_facts, size));
        return productCycles(m_facts, size, 1) <= 2 * shared;
    }

    /// The later node's group stands for both: nobody may read the earlier one's results before.
    bool canRunBeside(const NodeRecord& earlier, const NodeRecord& later) const
    {
        if (earlier.op != later.op || earlier.types != later.types) return false;
        if (earlier.operands.size() != later.operands.size()) return false;
        if (m_module.type(earlier.operands[0]) != m_module.type(later.operands[0])) return false;
        const std::span<const NodeId> users = m_uses.users(earlier.id);
        return std::all_of(users.begin(), users.end(), [&](NodeId user) {
            return m_position.at(user) > m_position.at(later.id);
        });
    }

    void join(size_t earlier, size_t later)
    {
        FusionGroup& group = m_groups[later];
        group.members.insert(group.members.begin(), m_groups[earlier].members[0]);
        group.isSideBySide = true;
        group.reason = "neither waits for the other: each has a thread of its own";
    }

    const Module& m_module;
    const UseIndex m_uses;
    const TargetFacts& m_facts;
    std::vector<FusionGroup> m_groups;
    std::unordered_map<NodeId, size_t> m_position; ///< in the function's order
};

} // namespace

std::vector<FusionGroup> joinSideBySide(const Module& module, const GraphFunction& function,
                                        const TargetFacts& facts, std::vector<FusionGroup> groups)
{
    if (facts.threads < 2) return groups;
    return Pairs(module, function, facts, std::move(groups)).joined();
}

} // namespace tenon::compiler
