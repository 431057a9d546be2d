// SPDX-License-Identifier: Apache-2.0
// A row for every change: which rules, of how many nodes how many, and where.
#include "app/cli/composed_report.h"

#include "core/base/text.h"
#include "core/ir/descent.h"
#include "core/ir/follow.h"

#include <algorithm>

namespace tenon::cli {

namespace {

constexpr std::string_view kImported = "imported";

/// The version after the last run of that pass; 0 as imported.
Result<size_t> versionOf(const compiler::PassTrace& trace, const std::string& name)
{
    if (name == kImported || name == "Imported") return size_t{0};
    const compiler::PassDef* def = compiler::findPass(name);
    for (size_t i = trace.records.size(); i-- > 0;)
        if (trace.records[i].name == name || (def && def->name == trace.records[i].name))
            return i + 1;
    return makeError(DiagnosticCode::UnknownName,
                     "no pass " + core::quoted(name) +
                         " ran; `tenon passes MODEL` lists those that did");
}

const Module& moduleAt(const compiler::PassTrace& trace, size_t version)
{
    return version == 0 ? trace.imported : trace.records[version - 1].after;
}

std::string nameAt(const compiler::PassTrace& trace, size_t version)
{
    return version == 0 ? std::string(kImported) : trace.records[version - 1].name;
}

/// The model's nodes that the change is about.
std::vector<std::string> sourcesOf(const Module& before, const Module& after,
                                   const core::ComposedChange& change)
{
    std::vector<std::string> names;
    const auto add = [&](const Module& module, NodeId id) {
        const NodePtr& node = module.findNode(id);
        if (!node) return;
        for (const SourceId source : node->origin)
            if (source.value < module.sources().size())
                if (const std::string& name = module.sources()[source.value].name;
                    std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(name);
    };
    for (const NodeId id : change.from) add(before, id);
    if (names.empty())
        for (const NodeId id : change.to) add(after, id);
    return names;
}

Json nodesJson(const Module& module, const std::vector<NodeId>& nodes)
{
    Json out = Json::array();
    for (const NodeId id : nodes)
        out.push_back({{"node", id.value}, {"op", core::shownOperator(module.node(id))}});
    return out;
}

std::string placeText(const std::vector<std::string>& names)
{
    constexpr size_t kShown = 2;
    std::vector<std::string> shown(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
    std::string text = join(shown, ", ");
    if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
    return text;
}

} // namespace

int printComposed(const compiler::PassTrace& trace, const std::string& from, const std::string& to,
                  bool isJson)
{
    auto first = versionOf(trace, from.empty() ? std::string(kImported) : from);
    if (!first) return failure(first.error());
    auto last = to.empty() ? Result<size_t>(trace.records.size()) : versionOf(trace, to);
    if (!last) return failure(last.error());
    if (*first > *last)
        return wrongUsage("--from " + nameAt(trace, *first) + " runs after --to " +
                          nameAt(trace, *last) + "; exchange them");
    const Module &before = moduleAt(trace, *first), &after = moduleAt(trace, *last);
    std::vector<const std::vector<Change>*> changes;
    for (size_t i = *first; i < *last; ++i) changes.push_back(&trace.records[i].changes);
    const std::vector<core::ComposedChange> composed = core::composeChanges(before, after, changes);
    Json rows = Json::array();
    std::vector<std::vector<std::string>> lines{{"nodes", "of", "rules"}};
    for (const core::ComposedChange& change : composed) {
        const std::vector<std::string> names = sourcesOf(before, after, change);
        rows.push_back({{"rules", change.rules},
                        {"from", nodesJson(before, change.from)},
                        {"to", nodesJson(after, change.to)},
                        {"of", names}});
        lines.push_back(
            {std::to_string(change.from.size()) + " -> " + std::to_string(change.to.size()),
             placeText(names), join(change.rules, ", ")});
    }
    if (isJson)
        printJson({{"from", nameAt(trace, *first)},
                   {"to", nameAt(trace, *last)},
                   {"passes", *last - *first},
                   {"changes", std::move(rows)}});
    else
        print(nameAt(trace, *first) + " -> " + nameAt(trace, *last) + ": " +
              std::to_string(composed.size()) + (composed.size() == 1 ? " change" : " changes") +
              "\n\n" + table(lines));
    return kSuccess;
}

} // namespace tenon::cli
