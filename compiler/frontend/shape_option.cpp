// SPDX-License-Identifier: Apache-2.0
// Parses "x=1,3,224,224", "x=1x3x224x224" and "batch=1..8": numbers bind a size, ranges bound it.
#include "compiler/frontend/shape_option.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

namespace {

Diagnostic noBinding(const std::string& entry)
{
    return makeError(DiagnosticCode::BadArgument,
                     quoted(entry) + " is no binding; write NAME=1,3,224,224 or DIM=8, or "
                                     "DIM=1..8 for a size that stays dynamic");
}

Status readEntry(const std::string& entry, ImportOptions& options)
{
    const size_t equals = entry.rfind('=');
    if (equals == std::string::npos || equals == 0) return noBinding(entry);
    std::string sizes = entry.substr(equals + 1);
    std::replace(sizes.begin(), sizes.end(), 'x', ','); // 1x3x224x224, as many tools print them
    std::vector<DimBounds> bounds;
    for (const std::string& part : split(sizes, ',')) {
        const auto one = parseBounds(trimmed(part));
        if (!one) return noBinding(entry);
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

/// The entries of a line. After a comma comes another size of the entry, unless it is none and
/// begins a name: names may hold blanks and commas.
class Entries
{
public:
    void add(char before, const std::string& piece)
    {
        if (before == ';') endName();
        if (piece.empty() && before != ',') return;
        const bool isSize = piece.empty() || parseBounds(piece);
        if (piece.find('=') != std::string::npos) {
            m_all.push_back(m_name.empty() ? piece : m_name + before + piece);
            m_name.clear();
        } else if (before == ',' && m_name.empty() && !m_all.empty() && isSize) {
            m_all.back() += ',' + piece;
        } else {
            if (m_name.empty()) m_isContinued = before == ',' && !m_all.empty();
            m_name += m_name.empty() ? piece : before + piece;
        }
    }
    std::vector<std::string> all()
    {
        endName();
        return std::move(m_all);
    }

private:
    /// A name without an entry is none, or a wrong size of the entry before it.
    void endName()
    {
        if (m_name.empty()) return;
        if (m_isContinued)
            m_all.back() += ',' + m_name;
        else
            m_all.push_back(m_name);
        m_name.clear();
    }

    std::vector<std::string> m_all;
    std::string m_name; ///< pieces that may begin the name of the next entry
    bool m_isContinued = false;
};

} // namespace

Status readShapeOptions(std::string_view line, ImportOptions& options)
{
    Entries entries;
    std::string piece;
    char before = ';';
    for (const char c : joined(line) + ';') {
        if (c != ' ' && c != ';' && c != ',') {
            piece += c;
            continue;
        }
        entries.add(before, piece);
        piece.clear();
        before = c;
    }
    for (const std::string& one : entries.all())
        if (Status read = readEntry(one, options); !read) return read;
    return kDone;
}

} // namespace tenon::compiler
