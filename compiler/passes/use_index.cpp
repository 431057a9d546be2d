// SPDX-License-Identifier: Apache-2.0
// Collects the users of every node of a function.
#include "compiler/passes/use_index.h"

namespace tenon::compiler {

UseIndex::UseIndex(const Module& module, const GraphFunction& function)
{
    m_users.reserve(function.order.size());
    for (const NodeId id : function.order) {
        for (const ValueRef& operand : module.node(id).operands) {
            if (!operand.node.isValid()) continue;
            std::vector<NodeId>& users = m_users[operand.node];
            if (users.empty() || users.back() != id) users.push_back(id);
        }
    }
    for (const ValueRef& result : function.results) m_results.insert(result.node);
}

const std::vector<NodeId>& UseIndex::users(NodeId id) const
{
    static const std::vector<NodeId> kNone;
    const auto found = m_users.find(id);
    return found != m_users.end() ? found->second : kNone;
}

std::vector<const GraphFunction*> openFunctions(const Module& module)
{
    std::vector<const GraphFunction*> out{&module.main()};
    for (const auto& [id, function] : module.functions())
        if (id != module.mainId() && function->attrs.integer("primitive", 0) == 0)
            out.push_back(function.get());
    return out;
}

} // namespace tenon::compiler
