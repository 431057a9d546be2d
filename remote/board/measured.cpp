// SPDX-License-Identifier: Apache-2.0
// Reading the figures that a board's server measured, and writing them into a target.
#include "remote/board/measured.h"

#include "compiler/driver/machine_facts.h"
#include "core/base/text.h"
#include "core/target/machine_option.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

constexpr std::string_view kOption = "-machine=";

/// Sizes as they are; of rates three digits, for the rest is noise.
double withoutNoise(std::string_view name, double value)
{
    if (name.ends_with("_bytes")) return value;
    char text[64];
    std::snprintf(text, sizeof text, "%.3g", value);
    double out = value;
    std::from_chars(text, text + std::char_traits<char>::length(text), out);
    return out;
}

bool isMachine(const std::string& word) { return word.starts_with(kOption); }

} // namespace

Result<Measured> parseMeasured(std::string_view text)
{
    const std::vector<std::string> known = core::measurableFigures();
    Measured out;
    bool hasRead = false;
    for (const std::string& line : core::split(text, '\n')) {
        const size_t blank = line.find(' ');
        if (blank == std::string::npos) continue;
        const std::string name = line.substr(0, blank);
        double value = 0;
        const char* end = line.data() + line.size();
        if (std::from_chars(line.data() + blank + 1, end, value).ec != std::errc()) continue;
        hasRead = true;
        if (name == "clock_ghz") out.clockGhz = value;
        if (std::find(known.begin(), known.end(), name) != known.end())
            out.figures.emplace_back(name, withoutNoise(name, value));
    }
    if (!hasRead)
        return makeError(DiagnosticCode::BoardFailure,
                         "the board's server measured nothing that can be read");
    return out;
}

std::string figuresOf(const std::string& target)
{
    for (const std::string& word : core::split(target, ' ')) {
        if (!isMachine(word)) continue;
        std::vector<std::string> figures;
        for (const std::string& part : core::split(word.substr(kOption.size()), ','))
            if (part.find('=') != std::string::npos) figures.push_back(part);
        return core::join(figures, ",");
    }
    return {};
}

Result<std::string> withFigures(const std::string& target, const std::string& figures)
{
    std::string text = target;
    if (target.find(' ') == std::string::npos || target.starts_with('{')) {
        const auto parsed = core::parseTarget(target); // a tag or JSON takes no further option
        if (!parsed) return parsed.error();
        text = parsed->text();
    }
    std::vector<std::string> words, parts;
    for (const std::string& word : core::split(text, ' ')) {
        if (!isMachine(word)) {
            words.push_back(word);
            continue;
        }
        for (const std::string& part : core::split(word.substr(kOption.size()), ','))
            if (part.find('=') == std::string::npos) parts.push_back(part); // the name of a row
    }
    if (!figures.empty()) parts.push_back(figures);
    if (!parts.empty()) words.push_back(std::string(kOption) + core::join(parts, ","));
    return core::join(words, " ");
}

Result<std::string> measuredTarget(const std::string& target, const Measured& measured)
{
    if (const auto fine = compiler::checkFigures(target, measured.figures); !fine)
        return fine.error();
    return withFigures(target, core::machineText(measured.figures));
}

} // namespace tenon::remote
