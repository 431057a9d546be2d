// SPDX-License-Identifier: Apache-2.0
// Counting nodes.
#include "core/ir/model_counts.h"

#include <algorithm>

namespace tenon::core {
namespace {

bool computes(const NodeRecord& node)
{
    return node.kind != NodeKind::Constant && node.kind != NodeKind::Parameter;
}

int64_t nestedIn(const Module& module, const NodeRecord& owner)
{
    int64_t count = 0;
    for (const FunctionId body : owner.bodies)
        for (const NodeId id : module.function(body).order) {
            const NodeRecord& node = module.node(id);
            count += computes(node) + nestedIn(module, node);
        }
    return count;
}

} // namespace

int64_t graphNodes(const Module& module)
{
    if (!module.mainId().isValid()) return 0;
    const auto& order = module.main().order;
    return std::count_if(order.begin(), order.end(),
                         [&](NodeId id) { return computes(module.node(id)); });
}

int64_t nestedNodes(const Module& module)
{
    int64_t count = 0;
    if (!module.mainId().isValid()) return count;
    for (const NodeId id : module.main().order) count += nestedIn(module, module.node(id));
    return count;
}

} // namespace tenon::core
