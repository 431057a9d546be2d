// SPDX-License-Identifier: Apache-2.0
// From the text of a probe to facts.
#include "remote/board/board_facts.h"

#include "compiler/driver/target_features.h"
#include "core/base/processors.h"
#include "core/base/text.h"
#include "core/target/thread_choice.h"
#include "remote/board/processor.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

using Sections = std::map<std::string, std::string>;

/// Sections begin with a line "== name".
Sections sectionsOf(std::string_view output)
{
    Sections out;
    std::string* current = nullptr;
    for (const std::string& line : core::split(output, '\n')) {
        if (line.starts_with("== "))
            current = &out[std::string(core::trimmed(std::string_view(line).substr(3)))];
        else if (current)
            *current += line + "\n";
    }
    return out;
}

/// The value of the first line `name : value` or `name:value`.
std::string field(const std::string& text, std::string_view name)
{
    for (const std::string& line : core::split(text, '\n')) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        if (core::trimmed(std::string_view(line).substr(0, colon)) == name)
            return std::string(core::trimmed(std::string_view(line).substr(colon + 1)));
    }
    return {};
}

double number(const std::string& text, double fallback = -1)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? fallback : value;
}

unsigned processors(const std::string& cpuinfo)
{
    unsigned count = 0;
    for (const std::string& line : core::split(cpuinfo, '\n'))
        count += core::trimmed(line.substr(0, line.find(':'))) == "processor";
    return count;
}

/// Free bytes from the last line of `df -Pk`: file system, size, used, available, ...
int64_t freeBytes(const std::string& df)
{
    const std::vector<std::string> lines = core::split(core::trimmed(df), '\n');
    if (lines.size() < 2) return -1;
    std::vector<std::string> words;
    for (const std::string& word : core::split(lines.back(), ' '))
        if (!word.empty()) words.push_back(word);
    return words.size() < 4 ? -1 : static_cast<int64_t>(number(words[3])) * 1024;
}

int64_t kibibytes(const std::string& meminfo, std::string_view name)
{
    const std::string text = field(meminfo, name);
    return text.empty() ? -1 : static_cast<int64_t>(number(text, 0)) * 1024;
}

/// The first line of `ldd --version`, or what an older or other library says.
std::string libcOf(const std::string& text)
{
    const std::string first(core::trimmed(text.substr(0, text.find('\n'))));
    if (first.empty()) return {};
    if (first.find("musl") != std::string::npos) return "musl";
    const size_t blank = first.rfind(' ');
    const bool isGlibc = first.find("GNU") != std::string::npos ||
                         first.find("GLIBC") != std::string::npos ||
                         first.find("glibc") != std::string::npos;
    return isGlibc && blank != std::string::npos ? "glibc " + first.substr(blank + 1) : first;
}

void readProcessor(const std::string& cpuinfo, BoardFacts& facts)
{
    facts.features = hwcapFeatures(facts.machine, cpuinfo);
    const Processor processor = processorOf(facts.machine, cpuinfo);
    facts.cpu = processor.llvmName;
    facts.cpuText = processor.title;
    if (facts.cores == 0) facts.cores = processors(cpuinfo);
    if (const std::string mhz = field(cpuinfo, "cpu MHz"); !mhz.empty())
        facts.clockMhz = number(mhz);
    if (facts.model.empty()) facts.model = field(cpuinfo, "Model");
}

} // namespace

unsigned BoardFacts::usableCores() const
{
    const unsigned count = usable > 0 && (cores == 0 || usable < cores) ? usable : cores;
    return std::min(count, core::kMostThreads);
}

bool BoardFacts::hasFeature(std::string_view name) const
{
    return std::binary_search(features.begin(), features.end(), name);
}

Result<BoardFacts> parseProbe(std::string_view output)
{
    Sections sections = sectionsOf(output);
    const auto line = [&](const char* name) { return std::string(core::trimmed(sections[name])); };
    BoardFacts facts{.machine = line("machine"), .kernel = line("kernel"), .model = line("model")};
    if (facts.machine.empty())
        return makeError(DiagnosticCode::BoardFailure,
                         "the board does not say what it is; its login shell must run `uname`");
    while (!facts.model.empty() && facts.model.back() == '\0') facts.model.pop_back();
    facts.cores = static_cast<unsigned>(std::max(0.0, number(line("cores"), 0)));
    readProcessor(sections["cpuinfo"], facts);
    facts.usable = core::cpusInList(sections["allowed"]);
    if (const unsigned share = core::cpusOfQuotas(sections["quota"]); share > 0)
        facts.usable = facts.usable > 0 ? std::min(facts.usable, share) : share;
    facts.libc = libcOf(sections["libc"]);
    facts.ramBytes = std::max<int64_t>(0, kibibytes(sections["meminfo"], "MemTotal"));
    facts.freeRamBytes = kibibytes(sections["meminfo"], "MemAvailable");
    facts.freeDiskBytes = freeBytes(sections["disk"]);
    facts.governor = line("governor");
    if (const double kHz = number(line("frequency")); kHz > 0) facts.clockMhz = kHz / 1000;
    if (const double milli = number(line("temperature")); milli > -1)
        facts.temperatureC = milli / 1e3;
    facts.load = number(line("load"));
    facts.sandbox = line("sandbox");
    facts.isHardFloat = line("hardfloat") != "no";
    return facts;
}

Result<std::string> proposedTarget(const BoardFacts& facts)
{
    if (!facts.target.empty()) return facts.target;
    if (facts.machine.empty())
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "the board's server does not say what it runs on; add the board with "
                         "--target or --profile");
    const std::string triple = tripleOf(facts.machine, facts.isHardFloat);
    if (triple.empty())
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "there is no code generator for a board of machine " +
                             core::quoted(facts.machine));
    std::string target = "llvm -mtriple=" + triple;
    const std::string named = target + " -mcpu=" + facts.cpu;
    std::vector<std::string> implied;
    if (!facts.cpu.empty())
        if (auto features = compiler::targetFeatures(named)) {
            implied = std::move(*features);
            target = named;
        }
    const std::vector<std::string> extra = featureOptions(facts, implied);
    if (!extra.empty()) target += " -mattr=" + core::join(extra, ",");
    if (const unsigned cores = facts.usableCores(); cores > 0)
        target += " -num-cores=" + std::to_string(cores);
    return target;
}

std::string summaryLine(const BoardFacts& facts)
{
    if (facts.machine.empty()) return "a server that does not say what it runs on";
    std::vector<std::string> parts;
    if (!facts.model.empty()) parts.push_back(facts.model);
    parts.push_back(facts.cpuText.empty() ? facts.machine : facts.cpuText);
    if (facts.cores > 0)
        parts.push_back(std::to_string(facts.cores) + (facts.cores == 1 ? " core" : " cores"));
    if (facts.ramBytes > 0) parts.push_back(core::bytesText(static_cast<uint64_t>(facts.ramBytes)));
    return core::join(parts, ", ");
}

} // namespace tenon::remote
