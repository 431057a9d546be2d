// SPDX-License-Identifier: Apache-2.0
// Takes dimensions apart by their text, which is canonical.
#include "core/tensor/dim_products.h"

#include <charconv>

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

} // namespace

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

std::optional<std::pair<Dim, Dim>> quotientOf(const std::string& symbol)
{
    if (!symbol.starts_with("(") || !symbol.ends_with(")")) return std::nullopt;
    const auto sides = splitOutside(symbol.substr(1, symbol.size() - 2), " // ");
    if (sides.size() != 2) return std::nullopt;
    const auto a = parseDim(sides[0]);
    const auto b = parseDim(sides[1]);
    if (!a || !b) return std::nullopt;
    return std::pair(*a, *b);
}

} // namespace tenon::core
