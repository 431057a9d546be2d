// SPDX-License-Identifier: Apache-2.0
// Two lists of neighbours.
#include "compiler/passes/fuse/group_links.h"

#include <utility>

namespace tenon::compiler {

void GroupLinks::connect(size_t from, size_t to)
{
    m_next[from] = to;
    m_previous[to] = from;
}

std::vector<size_t> GroupLinks::chainWith(size_t group) const
{
    while (m_previous[group] != kNone) group = m_previous[group];
    std::vector<size_t> chain;
    for (; group != kNone; group = m_next[group]) chain.push_back(group);
    return chain;
}

std::vector<FusionGroup> GroupLinks::joined(
    const std::vector<FusionGroup>& groups,
    const std::function<std::string(const std::vector<size_t>& chain)>& reasonOf) const
{
    std::vector<FusionGroup> out;
    for (size_t i = 0; i < groups.size(); ++i) {
        if (m_next[i] != kNone) continue; // part of a later one
        FusionGroup group = groups[i];
        for (size_t part = m_previous[i]; part != kNone; part = m_previous[part]) {
            const FusionGroup& before = groups[part];
            group.members.insert(group.members.begin(), before.members.begin(),
                                 before.members.end());
        }
        if (m_previous[i] != kNone) group.reason = reasonOf(chainWith(i));
        out.push_back(std::move(group));
    }
    return out;
}

} // namespace tenon::compiler
