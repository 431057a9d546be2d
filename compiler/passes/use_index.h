// SPDX-License-Identifier: Apache-2.0
// UseIndex: who reads a node of one function; built once per pass run.
#pragma once

#include "core/ir/module.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::compiler {

using namespace core;

class UseIndex
{
public:
    UseIndex(const Module& module, const GraphFunction& function);

    /// Nodes that read any result of `id`, each once, in order.
    std::span<const NodeId> users(NodeId id) const;
    bool isResult(NodeId id) const;
    /// Exactly one node reads it and the function does not return it.
    bool hasOneUser(NodeId id) const { return users(id).size() == 1 && !isResult(id); }

private:
    // Flat: one is built for every pass, and a list for each of 100,000 nodes would be most of it.
    std::vector<NodeId> m_read;    ///< nodes that are read, in order
    std::vector<uint32_t> m_first; ///< where the users of each begin, and where the last ones end
    std::vector<NodeId> m_users;
    std::vector<NodeId> m_results; ///< in order
};

/// Functions whose nodes passes rewrite: all but primitive ones, main first.
std::vector<const GraphFunction*> openFunctions(const Module& module);

} // namespace tenon::compiler
