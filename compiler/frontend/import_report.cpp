// SPDX-License-Identifier: Apache-2.0
// Diagnostics sorted by the node that they are about.
#include "compiler/frontend/import_report.h"

#include "compiler/ops/op.h"

#include <algorithm>
#include <map>
#include <set>

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
    std::multimap<std::string, const Diagnostic*> byNode;
    for (const Diagnostic& d : loaded.diagnostics) {
        if (d.location.node.empty())
            out.model.push_back(d.text());
        else
            byNode.emplace(d.location.node, &d);
    }
    const std::set<SourceId> opaque = opaqueSources(loaded.module);
    for (size_t i = 0; i < loaded.module.sources().size(); ++i) {
        const SourceNode& source = loaded.module.sources()[i];
        NodeReport report{.node = source.name, .op = source.op};
        const auto [first, last] = byNode.equal_range(source.name);
        for (auto at = first; at != last; ++at) {
            report.verdict = std::max(report.verdict, verdictOf(*at->second));
            if (!report.why.empty()) report.why += "; ";
            report.why += at->second->message;
        }
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
