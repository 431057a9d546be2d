// SPDX-License-Identifier: Apache-2.0
// A line per pass that touched the node, then where it is in the end.
#include "app/cli/follow_report.h"

#include "core/base/text.h"
#include "core/ir/follow.h"

namespace tenon::cli {

namespace {

Json placeJson(const Place& place)
{
    Json out{{"node", place.node.value}, {"op", place.op}, {"text", placeText(place)}};
    if (place.isConstant) out["constant"] = true;
    if (!place.call.isValid()) return out;
    out["kernel"] = place.kernel;
    if (place.number > 0) out["number"] = place.number;
    if (place.row > 0) {
        out["row"] = place.row;
        out["rows"] = place.rows;
    }
    return out;
}

Json followJson(const SourceNode& source, const std::vector<FollowStep>& steps)
{
    Json shown = Json::array();
    for (const FollowStep& step : steps) {
        Json rules = Json::array();
        for (const auto& [rule, reason] : step.rules)
            rules.push_back({{"rule", rule}, {"reason", reason}});
        Json places = Json::array();
        for (const Place& place : step.places) places.push_back(placeJson(place));
        shown.push_back({{"version", step.version},
                         {"pass", step.pass},
                         {"rules", std::move(rules)},
                         {"places", std::move(places)},
                         {"text", placesText(step.places)}});
    }
    return {{"node", source.name},
            {"op", source.op},
            {"steps", std::move(shown)},
            {"answer", placesText(steps.back().places)}};
}

std::string followText(const SourceNode& source, const std::vector<FollowStep>& steps)
{
    std::vector<std::vector<std::string>> rows{{"", "pass", "what it is then", "rules"}};
    for (const FollowStep& step : steps) {
        std::vector<std::string> rules;
        for (const auto& [rule, reason] : step.rules)
            if (rules.empty() || rules.back() != rule) rules.push_back(rule);
        rows.push_back({std::to_string(step.version), step.pass.empty() ? "(imported)" : step.pass,
                        placesText(step.places), join(rules, ", ")});
    }
    return core::quoted(source.name) + " (" + source.op + "): " + placesText(steps.back().places) +
           "\n\n" + table(rows);
}

} // namespace

int printFollow(const compiler::PassTrace& trace, const std::string& name, bool isJson)
{
    const auto source = findSource(trace.imported, name);
    if (!source) return failure(source.error());
    std::vector<FollowedPass> passes;
    for (const compiler::PassRecord& record : trace.records)
        passes.push_back({record.name, record.changed, &record.changes, &record.after});
    const std::vector<FollowStep> steps = follow(trace.imported, passes, *source);
    const SourceNode& node = trace.imported.sources()[source->value];
    if (isJson)
        printJson(followJson(node, steps));
    else
        print(followText(node, steps));
    return kSuccess;
}

} // namespace tenon::cli
