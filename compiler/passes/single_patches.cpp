// SPDX-License-Identifier: Apache-2.0
// What earlier patches replaced is replaced in later ones before they are applied.
#include "compiler/passes/single_patches.h"

#include "core/base/check.h"

#include <algorithm>

namespace tenon::compiler {

SinglePatches::SinglePatches(const Module& before, std::span<const Patch> patches)
    : m_together(before)
{
    const AppliedPatches applied = applyPatches(m_together, patches);
    m_dropped = applied.dropped;
    // Changes are in the order of the patches that made them.
    for (const Patch& patch : patches) {
        if (m_accepted.size() == applied.changes.size()) break;
        const Change& next = applied.changes[m_accepted.size()];
        if (patch.rule == next.rule && patch.from == next.from && patch.erase == next.erased)
            m_accepted.push_back(&patch);
    }
    CHECK(m_accepted.size() == applied.changes.size()) << "a change without its patch";
}

ValueRef SinglePatches::now(ValueRef value) const
{
    for (auto found = m_replaced.find(value); found != m_replaced.end();
         found = m_replaced.find(value))
        value = found->second;
    return value;
}

Change SinglePatches::apply(Module& module, size_t index)
{
    Patch patch = *m_accepted.at(index);
    for (NodeRecord& node : patch.nodes)
        for (ValueRef& operand : node.operands) operand = now(operand);
    for (auto& [from, to] : patch.replace) to = now(to);
    const Change change = applyPatch(module, patch);
    for (const auto& [from, to] : patch.replace) m_replaced[from] = to;
    return change;
}

void SinglePatches::takeOrder(Module& module) const
{
    for (const auto& [id, together] : m_together.functions()) {
        const auto found = module.functions().find(id);
        if (found == module.functions().end()) continue;
        if (found->second->order == together->order) continue;
        GraphFunction function = *found->second;
        std::vector<NodeId> ours = function.order, theirs = together->order;
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        if (ours != theirs) continue; // types that were refined in between made other nodes
        function.order = together->order;
        module.setFunction(std::move(function));
    }
}

} // namespace tenon::compiler
