// SPDX-License-Identifier: Apache-2.0
// Patch (what a rule wants) and Change (what was recorded): provenance is written here and nowhere
// else.
#pragma once

#include "core/ir/module.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tenon::core {

/// A rewrite as a value. Only applyPatch() changes a module; rules never mutate a graph while
/// walking it.
struct Patch
{
    std::string rule;         ///< stable kebab-case name, e.g. "fold-scale-into-conv"
    std::string reason;       ///< one phrase for people, with the facts that made it fire
    FunctionId function;      ///< function whose nodes change
    std::vector<NodeId> from; ///< nodes the rule consumed
    std::vector<NodeRecord>
        nodes; ///< new nodes with fresh ids, or new records under existing ids, operands first
    std::vector<std::pair<ValueRef, ValueRef>>
        replace; ///< every use of first (results too) becomes second
    std::vector<NodeId>
        erase; ///< subset of `from` that disappears; must be unused after the replacements
    std::vector<GraphFunction> functions; ///< new or changed functions (primitive functions,
                                          ///< bodies); their nodes are in `nodes`
    std::vector<NodeId>
        moved; ///< nodes that leave `function` to live in one of `functions` under the same id
    std::vector<std::pair<std::string, PrimFuncPtr>> kernels; ///< new or changed loop functions
};

/// What one applied patch did; the union of these is a pass's change set.
struct Change
{
    std::string rule;
    std::string reason;
    std::vector<NodeId> from;
    std::vector<NodeId> to;       ///< new nodes, or existing ones whose record changed
    std::vector<NodeId> erased;   ///< those of `from` that no longer exist
    std::vector<SourceId> origin; ///< union of the origins of `from`
};

/// Applies `patch` to `module`. New nodes without origin take the union of `from`'s origins; new
/// nodes are placed right after the last of `from`; the pass runner restores the topological order
/// afterwards. Nodes given in the patch are not redirected by the patch's own replacements, so a
/// wrapper may read the value it replaces.
Change applyPatch(Module& module, const Patch& patch);

struct AppliedPatches
{
    std::vector<Change> changes; ///< of the patches that were applied, in order
    size_t dropped = 0;          ///< patches that touched what an earlier one had consumed
};

/// Applies many patches of one pass in one walk over each function. A patch that consumes, changes
/// or needs a node that an earlier patch of the batch consumed is dropped (the pass may run again).
AppliedPatches applyPatches(Module& module, std::span<const Patch> patches);

/// Stable topological order of every function's nodes (ties keep their previous order).
void sortTopologically(Module& module, FunctionId function);

/// Starts a record with a fresh id and the given operator; the usual way to write new nodes into a
/// Patch.
NodeRecord newOpNode(const Module& module, std::string op, std::vector<ValueRef> operands,
                     Attrs attrs = {});
NodeRecord newConstantNode(const Module& module, Tensor value, std::string name = {});

} // namespace tenon::core
