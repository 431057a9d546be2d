// SPDX-License-Identifier: Apache-2.0
// The facts of a board in plain words, with what to do about them.
#include "core/base/text.h"
#include "remote/board/board_facts.h"
#include "remote/board/processor.h"

namespace tenon::remote {

namespace {

constexpr double kHotC = 75;
constexpr int64_t kLowRam = int64_t{64} << 20;
constexpr int64_t kLowDisk = int64_t{16} << 20;

std::string bytes(int64_t count) { return core::bytesText(static_cast<uint64_t>(count)); }

Check processorCheck(const BoardFacts& facts)
{
    if (facts.machine.empty()) return {Verdict::Doubtful, "processor", "not told", ""};
    Check check{Verdict::Good, "processor", "", ""};
    check.outcome = facts.cpuText.empty() ? facts.machine : facts.cpuText;
    if (facts.cores > 0) check.outcome += ", " + std::to_string(facts.cores) + " cores";
    std::vector<std::string> known;
    for (const FeatureName& feature : notableFeatures(facts.machine))
        if (facts.hasFeature(feature.kernel)) known.emplace_back(feature.llvm);
    if (!known.empty()) check.outcome += ", " + core::join(known, " ");
    if (tripleOf(facts.machine, facts.isHardFloat).empty()) {
        check.verdict = Verdict::Bad;
        check.advice = "Tenon has no code generator for this machine";
    }
    return check;
}

/// Only where it is news: a control group, a set of CPUs, or a board that says nonsense.
std::vector<Check> coresChecks(const BoardFacts& facts)
{
    const unsigned usable = facts.usableCores();
    if (facts.cores <= usable) return {};
    return {{Verdict::Doubtful, "cores",
             std::to_string(usable) + " of " + std::to_string(facts.cores) + " may be used",
             "models run on no more threads, unless --threads asks for more"}};
}

Check memoryCheck(const BoardFacts& facts)
{
    if (facts.freeRamBytes < 0) return {Verdict::Doubtful, "memory", "not told", ""};
    Check check{Verdict::Good, "memory",
                bytes(facts.freeRamBytes) + " free of " + bytes(facts.ramBytes), ""};
    if (facts.freeRamBytes < kLowRam) {
        check.verdict = Verdict::Doubtful;
        check.advice = "end other programs on the board";
    }
    return check;
}

Check diskCheck(const BoardFacts& facts)
{
    if (facts.freeDiskBytes < 0) return {Verdict::Doubtful, "disk", "not told", ""};
    Check check{Verdict::Good, "disk", bytes(facts.freeDiskBytes) + " free", ""};
    if (facts.freeDiskBytes < kLowDisk) {
        check.verdict = Verdict::Doubtful;
        check.advice = "free some space; a model needs the size of its library twice for a moment";
    }
    return check;
}

Check clockCheck(const BoardFacts& facts)
{
    if (facts.governor.empty()) return {Verdict::Doubtful, "clock", "governor not told", ""};
    Check check{Verdict::Good, "clock", "governor " + facts.governor, ""};
    if (facts.clockMhz > 0) check.outcome += ", " + core::fixed(facts.clockMhz, 0) + " MHz now";
    if (facts.governor != "performance") {
        check.verdict = Verdict::Doubtful;
        check.advice = "for steady times set the governor `performance`";
    }
    return check;
}

Check temperatureCheck(const BoardFacts& facts)
{
    if (facts.temperatureC < 0) return {Verdict::Doubtful, "temperature", "not told", ""};
    Check check{Verdict::Good, "temperature", core::fixed(facts.temperatureC, 1) + " degrees C",
                ""};
    if (facts.temperatureC >= kHotC) {
        check.verdict = Verdict::Doubtful;
        check.advice = "let it cool: a hot processor slows itself down";
    }
    return check;
}

Check loadCheck(const BoardFacts& facts)
{
    if (facts.load < 0) return {Verdict::Doubtful, "load", "not told", ""};
    Check check{Verdict::Good, "load", core::fixed(facts.load, 2), ""};
    if (facts.load > 0.5 * std::max(1u, facts.cores)) {
        check.verdict = Verdict::Doubtful;
        check.advice = "other programs keep the board busy; times will be too long";
    }
    return check;
}

Check sandboxCheck(const BoardFacts& facts)
{
    Check check{Verdict::Good, "sandbox", "sessions are confined by " + facts.sandbox, ""};
    if (facts.sandbox == "none")
        check = {
            Verdict::Doubtful, "sandbox", "none: models have all rights of the server's user",
            "deploy models that you trust; a kernel with seccomp and Landlock confines others"};
    return check;
}

/// A board without an operating system has nothing that could be busy, hot or full.
std::vector<Check> microChecklist(const BoardFacts& facts)
{
    const auto budget = [](const char* subject, int64_t given) {
        if (given > 0) return Check{Verdict::Good, subject, bytes(given), ""};
        return Check{Verdict::Doubtful, subject, "not told",
                     "whether a model fits is seen when it is linked"};
    };
    std::vector<Check> out{
        {Verdict::Good, "system", facts.kernel + ", reached by " + facts.libc, ""},
        {Verdict::Good, "processor", facts.cpuText, ""},
        budget("flash", facts.flashBytes),
        budget("memory", facts.ramBytes)};
    if (!facts.settings.empty()) out.push_back({Verdict::Good, "settings", facts.settings, ""});
    if (!facts.answer.empty())
        out.push_back({Verdict::Doubtful, "server", facts.answer,
                       "a deployment brings it, if the board's flash command works"});
    return out;
}

} // namespace

std::vector<Check> probeChecklist(const BoardFacts& facts)
{
    if (facts.hasNoSystem()) return microChecklist(facts);
    std::vector<Check> out{{Verdict::Good, "system", facts.kernel, ""}};
    if (!facts.libc.empty()) out[0].outcome += ", " + facts.libc;
    out.push_back(processorCheck(facts));
    for (Check& check : coresChecks(facts)) out.push_back(std::move(check));
    out.push_back(memoryCheck(facts));
    out.push_back(diskCheck(facts));
    out.push_back(clockCheck(facts));
    out.push_back(temperatureCheck(facts));
    out.push_back(loadCheck(facts));
    if (!facts.sandbox.empty()) out.push_back(sandboxCheck(facts));
    return out;
}

} // namespace tenon::remote
