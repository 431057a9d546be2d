// SPDX-License-Identifier: Apache-2.0
// Ranges of open sizes, and what follows from them.
#include "compiler/frontend/import/fold_dim.h"

#include "core/tensor/dim_products.h"

namespace tenon::compiler {
namespace {

/// The range of sizes that nobody bounded: what fits into memory.
std::optional<DimBounds> rangeOfSize(const Dim& dim, SizeBounds bounds)
{
    for (const DimProduct& product : productsOf(dim))
        for (const std::string& symbol : product.symbols)
            if (!operationOf(symbol)) bounds.emplace(symbol, DimBounds{0, int64_t{1} << 40});
    return rangeOf(dim, bounds);
}

/// 1 or 0 where it is certain whether two sizes are equal.
std::optional<Dim> areEqual(const Dim& a, const Dim& b, const SizeBounds& bounds)
{
    const Dim gap = a - b;
    if (gap.isConst()) return Dim(gap.value() == 0);
    const auto range = rangeOfSize(gap, bounds);
    if (range && (range->low > 0 || range->high < 0)) return Dim(0);
    return std::nullopt;
}

} // namespace

std::optional<Dim> foldedDim(std::string_view op, const Dim& a, const Dim& b,
                             const SizeBounds& bounds)
{
    if (op == "add") return a + b;
    if (op == "subtract") return a - b;
    if (op == "multiply") return a * b;
    if (op == "equal") return areEqual(a, b, bounds);
    if (op == "minimum" || op == "maximum") {
        const auto gap = rangeOf(a - b, bounds);
        const bool wantsSmaller = op == "minimum";
        if (gap && gap->high <= 0) return wantsSmaller ? a : b;
        if (gap && gap->low >= 0) return wantsSmaller ? b : a;
        return wantsSmaller ? minimum(a, b) : maximum(a, b);
    }
    // Where both are known to be positive, truncating and flooring are the same.
    const auto range = rangeOfSize(a, bounds), divisor = rangeOfSize(b, bounds);
    const bool isPlain = range && divisor && range->low >= 0 && divisor->low >= 0;
    if (!isPlain || b == Dim(0)) return std::nullopt;
    if (op == "divide") return floorDiv(a, b);
    if (op != "floor_mod") return std::nullopt;
    return a - b * floorDiv(a, b);
}

} // namespace tenon::compiler
