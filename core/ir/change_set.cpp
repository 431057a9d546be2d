// SPDX-License-Identifier: Apache-2.0
// Applying patches: the one place where a module version changes, so nothing can change unrecorded.
#include "core/ir/change_set.h"

#include "core/ir/origin_union.h"

#include <queue>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tenon::core {
namespace {

std::vector<SourceId> originOf(const Module& module, const std::vector<NodeId>& nodes)
{
    OriginUnion origin;
    for (const NodeId id : nodes)
        if (const NodePtr& node = module.findNode(id)) origin.add(node->origin);
    return origin.take();
}

/// One walk over a function for all accepted patches. Accepting is decided patch by patch in the
/// given order; the module is written once at the end.
class Batch
{
public:
    explicit Batch(Module& module)
        : m_module(module)
    {
    }

    /// False when the patch collides with an accepted one.
    bool accept(const Patch& patch)
    {
        if (collides(patch)) return false;
        const size_t index = m_accepted.size();
        m_accepted.push_back(&patch);
        consume(patch);
        for (const auto& [from, to] : patch.replace) m_replacements[from] = {to, index};
        for (const NodeRecord& record : patch.nodes) {
            m_patchOf[record.id] = index;
            for (const ValueRef& operand : record.operands) m_needed.insert(operand.node);
        }
        for (const auto& [from, to] : patch.replace) m_needed.insert(to.node);
        return true;
    }

    std::vector<Change> apply()
    {
        std::vector<Change> changes;
        for (const Patch* patch : m_accepted) changes.push_back(record(*patch));
        std::map<FunctionId, std::vector<const Patch*>> byFunction;
        for (const Patch* patch : m_accepted) byFunction[patch->function].push_back(patch);
        for (const auto& [id, patches] : byFunction) rewrite(id, patches);
        for (const Patch* patch : m_accepted)
            for (const NodeId id : patch->erase) m_module.eraseNode(id);
        return changes;
    }

private:
    struct Replacement
    {
        ValueRef to;
        size_t patch;
    };

    bool collides(const Patch& patch) const
    {
        const auto consumed = [&](NodeId id) { return m_consumed.count(id) > 0; };
        for (const std::vector<NodeId>* list : {&patch.from, &patch.erase, &patch.moved})
            if (std::any_of(list->begin(), list->end(), consumed)) return true;
        for (const auto& [from, to] : patch.replace)
            if (consumed(from.node) || isErased(to) || resolved(to, kNoPatch) == from) return true;
        for (const NodeRecord& node : patch.nodes) {
            if (consumed(node.id)) return true;
            for (const ValueRef& operand : node.operands)
                if (isErased(operand)) return true;
        }
        const auto isReplaced = [&](NodeId id) {
            return std::any_of(patch.replace.begin(), patch.replace.end(),
                               [&](const auto& pair) { return pair.first.node == id; });
        };
        return std::any_of(patch.erase.begin(), patch.erase.end(),
                           [&](NodeId id) { return m_needed.count(id) && !isReplaced(id); });
    }

    /// True for a value that an accepted patch erases without naming a replacement.
    bool isErased(ValueRef value) const
    {
        return m_erased.count(value.node) && !m_replacements.count(value);
    }

    void consume(const Patch& patch)
    {
        m_consumed.insert(patch.from.begin(), patch.from.end());
        m_consumed.insert(patch.moved.begin(), patch.moved.end());
        m_erased.insert(patch.erase.begin(), patch.erase.end());
        for (const auto& [from, to] : patch.replace) m_consumed.insert(from.node);
        for (const NodeRecord& node : patch.nodes) m_consumed.insert(node.id);
    }

    /// What stands for the value now; a patch's own records read what the patch itself replaces.
    ValueRef resolved(ValueRef value, size_t ownPatch) const
    {
        std::vector<ValueRef> path;
        for (size_t hops = 0; hops <= m_replacements.size(); ++hops) {
            const auto found = m_replacements.find(value);
            if (found == m_replacements.end() || found->second.patch == ownPatch) {
                for (const ValueRef& from : path) m_shortcuts[from] = value;
                return value;
            }
            const auto shortcut = m_shortcuts.find(value);
            const bool isShort = ownPatch == kNoPatch && shortcut != m_shortcuts.end();
            if (ownPatch == kNoPatch) path.push_back(value);
            value = isShort ? shortcut->second : found->second.to;
        }
        CHECK(false) << "replacements form a cycle";
        return value;
    }

    size_t patchOf(NodeId id) const
    {
        const auto found = m_patchOf.find(id);
        return found != m_patchOf.end() ? found->second : kNoPatch;
    }

    /// Stores the patch's nodes, functions and kernels.
    Change record(const Patch& patch)
    {
        Change change{patch.rule, patch.reason, patch.from,
                      {},         patch.erase,  originOf(m_module, patch.from)};
        std::unordered_set<NodeId> elsewhere;
        for (const GraphFunction& f : patch.functions) {
            elsewhere.insert(f.params.begin(), f.params.end());
            elsewhere.insert(f.order.begin(), f.order.end());
        }
        change.to.reserve(patch.nodes.size());
        for (const NodeRecord& given : patch.nodes) {
            NodeRecord node = given;
            const bool isNew = !m_module.findNode(node.id);
            if (isNew && node.origin.empty() && node.kind != NodeKind::Parameter)
                node.origin = change.origin;
            if (isNew && !elsewhere.count(node.id)) m_fresh[&patch].push_back(node.id);
            change.to.push_back(node.id);
            m_module.setNode(std::move(node));
        }
        for (const GraphFunction& f : patch.functions) m_module.setFunction(f);
        for (const auto& [name, kernel] : patch.kernels) m_module.setKernel(name, kernel);
        return change;
    }

    /// New order with fresh nodes behind the last of their patch's `from`; redirects all uses.
    void rewrite(FunctionId id, const std::vector<const Patch*>& patches)
    {
        GraphFunction function = m_module.function(id);
        std::unordered_set<NodeId> gone;
        std::unordered_map<NodeId, std::vector<const Patch*>> touching;
        for (const Patch* patch : patches) {
            gone.insert(patch->erase.begin(), patch->erase.end());
            gone.insert(patch->moved.begin(), patch->moved.end());
            if (!m_fresh.count(patch)) continue;
            for (const NodeId from : patch->from) touching[from].push_back(patch);
        }
        std::unordered_map<const Patch*, NodeId> last;
        for (const NodeId node : function.order)
            if (const auto found = touching.find(node); found != touching.end())
                for (const Patch* patch : found->second) last[patch] = node;

        std::vector<NodeId> order;
        order.reserve(function.order.size());
        const auto place = [&](const Patch* patch) {
            const std::vector<NodeId>& fresh = m_fresh[patch];
            order.insert(order.end(), fresh.begin(), fresh.end());
        };
        for (const Patch* patch : patches)
            if (m_fresh.count(patch) && !last.count(patch)) place(patch);
        for (const NodeId node : function.order) {
            if (!gone.count(node)) order.push_back(node);
            const auto found = touching.find(node);
            if (found == touching.end()) continue;
            for (const Patch* patch : found->second)
                if (last[patch] == node && m_placed.insert(patch).second) place(patch);
        }
        function.order = std::move(order);
        if (!m_replacements.empty()) {
            for (const NodeId node : function.order) redirect(node);
            for (const Patch* patch : patches)
                for (const NodeId node : patch->moved) redirect(node);
            for (ValueRef& result : function.results) result = resolved(result, kNoPatch);
        }
        const bool isGiven = std::any_of(patches.begin(), patches.end(), [&](const Patch* patch) {
            return std::any_of(patch->functions.begin(), patch->functions.end(),
                               [&](const GraphFunction& f) { return f.id == id; });
        });
        if (!isGiven) m_module.setFunction(std::move(function));
    }

    void redirect(NodeId id)
    {
        const NodeRecord& old = m_module.node(id);
        const size_t own = patchOf(id);
        const bool isTouched =
            std::any_of(old.operands.begin(), old.operands.end(), [&](ValueRef v) {
                return m_replacements.count(v) && resolved(v, own) != v;
            });
        if (!isTouched) return;
        NodeRecord node = old;
        for (ValueRef& operand : node.operands) operand = resolved(operand, own);
        m_module.setNode(std::move(node));
    }

    static constexpr size_t kNoPatch = static_cast<size_t>(-1);
    Module& m_module;
    std::vector<const Patch*> m_accepted;
    std::unordered_set<NodeId> m_consumed;
    std::unordered_set<NodeId> m_erased;
    std::unordered_set<NodeId> m_needed; ///< read by records or replacements of accepted patches
    std::unordered_map<ValueRef, Replacement> m_replacements;
    /// Ends of chains of replacements, as far as they were when somebody walked there: each value
    /// of a long chain would otherwise walk all of it.
    mutable std::unordered_map<ValueRef, ValueRef> m_shortcuts;
    std::unordered_map<NodeId, size_t> m_patchOf; ///< accepted patch that gives the record
    std::unordered_map<const Patch*, std::vector<NodeId>> m_fresh;
    std::unordered_set<const Patch*> m_placed;
};

} // namespace

Change applyPatch(Module& module, const Patch& patch)
{
    return std::move(applyPatches(module, {&patch, 1}).changes.at(0));
}

AppliedPatches applyPatches(Module& module, std::span<const Patch> patches)
{
    AppliedPatches out;
    Batch batch(module);
    for (const Patch& patch : patches)
        if (!batch.accept(patch)) ++out.dropped;
    out.changes = batch.apply();
    return out;
}

void sortTopologically(Module& module, FunctionId functionId)
{
    GraphFunction function = module.function(functionId);
    std::unordered_map<NodeId, size_t> position;
    for (size_t i = 0; i < function.order.size(); ++i) position[function.order[i]] = i;
    const auto isInOrder = [&](NodeId id) {
        const std::vector<ValueRef>& operands = module.node(id).operands;
        return std::all_of(operands.begin(), operands.end(), [&](const ValueRef& operand) {
            const auto producer = position.find(operand.node);
            return producer == position.end() || producer->second < position.at(id);
        });
    };
    if (std::all_of(function.order.begin(), function.order.end(), isInOrder)) return;
    std::vector<size_t> waiting(function.order.size(), 0);
    std::vector<std::vector<size_t>> users(function.order.size());
    for (size_t i = 0; i < function.order.size(); ++i) {
        for (const ValueRef& operand : module.node(function.order[i]).operands) {
            const auto producer = position.find(operand.node);
            if (producer == position.end()) continue;
            ++waiting[i];
            users[producer->second].push_back(i);
        }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < waiting.size(); ++i)
        if (waiting[i] == 0) ready.push(i);
    std::vector<NodeId> order;
    while (!ready.empty()) {
        const size_t next = ready.top();
        ready.pop();
        order.push_back(function.order[next]);
        for (const size_t user : users[next])
            if (--waiting[user] == 0) ready.push(user);
    }
    CHECK(order.size() == function.order.size()) << "function " << function.name << " has a cycle";
    if (order == function.order) return;
    function.order = std::move(order);
    module.setFunction(std::move(function));
}

NodeRecord newOpNode(const Module& module, std::string op, std::vector<ValueRef> operands,
                     Attrs attrs)
{
    NodeRecord record;
    record.id = module.ids().nextNode();
    record.kind = NodeKind::Op;
    record.op = std::move(op);
    record.operands = std::move(operands);
    record.attrs = std::move(attrs);
    return record;
}

NodeRecord newConstantNode(const Module& module, Tensor value, std::string name)
{
    NodeRecord record;
    record.id = module.ids().nextNode();
    record.kind = NodeKind::Constant;
    record.types = {{value.dtype(), makeShape(value.shape())}};
    record.constant = std::make_shared<const Tensor>(std::move(value));
    record.name = std::move(name);
    return record;
}

} // namespace tenon::core
