// SPDX-License-Identifier: Apache-2.0
// Collects the users of every node of a function.
#include "compiler/passes/use_index.h"

#include <algorithm>

namespace tenon::compiler {

UseIndex::UseIndex(const Module& module, const GraphFunction& function)
{
    struct Use
    {
        NodeId read;
        uint32_t at; ///< of the user in the order
    };
    std::vector<Use> uses;
    uses.reserve(function.order.size() * 2);
    for (uint32_t at = 0; at < function.order.size(); ++at)
        for (const ValueRef& operand : module.node(function.order[at]).operands)
            if (operand.node.isValid()) uses.push_back({operand.node, at});
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
        return a.read != b.read ? a.read < b.read : a.at < b.at;
    });
    for (size_t i = 0; i < uses.size(); ++i) {
        const bool isFirst = i == 0 || uses[i].read != uses[i - 1].read;
        if (!isFirst && uses[i].at == uses[i - 1].at) continue;
        if (isFirst) {
            m_read.push_back(uses[i].read);
            m_first.push_back(static_cast<uint32_t>(m_users.size()));
        }
        m_users.push_back(function.order[uses[i].at]);
    }
    m_first.push_back(static_cast<uint32_t>(m_users.size()));
    for (const ValueRef& result : function.results) m_results.push_back(result.node);
    std::sort(m_results.begin(), m_results.end());
}

std::span<const NodeId> UseIndex::users(NodeId id) const
{
    const auto found = std::lower_bound(m_read.begin(), m_read.end(), id);
    if (found == m_read.end() || *found != id) return {};
    const auto at = static_cast<size_t>(found - m_read.begin());
    return std::span(m_users).subspan(m_first[at], m_first[at + 1] - m_first[at]);
}

bool UseIndex::isResult(NodeId id) const
{
    return std::binary_search(m_results.begin(), m_results.end(), id);
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
