// SPDX-License-Identifier: Apache-2.0
// Conservation of provenance: where every source node of the model ends up.
#include "compiler/passes/pass.h"
#include "core/base/text.h"
#include "core/ir/origin_union.h"

#include <set>

namespace tenon::compiler {
namespace {

std::string sourceText(const Module& module, SourceId id)
{
    const SourceNode& source = module.sources()[id.value];
    return quoted(source.name) + " (" + source.op + ")";
}

/// Sources that several nodes share: from the start, or because a recorded rule wrote several.
std::set<SourceId> duplicatedSources(const PassTrace& trace)
{
    std::set<SourceId> duplicated;
    std::set<SourceId> seen;
    for (const auto& [id, function] : trace.imported.functions())
        for (const NodeId nodeId : function->order)
            for (const SourceId source : trace.imported.node(nodeId).origin)
                if (!seen.insert(source).second) duplicated.insert(source);
    for (const PassRecord& record : trace.records) {
        for (const Change& change : record.changes) {
            size_t written = 0;
            for (const NodeId id : change.to) {
                const NodePtr& node = record.after.findNode(id);
                written += node && node->kind == NodeKind::Op;
            }
            if (written > 1) duplicated.insert(change.origin.begin(), change.origin.end());
        }
    }
    return duplicated;
}

/// True for changes that leave nothing to execute: folded into constants, or dropped by a rule.
bool leavesNothing(const Change& change, const Module& after)
{
    if (change.erased.empty() && change.to.empty()) return false;
    for (const NodeId id : change.to) {
        const NodePtr& node = after.findNode(id);
        if (node && node->kind != NodeKind::Constant) return false;
    }
    return true;
}

std::set<SourceId> ledger(const PassTrace& trace, const std::vector<Change>& importChanges)
{
    std::set<SourceId> entries;
    for (const Change& change : importChanges)
        entries.insert(change.origin.begin(), change.origin.end());
    // What was a constant from the start is data and runs nowhere.
    for (const auto& [id, function] : trace.imported.functions())
        for (const NodeId nodeId : function->order)
            if (const NodeRecord& node = trace.imported.node(nodeId);
                node.kind == NodeKind::Constant)
                entries.insert(node.origin.begin(), node.origin.end());
    for (const PassRecord& record : trace.records)
        for (const Change& change : record.changes)
            if (leavesNothing(change, record.after))
                entries.insert(change.origin.begin(), change.origin.end());
    return entries;
}

} // namespace

Conservation checkConservation(const PassTrace& trace, const std::vector<Change>& importChanges)
{
    Conservation out;
    const Module& last = trace.last();
    std::vector<size_t> calls(last.sources().size(), 0);
    for (const auto& [id, function] : last.functions()) {
        if (function->attrs.integer("primitive", 0) != 0) continue;
        for (const NodeId nodeId : function->order) {
            const NodeRecord& node = last.node(nodeId);
            if (node.kind == NodeKind::Constant) continue;
            for (const SourceId source : node.origin) ++calls[source.value];
            if (!node.callee.isValid()) continue;
            OriginUnion origin;
            for (const NodeId member : last.function(node.callee).order)
                if (last.node(member).kind != NodeKind::Constant)
                    origin.add(last.node(member).origin);
            const std::vector<SourceId> members = origin.take();
            if (mergedOrigin(members, node.origin) != members)
                out.violations.push_back("the call of " + quoted(last.function(node.callee).name) +
                                         " names sources that none of its members has");
        }
    }
    const std::set<SourceId> duplicated = duplicatedSources(trace);
    const std::set<SourceId> folded = ledger(trace, importChanges);
    for (uint32_t i = 0; i < calls.size(); ++i) {
        const SourceId source(i);
        if (calls[i] == 0 && !folded.count(source))
            out.violations.push_back(sourceText(last, source) +
                                     " is in no kernel call and no recorded rule dropped it");
        if (calls[i] > 1 && !duplicated.count(source))
            out.violations.push_back(sourceText(last, source) + " is in " +
                                     std::to_string(calls[i]) +
                                     " kernel calls but no recorded rule duplicated it");
        out.inKernels += calls[i] > 0;
        out.inLedger += calls[i] == 0 && folded.count(source);
    }
    return out;
}

} // namespace tenon::compiler
