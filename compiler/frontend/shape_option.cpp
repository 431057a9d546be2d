// SPDX-License-Identifier: Apache-2.0
// Parses "x=1,3,224,224" and "batch=1..8": numbers bind a size, ranges bound it.
#include "compiler/frontend/shape_option.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

Status readShapeOption(const std::string& entry, ImportOptions& options)
{
    const auto bad = [&] {
        return makeError(DiagnosticCode::BadArgument,
                         quoted(entry) + " is no binding; write NAME=1,3,224,224 or DIM=8, or "
                                         "DIM=1..8 for a size that stays dynamic");
    };
    const size_t equals = entry.rfind('=');
    if (equals == std::string::npos || equals == 0) return bad();
    std::vector<DimBounds> bounds;
    for (const std::string& part : split(std::string_view(entry).substr(equals + 1), ',')) {
        const auto one = parseBounds(trimmed(part));
        if (!one) return bad();
        bounds.push_back(*one);
    }
    const std::string name = entry.substr(0, equals);
    if (std::any_of(bounds.begin(), bounds.end(), [](const DimBounds& b) { return !b.isOne(); })) {
        options.bounds[name] = std::move(bounds);
        return kDone;
    }
    std::vector<int64_t>& shape = options.shapes[name];
    shape.clear();
    for (const DimBounds& one : bounds) shape.push_back(one.low);
    return kDone;
}

namespace {

/// Without the blanks beside commas and equals signs, so that the others separate entries.
std::string joined(std::string_view line)
{
    std::string out;
    for (const char c : line) {
        const bool isGlue = c == ',' || c == '=';
        while (isGlue && !out.empty() && out.back() == ' ') out.pop_back();
        const bool isBlank = c == ' ' || c == '\t';
        if (!isBlank)
            out += c;
        else if (!out.empty() && out.back() != ',' && out.back() != '=')
            out += ' ';
    }
    while (!out.empty() && std::string_view(" ,;").find(out.back()) != std::string_view::npos)
        out.pop_back();
    return out;
}

} // namespace

Status readShapeOptions(std::string_view line, ImportOptions& options)
{
    std::vector<std::string> entries;
    bool isContinued = false; // after a comma: another size of the entry, unless it names one
    std::string entry;
    for (const char c : joined(line) + ' ') {
        if (c != ' ' && c != ';' && c != ',') {
            entry += c;
            continue;
        }
        if (isContinued && entry.find('=') == std::string::npos)
            entries.back() += ',' + entry;
        else if (!entry.empty())
            entries.push_back(entry);
        isContinued = c == ',' && !entries.empty();
        entry.clear();
    }
    for (const std::string& one : entries)
        if (Status read = readShapeOption(one, options); !read) return read;
    return kDone;
}

} // namespace tenon::compiler
