// SPDX-License-Identifier: Apache-2.0
// Takes dimensions apart by their text, which is canonical.
#include "core/tensor/dim_products.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tenon::core {
namespace {

/// Parts of `text` between the separators that stand outside parentheses.
std::vector<std::string> splitOutside(const std::string& text, const std::string& separator)
{
    std::vector<std::string> parts(1);
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0 && text.compare(i, separator.size(), separator) == 0) {
            parts.emplace_back();
            i += separator.size() - 1;
        } else {
            parts.back() += text[i];
        }
    }
    return parts;
}

/// "3*batch*seq" or "-batch".
DimProduct productOf(std::string text)
{
    DimProduct out;
    if (text.starts_with("-")) {
        out.coefficient = -1;
        text.erase(0, 1);
    }
    for (const std::string& factor : splitOutside(text, "*")) {
        int64_t number = 0;
        const auto [end, failed] =
            std::from_chars(factor.data(), factor.data() + factor.size(), number);
        if (failed == std::errc() && end == factor.data() + factor.size())
            out.coefficient *= number;
        else
            out.symbols.push_back(factor);
    }
    return out;
}

/// Both orders are one symbol.
Dim extremum(const char* word, const Dim& a, const Dim& b)
{
    const std::string x = a.text(), y = b.text();
    return Dim::symbol("(" + std::min(x, y) + " " + word + " " + std::max(x, y) + ")");
}

} // namespace

Dim minimum(const Dim& a, const Dim& b)
{
    // What differs by a number only needs no symbol.
    if (const Dim gap = a - b; gap.isConst()) return gap.value() < 0 ? a : b;
    return extremum("min", a, b);
}

Dim maximum(const Dim& a, const Dim& b)
{
    if (const Dim gap = a - b; gap.isConst()) return gap.value() > 0 ? a : b;
    return extremum("max", a, b);
}

std::vector<DimProduct> productsOf(const Dim& dim)
{
    std::vector<DimProduct> out;
    for (const std::string& positive : splitOutside(dim.text(), " + ")) {
        const std::vector<std::string> parts = splitOutside(positive, " - ");
        for (size_t i = 0; i < parts.size(); ++i) {
            out.push_back(productOf(parts[i]));
            if (i > 0) out.back().coefficient *= -1;
        }
    }
    return out;
}

std::optional<DimOperation> operationOf(const std::string& symbol)
{
    if (!symbol.starts_with("(") || !symbol.ends_with(")")) return std::nullopt;
    const std::string inside = symbol.substr(1, symbol.size() - 2);
    constexpr std::pair<const char*, DimOperation::Kind> kOperations[] = {
        {" // ", DimOperation::FloorDivide},
        {" min ", DimOperation::Minimum},
        {" max ", DimOperation::Maximum}};
    for (const auto& [word, kind] : kOperations) {
        const std::vector<std::string> sides = splitOutside(inside, word);
        if (sides.size() != 2) continue;
        const auto a = parseDim(sides[0]);
        const auto b = parseDim(sides[1]);
        if (!a || !b) return std::nullopt;
        return DimOperation{kind, *a, *b};
    }
    return std::nullopt;
}

} // namespace tenon::core
