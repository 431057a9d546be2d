// SPDX-License-Identifier: Apache-2.0
// Parsing and checking figures: what is no number, out of range or contradicts another.
#include "core/target/machine_option.h"

#include "core/base/option_code.h"
#include "core/base/text.h"
#include "core/target/target_facts_fields.h"
#include "core/target/target_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace tenon::core {
namespace {

/// What a schedule is shaped by, and not measured.
constexpr std::string_view kNotFigures[] = {
    "vector_bytes", "vector_registers", "fma",    "embedded_broadcast",
    "lane_operand", "half_lanes",       "threads"};
/// Caches that seem a little faster than those before them, by noise.
constexpr double kNoise = 1.1;

bool isFigure(std::string_view name)
{
    return std::find(std::begin(kNotFigures), std::end(kNotFigures), name) == std::end(kNotFigures);
}

std::optional<double> number(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Diagnostic contradiction(const std::string& what)
{
    return makeError(OptionCode::ContradictoryFacts,
                     what + "; the figures of the table are taken instead", {.detail = "machine"});
}

/// Every figure is a positive number, but those of a cache and of tiles that may not be there.
Status checkNumbers(const TargetFacts& facts)
{
    std::string wrong;
    visitFields(facts, [&](const char* name, const auto& value) {
        const auto figure = static_cast<double>(value);
        const std::string_view which = name;
        const bool mayBeNone = which == "l3_bytes" || which == "byte_tile_macs";
        if (!isFigure(name) || (std::isfinite(figure) && (figure > 0 || mayBeNone))) return;
        if (wrong.empty()) wrong = quoted(name) + " is " + exact(figure);
    });
    if (wrong.empty()) return kDone;
    return contradiction(wrong + ", which no machine has");
}

Status checkSizes(const TargetFacts& facts)
{
    const auto text = [](int64_t bytes) { return bytesText(static_cast<uint64_t>(bytes)); };
    if (facts.l1Bytes > facts.l2Bytes)
        return contradiction("a first-level cache of " + text(facts.l1Bytes) +
                             " before a second-level cache of " + text(facts.l2Bytes));
    if (facts.l3Bytes > 0 && facts.l3Bytes < facts.l2Bytes)
        return contradiction("a second-level cache of " + text(facts.l2Bytes) +
                             " before a third-level cache of " + text(facts.l3Bytes));
    return kDone;
}

Status checkRates(const TargetFacts& facts)
{
    struct Level
    {
        const char* name;
        double rate;
    };
    std::vector<Level> levels{{"the first-level cache", facts.l1BytesPerCycle},
                              {"the second-level cache", facts.l2BytesPerCycle}};
    if (facts.l3Bytes > 0) levels.push_back({"the third-level cache", facts.l3BytesPerCycle});
    levels.push_back({"memory", facts.memoryBytesPerCycle});
    for (size_t i = 1; i < levels.size(); ++i)
        if (levels[i].rate > kNoise * levels[i - 1].rate)
            return contradiction(std::string(levels[i].name) + " gives " +
                                 fixed(levels[i].rate, 1) + " bytes per cycle, and " +
                                 levels[i - 1].name + " before it " + fixed(levels[i - 1].rate, 1));
    return kDone;
}

Diagnostic noSuchFigure(const std::string& name, const std::string& what,
                        const std::vector<std::string>& known)
{
    std::vector<std::string> nearest = nearestNames(name, known, 3);
    for (std::string& each : nearest) each = quoted(each);
    return targetError("machine", quoted(name) + what + (nearest.empty() ? "" : "; nearest are ") +
                                      join(nearest, ", "));
}

Status addPart(const std::string& part, MachineOption& option)
{
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
        option.machine = findMachine(part);
        if (option.machine) return kDone;
        std::vector<std::string> names;
        for (const Machine* machine : allMachines()) names.emplace_back(machine->name);
        return noSuchFigure(part, " has no row in the table of machines", names);
    }
    const std::string name = part.substr(0, equals), text = part.substr(equals + 1);
    const std::vector<std::string> known = measurableFigures();
    if (std::find(known.begin(), known.end(), name) == known.end())
        return noSuchFigure(name, " is no figure of a machine", known);
    const auto value = number(text);
    if (!value) return targetError("machine", quoted(text) + " is no number for " + quoted(name));
    option.figures.emplace_back(name, *value);
    return kDone;
}

} // namespace

Result<std::optional<MachineOption>> machineOption(const Target& target)
{
    const TargetValue* value = target.find("machine");
    const auto* parts = value ? std::get_if<TargetList>(value) : nullptr;
    if (!parts) return std::optional<MachineOption>();
    MachineOption option;
    for (const std::string& part : *parts)
        if (Status read = addPart(part, option); !read) return read.error();
    return std::optional(std::move(option));
}

std::string machineText(const std::vector<std::pair<std::string, double>>& figures)
{
    std::vector<std::string> parts;
    for (const auto& [name, value] : figures) parts.push_back(name + "=" + exact(value));
    return join(parts, ",");
}

std::vector<std::string> measurableFigures()
{
    std::vector<std::string> names;
    const TargetFacts facts;
    visitFields(facts, [&](const char* name, const auto&) {
        if (isFigure(name)) names.emplace_back(name);
    });
    return names;
}

Status applyFigures(const std::vector<std::pair<std::string, double>>& figures, TargetFacts& facts)
{
    TargetFacts changed = facts;
    for (const auto& [name, value] : figures) {
        // Before it becomes an integer, which has no such values.
        const bool isSize = name.ends_with("_bytes");
        if (!std::isfinite(value) || value < 0 || (isSize && value > 1e15))
            return contradiction(quoted(name) + " is " + exact(value) + ", which no machine has");
        visitFields(changed, [&, &key = name, number = value](const char* field, auto& place) {
            if (key == field) place = static_cast<std::decay_t<decltype(place)>>(number);
        });
    }
    for (const auto check : {checkNumbers, checkSizes, checkRates})
        if (Status fine = check(changed); !fine) return fine;
    facts = changed;
    return kDone;
}

Status checkFacts(const TargetFacts& facts)
{
    TargetFacts same = facts;
    return applyFigures({}, same);
}

} // namespace tenon::core
