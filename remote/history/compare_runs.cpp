// SPDX-License-Identifier: Apache-2.0
// Conditions are read from the JSON that the records keep.
#include "remote/history/compare_runs.h"

#include "core/base/text.h"
#include "core/target/micro_core.h"
#include "remote/measure/statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::remote {

namespace {

using Json = nlohmann::json;

constexpr double kHotC = 75;
constexpr double kClockShare = 0.05;
/// Of the cores: what other work may differ by before it shows in times.
constexpr double kLoadShare = 0.25;

/// -1 and empty text where the record does not tell.
struct Conditions
{
    bool isTold = false;
    std::string cpu;
    std::string governor;
    double load = -1;
    double clockMhz = -1;
    double temperatureC = -1;
    double cores = 1;
    bool isPinned = false;
    bool isInterrupted = false;
    std::string settings;
};

Conditions conditionsOf(const RunRecord& record)
{
    Conditions out;
    const Json said = Json::parse(record.hygiene, nullptr, false);
    if (!said.is_object()) return out;
    try {
        out.cpu = said.value("cpu", "");
        out.governor = said.value("governor", "");
        out.load = said.value("load", -1.0);
        out.clockMhz = said.value("clock_mhz", -1.0);
        out.temperatureC = said.value("temperature_c", -1.0);
        out.cores = std::max(1.0, said.value("cores", 1.0));
        out.isPinned = said.value("pinned", false);
        out.settings = said.value("settings", "");
        const auto switches = said.value("involuntary_switches", int64_t{-1});
        out.isInterrupted = switches > static_cast<int64_t>(record.runsMs.size());
    } catch (const Json::exception&) {
        return {}; // somebody else's JSON
    }
    out.isTold = out.load >= 0 || !out.settings.empty(); // nothing else runs on a microcontroller
    return out;
}

std::string changed(const std::string& what, double before, double now, int digits)
{
    return what + ": " + core::fixed(before, digits) + ", now " + core::fixed(now, digits);
}

/// Another state of the machine, in words; empty: the same as far as it is told.
std::string otherState(const Conditions& now, const Conditions& before)
{
    if (!now.isTold || !before.isTold) return "conditions not known";
    if (now.cpu != before.cpu) return "another processor";
    if (now.governor != before.governor)
        return "other governor: " + before.governor + ", now " + now.governor;
    const bool hasClocks = now.clockMhz > 0 && before.clockMhz > 0;
    if (hasClocks && std::abs(now.clockMhz / before.clockMhz - 1) > kClockShare)
        return changed("other clock in MHz", before.clockMhz, now.clockMhz, 0);
    if (std::max(now.temperatureC, before.temperatureC) >= kHotC)
        return changed("hot, degrees C", before.temperatureC, now.temperatureC, 0);
    const double most = kLoadShare * std::max(now.cores, before.cores);
    if (std::abs(now.load - before.load) > most)
        return changed("other load", before.load, now.load, 1);
    if (now.isPinned != before.isPinned) return "not tied to CPUs alike";
    if (now.isInterrupted || before.isInterrupted) return "other work interrupted";
    return {};
}

/// What `from` says and `other` does not.
std::string alone(const std::string& from, const std::string& other)
{
    const std::vector<std::string> rest = core::split(other, ',');
    std::vector<std::string> out;
    for (const std::string& word : core::split(from, ','))
        if (std::none_of(rest.begin(), rest.end(), [&](const std::string& each) {
                return core::trimmed(each) == core::trimmed(word);
            }))
            out.emplace_back(core::trimmed(word));
    return core::join(out, ", ");
}

/// "at 25 MHz, now 50 MHz"; empty where both ran alike.
std::string otherSettings(const RunRecord& now, const RunRecord& before)
{
    const std::string ours = conditionsOf(now).settings, theirs = conditionsOf(before).settings;
    if (ours.empty() || theirs.empty() || ours == theirs) return {};
    return "at " + alone(theirs, ours) + ", now " + alone(ours, theirs);
}

/// Why the two say nothing about one another whatever the times are.
std::string noVerdict(const RunRecord& now, const RunRecord& before)
{
    if (now.board != before.board) return "another board";
    if (countsInstructions(now) && countsInstructions(before)) return {};
    if (isEmulated(now)) return "emulated: no verdict";
    if (now.target != before.target) return "another target";
    if (now.threads != before.threads) return "other threads";
    return otherState(conditionsOf(now), conditionsOf(before));
}

} // namespace

bool isEmulated(const RunRecord& record) { return record.board.ends_with(" (emulated)"); }

bool countsInstructions(const RunRecord& record)
{
    if (!isEmulated(record)) return false;
    const auto target = core::parseTarget(record.target);
    return target && core::microCoreOf(*target) != nullptr;
}

RunComparison compareRuns(const RunRecord& now, const RunRecord& before)
{
    if (const std::string reason = noVerdict(now, before); !reason.empty()) return {0, reason};
    const Summary ours = summarize(now.runsMs), theirs = summarize(before.runsMs);
    if (countsInstructions(now)) {
        if (ours.median == theirs.median) return {0, "as many instructions"};
        return {ours.median / theirs.median, {}, {}};
    }
    if (!ours.hasInterval() || !theirs.hasInterval()) return {0, "too few samples"};
    if (ours.ci95Low <= theirs.ci95High && theirs.ci95Low <= ours.ci95High)
        return {0, "no difference shown"};
    const std::string settings = otherSettings(now, before);
    if (settings.empty() && !now.artifact.empty() && now.artifact == before.artifact)
        return {0, "the same build: something else changed"};
    return {ours.median / theirs.median, {}, settings};
}

} // namespace tenon::remote
