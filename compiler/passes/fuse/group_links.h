// SPDX-License-Identifier: Apache-2.0
// GroupLinks: chains of fusion groups under way, each group with at most one before and one behind.
#pragma once

#include "compiler/passes/fuse/fusion_groups.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenon::compiler {

class GroupLinks
{
public:
    explicit GroupLinks(size_t groups = 0)
        : m_next(groups, kNone)
        , m_previous(groups, kNone)
    {
    }

    bool hasNext(size_t group) const { return m_next[group] != kNone; }
    bool hasPrevious(size_t group) const { return m_previous[group] != kNone; }
    void connect(size_t from, size_t to);
    void disconnect(size_t from, size_t to) { m_next[from] = m_previous[to] = kNone; }

    /// The chain that holds a group, in order.
    std::vector<size_t> chainWith(size_t group) const;

    /// A group for each chain, in the place of its last one; `reasonOf` says why there is it.
    std::vector<FusionGroup>
    joined(const std::vector<FusionGroup>& groups,
           const std::function<std::string(const std::vector<size_t>& chain)>& reasonOf) const;

private:
    static constexpr size_t kNone = SIZE_MAX;

    std::vector<size_t> m_next, m_previous; ///< by group
};

} // namespace tenon::compiler
