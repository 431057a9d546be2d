// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the functions of If, Loop and Scan, and those nested in them.
#include "views/models/nesting.h"

#include "views/models/format.h"

#include <set>

namespace tenon::views {

using core::NodeId;

void forEachNested(const core::Module& module, const core::NodeRecord& owner,
                   const std::function<void(NodeId)>& found)
{
    for (const core::FunctionId id : owner.bodies) {
        const core::GraphFunction& body = module.function(id);
        for (const NodeId param : body.params) found(param);
        for (const NodeId inner : body.order) {
            found(inner);
            forEachNested(module, module.node(inner), found);
        }
    }
}

std::unordered_set<NodeId> programNodes(const core::Module& module)
{
    std::unordered_set<NodeId> nodes;
    if (!module.mainId().isValid()) return nodes;
    for (const NodeId id : module.main().order) {
        nodes.insert(id);
        forEachNested(module, module.node(id), [&](NodeId inner) { nodes.insert(inner); });
    }
    return nodes;
}

std::unordered_map<NodeId, NodeId> ownersInMain(const core::Module& module)
{
    std::unordered_map<NodeId, NodeId> owners;
    if (!module.mainId().isValid()) return owners;
    for (const NodeId id : module.main().order)
        forEachNested(module, module.node(id), [&](NodeId inner) {
            owners.emplace(inner, id);
            const auto callee = module.functions().find(module.node(inner).callee);
            if (callee == module.functions().end()) return;
            for (const NodeId member : callee->second->order) owners.emplace(member, id);
        });
    return owners;
}

std::unordered_map<NodeId, int> nestedChanges(const Document& document, size_t version)
{
    std::unordered_map<NodeId, int> counts;
    if (version == 0) return counts;
    const auto before = ownersInMain(document.version(version - 1));
    const auto after = ownersInMain(document.version(version));
    for (const core::Change& change : document.passes[version - 1].changes) {
        std::set<NodeId> touched;
        for (const auto* ids : {&change.to, &change.erased})
            for (const NodeId id : *ids)
                for (const auto* owners : {&after, &before})
                    if (const auto found = owners->find(id); found != owners->end())
                        touched.insert(found->second);
        for (const NodeId owner : touched) ++counts[owner];
    }
    return counts;
}

QString nestedChangesText(int changes)
{
    return countOf(changes, QStringLiteral("change")) + QStringLiteral(" inside");
}

} // namespace tenon::views
