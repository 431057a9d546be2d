// SPDX-License-Identifier: Apache-2.0
// Each directive becomes one regular expression that is searched line by line.
#include "tests/support/check.h"

#include "core/base/text.h"

#include <map>
#include <optional>
#include <regex>
#include <vector>

namespace tenon::test {
namespace {

enum class Kind
{
    Plain,
    Next,
    Same,
    Not
};

struct Directive
{
    Kind kind;
    std::string pattern;
    size_t line; ///< 1-based line in the directive text
};

struct Position
{
    size_t line = 0;
    size_t column = 0;
};

using Captures = std::map<std::string, std::string>;

std::vector<Directive> readDirectives(std::string_view text)
{
    static constexpr std::pair<std::string_view, Kind> kSpellings[] = {
        {"CHECK:", Kind::Plain},
        {"CHECK-NEXT:", Kind::Next},
        {"CHECK-SAME:", Kind::Same},
        {"CHECK-NOT:", Kind::Not},
    };
    std::vector<Directive> directives;
    const std::vector<std::string> lines = core::split(text, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
        for (const auto& [spelling, kind] : kSpellings) {
            const size_t at = lines[i].find(spelling);
            if (at == std::string::npos) continue;
            const std::string_view rest = std::string_view(lines[i]).substr(at + spelling.size());
            directives.push_back({kind, std::string(core::trimmed(rest)), i + 1});
            break;
        }
    }
    return directives;
}

std::string escaped(std::string_view literal)
{
    static constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
    std::string out;
    for (size_t i = 0; i < literal.size(); ++i) {
        const char c = literal[i];
        if (c == ' ' || c == '\t') {
            if (out.empty() || !out.ends_with("[ \\t]+")) out += "[ \\t]+";
            continue;
        }
        if (kSpecial.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

size_t groupCount(std::string_view regex)
{
    size_t count = 0;
    for (size_t i = 0; i < regex.size(); ++i) {
        if (regex[i] == '\\')
            ++i;
        else if (regex[i] == '(' && !regex.substr(i).starts_with("(?"))
            ++count;
    }
    return count;
}

/// A pattern with known captures filled in, and which group defines which new name.
struct Compiled
{
    std::regex regex;
    std::vector<std::pair<std::string, size_t>> defines;
};

Compiled compilePattern(const std::string& pattern, const Captures& captures)
{
    std::string source;
    std::vector<std::pair<std::string, size_t>> defines;
    size_t groups = 0;
    size_t at = 0;
    while (at < pattern.size()) {
        size_t open = pattern.find("[[", at);
        while (open != std::string::npos && pattern.substr(open + 2, 1) == "[") ++open;
        size_t close = open == std::string::npos ? std::string::npos : pattern.find("]]", open);
        if (close == std::string::npos) break;
        const bool isDefinition = pattern.find(':', open) < close;
        while (isDefinition && pattern.substr(close + 2, 1) == "]") ++close; // regex ends in "]"
        source += escaped(std::string_view(pattern).substr(at, open - at));
        const std::string body = pattern.substr(open + 2, close - open - 2);
        const size_t colon = body.find(':');
        if (colon == std::string::npos) {
            const auto known = captures.find(body);
            source += known == captures.end() ? "(?!)" : escaped(known->second);
        } else {
            const std::string regex = body.substr(colon + 1);
            defines.emplace_back(body.substr(0, colon), groups + 1);
            groups += 1 + groupCount(regex);
            source += "(" + regex + ")";
        }
        at = close + 2;
    }
    source += escaped(std::string_view(pattern).substr(at));
    return {std::regex(source, std::regex::ECMAScript), std::move(defines)};
}

/// Searches lines [from.line, endLine); returns where the match ends and records captures.
struct Found
{
    Position start;
    Position end;
};

std::optional<Found> findPattern(const std::vector<std::string>& lines, Position from,
                                 size_t endLine, const Compiled& compiled, Captures& captures)
{
    for (size_t i = from.line; i < endLine && i < lines.size(); ++i) {
        const size_t column = i == from.line ? from.column : 0;
        const auto first = lines[i].cbegin() + static_cast<std::ptrdiff_t>(column);
        std::smatch match;
        if (!std::regex_search(first, lines[i].cend(), match, compiled.regex)) continue;
        for (const auto& [name, group] : compiled.defines) captures[name] = match[group].str();
        const size_t begin = column + static_cast<size_t>(match.position(0));
        return Found{{i, begin}, {i, begin + static_cast<size_t>(match.length(0))}};
    }
    return std::nullopt;
}

bool isBefore(const Position& a, const Position& b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

std::string describe(const Directive& directive, const std::string& what,
                     const std::vector<std::string>& lines, Position at)
{
    static constexpr const char* kNames[] = {"CHECK", "CHECK-NEXT", "CHECK-SAME", "CHECK-NOT"};
    std::string text = "line " + std::to_string(directive.line) + ": " +
                       kNames[static_cast<size_t>(directive.kind)] + ": " + directive.pattern +
                       "\n  " + what + "\n  output near line " + std::to_string(at.line + 1) +
                       ":\n";
    for (size_t i = at.line; i < lines.size() && i < at.line + 6; ++i)
        text += "    " + lines[i] + "\n";
    return text;
}

} // namespace

std::string checkFailure(std::string_view output, std::string_view directives)
{
    const std::vector<std::string> lines = core::split(output, '\n');
    const std::vector<Directive> all = readDirectives(directives);
    if (all.empty()) return "no CHECK line found";

    Captures captures;
    Position last;
    std::vector<const Directive*> forbidden;
    const auto firstForbidden = [&](Position until) -> std::string {
        for (const Directive* not_ : forbidden) {
            Captures scratch = captures;
            const auto found = findPattern(lines, last, until.line + 1,
                                           compilePattern(not_->pattern, captures), scratch);
            if (found && isBefore(found->start, until))
                return describe(*not_, "must not occur here", lines, found->start);
        }
        forbidden.clear();
        return "";
    };

    for (const Directive& directive : all) {
        if (directive.kind == Kind::Not) {
            forbidden.push_back(&directive);
            continue;
        }
        Position from = last;
        if (directive.kind == Kind::Next) from = {last.line + 1, 0};
        const size_t endLine = directive.kind == Kind::Plain ? lines.size() : from.line + 1;
        const auto found = findPattern(lines, from, endLine,
                                       compilePattern(directive.pattern, captures), captures);
        if (!found) return describe(directive, "not found", lines, last);
        const std::string failure = firstForbidden(found->start);
        if (!failure.empty()) return failure;
        last = found->end;
    }
    return firstForbidden({lines.size(), 0});
}

} // namespace tenon::test
