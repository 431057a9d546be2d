// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic on dimensions.
#include "core/tensor/dim_bounds.h"

#include "core/base/text.h"
#include "core/tensor/dim_products.h"

#include <algorithm>
#include <charconv>

namespace tenon::core {
namespace {

using Range = std::optional<DimBounds>;

std::optional<int64_t> numberIn(std::string_view text)
{
    int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

Range sumOf(const DimBounds& a, const DimBounds& b)
{
    DimBounds out;
    if (__builtin_add_overflow(a.low, b.low, &out.low) ||
        __builtin_add_overflow(a.high, b.high, &out.high))
        return std::nullopt;
    return out;
}

Range productOf(const DimBounds& a, const DimBounds& b)
{
    int64_t corners[4];
    if (__builtin_mul_overflow(a.low, b.low, &corners[0]) ||
        __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
        __builtin_mul_overflow(a.high, b.low, &corners[2]) ||
        __builtin_mul_overflow(a.high, b.high, &corners[3]))
        return std::nullopt;
    const auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
    return DimBounds{*least, *most};
}

int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/// By positive divisors only; others have no range.
Range quotientOf(const DimBounds& a, const DimBounds& b)
{
    if (b.low < 1) return std::nullopt;
    const int64_t corners[] = {floorQuotient(a.low, b.low), floorQuotient(a.low, b.high),
                               floorQuotient(a.high, b.low), floorQuotient(a.high, b.high)};
    const auto [least, most] = std::minmax_element(std::begin(corners), std::end(corners));
    return DimBounds{*least, *most};
}

Range rangeOfSymbol(const std::string& symbol, const SizeBounds& bounds)
{
    if (const auto known = bounds.find(symbol); known != bounds.end()) return known->second;
    const auto operation = operationOf(symbol);
    if (!operation) return std::nullopt;
    const Range a = rangeOf(operation->a, bounds);
    const Range b = rangeOf(operation->b, bounds);
    if (!a || !b) return std::nullopt;
    switch (operation->kind) {
    case DimOperation::Minimum:
        return DimBounds{std::min(a->low, b->low), std::min(a->high, b->high)};
    case DimOperation::Maximum:
        return DimBounds{std::max(a->low, b->low), std::max(a->high, b->high)};
    default: return quotientOf(*a, *b);
    }
}

} // namespace

std::string boundsText(const DimBounds& bounds)
{
    const std::string low = std::to_string(bounds.low);
    return bounds.isOne() ? low : low + ".." + std::to_string(bounds.high);
}

std::optional<DimBounds> parseBounds(std::string_view text)
{
    const size_t dots = text.find("..");
    const auto low = numberIn(trimmed(text.substr(0, dots)));
    if (!low || dots == std::string_view::npos)
        return low ? std::optional(DimBounds{*low, *low}) : std::nullopt;
    const auto high = numberIn(trimmed(text.substr(dots + 2)));
    if (!high || *high < *low) return std::nullopt;
    return DimBounds{*low, *high};
}

std::optional<DimBounds> rangeOf(const Dim& dim, const SizeBounds& bounds)
{
    Range sum = DimBounds{};
    for (const DimProduct& product : productsOf(dim)) {
        Range value = DimBounds{product.coefficient, product.coefficient};
        for (const std::string& symbol : product.symbols) {
            const Range factor = rangeOfSymbol(symbol, bounds);
            if (!factor || !value) return std::nullopt;
            value = productOf(*value, *factor);
        }
        if (!value || !sum) return std::nullopt;
        sum = sumOf(*sum, *value);
    }
    return sum;
}

std::optional<int64_t> mostElements(const Shape& shape, const SizeBounds& bounds)
{
    int64_t count = 1;
    for (const Dim& dim : shape) {
        const Range range = rangeOf(dim, bounds);
        if (!range || __builtin_mul_overflow(count, std::max<int64_t>(range->high, 0), &count))
            return std::nullopt;
    }
    return count;
}

Dim product(const Shape& shape)
{
    Dim out(1);
    for (const Dim& dim : shape) out = out * dim;
    return out;
}

int64_t factorOf(const Dim& dim)
{
    std::map<std::string, int64_t> ones;
    for (const std::string& symbol : dim.symbols()) ones[symbol] = 1;
    return dim.bind(ones).constant().value_or(0);
}

} // namespace tenon::core
