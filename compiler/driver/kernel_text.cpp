// SPDX-License-Identifier: Apache-2.0
// The links are the line table that debuggers see too: nothing is guessed from names.
#include "compiler/driver/kernel_text.h"

#include "core/base/text.h"

#include <charconv>
#include <map>

namespace tenon::compiler {
namespace {

int leadingNumber(std::string_view text)
{
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Second field of "\t.loc\t1 7 0 ...".
int lineOfLoc(std::string_view directive)
{
    const std::vector<std::string> fields =
        split(trimmed(directive.substr(directive.find(".loc") + 4)), ' ');
    return fields.size() > 1 ? leadingNumber(fields[1]) : 0;
}

bool isNoise(std::string_view line)
{
    const std::string_view text = trimmed(line);
    if (text.empty()) return true;
    if (text.starts_with(".L") && text.find(':') != std::string_view::npos)
        return text.starts_with(".Ltmp") || text.starts_with(".Lfunc") ||
               text.starts_with(".Linfo") || text.starts_with(".Ldebug");
    if (text[0] == '#' || text.starts_with("//")) return true;
    if (text[0] != '.') return false;
    for (const char* kept : {".long", ".quad", ".byte", ".short", ".zero", ".word", ".xword"})
        if (text.starts_with(kept)) return false;
    return true;
}

/// "!12 = !DILocation(line: 7, ...": 12 -> 7.
std::map<int, int> locationLines(const std::vector<std::string>& lines)
{
    std::map<int, int> out;
    for (const std::string& line : lines) {
        const size_t at = line.find("!DILocation(line: ");
        if (!line.starts_with("!") || at == std::string::npos) continue;
        out[leadingNumber(std::string_view(line).substr(1))] =
            leadingNumber(std::string_view(line).substr(at + 18));
    }
    return out;
}

} // namespace

std::vector<LinkedLine> linkAssembly(const std::string& assembly)
{
    std::vector<LinkedLine> out;
    int current = 0;
    for (const std::string& line : split(assembly, '\n')) {
        const std::string_view text = trimmed(line);
        if (text.starts_with(".section") && text.find(".debug") != std::string_view::npos)
            break; // only tables follow
        if (text.starts_with(".loc")) {
            current = lineOfLoc(text);
            continue;
        }
        if (isNoise(line)) continue;
        const bool isLabel = text.back() == ':' || line[0] != '\t';
        if (isLabel && !text.starts_with(".L")) current = 0;
        out.push_back({line, isLabel ? 0 : current});
    }
    return out;
}

std::vector<LinkedLine> linkLlvmIr(const std::string& ir)
{
    const std::vector<std::string> lines = split(ir, '\n');
    const std::map<int, int> locations = locationLines(lines);
    std::vector<LinkedLine> out;
    for (const std::string& line : lines) {
        if (line.starts_with("!") || line.starts_with("source_filename")) continue;
        const size_t at = line.find(", !dbg !");
        if (at == std::string::npos) {
            if (!(line.empty() && !out.empty() && out.back().text.empty()))
                out.push_back({line, 0});
            continue;
        }
        const auto found = locations.find(leadingNumber(std::string_view(line).substr(at + 8)));
        out.push_back({line.substr(0, at), found != locations.end() ? found->second : 0});
    }
    return out;
}

Result<std::vector<LinkedLine>> linkedKernelText(const CompileResult& result, size_t kernel,
                                                 KernelText form)
{
    auto text = kernelText(result, kernel, form);
    if (!text) return text.error();
    return form == KernelText::LlvmIr ? linkLlvmIr(*text) : linkAssembly(*text);
}

} // namespace tenon::compiler
