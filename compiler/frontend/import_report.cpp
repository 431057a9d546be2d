// SPDX-License-Identifier: Apache-2.0
// Diagnostics sorted by the node that they are about.
#include "compiler/frontend/import_report.h"

#include "compiler/ops/op.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace tenon::compiler {
namespace {

NodeVerdict verdictOf(const Diagnostic& d)
{
    if (d.severity != Severity::Error) return NodeVerdict::Noted;
    switch (d.code) {
    case DiagnosticCode::UnsupportedDtype:
    case DiagnosticCode::UnsupportedFeature:
    case DiagnosticCode::UnsupportedOperator:
    case DiagnosticCode::DynamicShape: return NodeVerdict::Unsupported;
    default: return NodeVerdict::Invalid;
    }
}

/// Sources of nodes that only show that something was there.
std::set<SourceId> opaqueSources(const Module& module)
{
    std::set<SourceId> out;
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (node.kind == NodeKind::Op && node.bodies.empty() && !findOp(node.op))
            out.insert(node.origin.begin(), node.origin.end());
    }
    return out;
}

/// What was said of one name. Who reads it once for each node of that name gets little each time,
/// or many nodes of one name would take the square of their number.
struct Told
{
    void add(const Diagnostic& d)
    {
        verdict = std::max(verdict, verdictOf(d));
        if (nodes > 1 && !why.empty()) {
            ++more;
            return;
        }
        if (!why.empty()) why += "; ";
        why += d.message;
    }
    std::string text() const
    {
        if (more == 0) return why;
        return why + "; and " + std::to_string(more) + " more for the " + std::to_string(nodes) +
               " nodes of this name";
    }

    size_t nodes = 0, more = 0;
    NodeVerdict verdict = NodeVerdict::Supported;
    std::string why;
};

} // namespace

const char* verdictText(NodeVerdict verdict)
{
    switch (verdict) {
    case NodeVerdict::Supported: return "supported";
    case NodeVerdict::Noted: return "supported with a note";
    case NodeVerdict::Unsupported: return "unsupported";
    case NodeVerdict::Invalid: return "invalid";
    case NodeVerdict::Unreached: return "not reached";
    }
    return "";
}

size_t ImportReport::count(NodeVerdict verdict) const
{
    return static_cast<size_t>(std::count_if(
        nodes.begin(), nodes.end(), [&](const NodeReport& n) { return n.verdict == verdict; }));
}

ImportReport importReport(const Loaded& loaded)
{
    ImportReport out;
    std::unordered_map<std::string_view, Told> told;
    for (const SourceNode& source : loaded.module.sources()) ++told[source.name].nodes;
    for (const Diagnostic& d : loaded.diagnostics) {
        if (d.location.node.empty())
            out.model.push_back(d.text());
        else
            told[d.location.node].add(d);
    }
    const std::set<SourceId> opaque = opaqueSources(loaded.module);
    for (size_t i = 0; i < loaded.module.sources().size(); ++i) {
        const SourceNode& source = loaded.module.sources()[i];
        NodeReport report{.node = source.name, .op = source.op};
        const Told& all = told[source.name];
        report.verdict = all.verdict;
        report.why = all.text();
        if (report.verdict == NodeVerdict::Supported &&
            opaque.contains(SourceId(static_cast<uint32_t>(i)))) {
            report.verdict = NodeVerdict::Unreached;
            report.why = "it follows a node that could not be imported";
        }
        out.nodes.push_back(std::move(report));
    }
    return out;
}

} // namespace tenon::compiler
