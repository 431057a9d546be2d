// SPDX-License-Identifier: Apache-2.0
// UseIndex: who reads a node of one function; built once per pass run.
#pragma once

#include "core/ir/module.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::compiler {

using namespace core;

class UseIndex
{
public:
    UseIndex(const Module& module, const GraphFunction& function);

    /// Nodes that read any result of `id`, each once, in order.
    const std::vector<NodeId>& users(NodeId id) const;
    bool isResult(NodeId id) const { return m_results.count(id) > 0; }
    /// Exactly one node reads it and the function does not return it.
    bool hasOneUser(NodeId id) const { return users(id).size() == 1 && !isResult(id); }

private:
    std::unordered_map<NodeId, std::vector<NodeId>> m_users;
    std::unordered_set<NodeId> m_results;
};

/// Functions whose nodes passes rewrite: all but primitive ones, main first.
std::vector<const GraphFunction*> openFunctions(const Module& module);

} // namespace tenon::compiler
