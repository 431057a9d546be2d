// SPDX-License-Identifier: Apache-2.0
// Quotients of dimensions, written so that what is equal for every size has one text: the halves of
// halves that strides make, and those that another layer rounds in another place.
#include "core/tensor/dim_products.h"

#include <numeric>

namespace tenon::core {
namespace {

/// Beyond them sums and products are left alone.
constexpr int64_t kLargest = int64_t{1} << 40;

int64_t floorQuotient(int64_t a, int64_t b)
{
    return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/// The quotient inside, where `dim` is nothing but one by a positive number.
std::optional<DimOperation> quotientIn(const Dim& dim, const std::string& symbol)
{
    if (!(dim == Dim::symbol(symbol))) return std::nullopt;
    auto operation = operationOf(symbol);
    const bool isQuotient = operation && operation->kind == DimOperation::FloorDivide &&
                            operation->b.isConst() && operation->b.value() > 0 &&
                            operation->b.value() < kLargest;
    return isQuotient ? operation : std::nullopt;
}

/// A symbol of its own.
Dim opaqueQuotient(const Dim& a, const Dim& b)
{
    const auto operand = [](const Dim& dim) {
        return productsOf(dim).size() > 1 ? "(" + dim.text() + ")" : dim.text();
    };
    return Dim::symbol("(" + operand(a) + " // " + operand(b) + ")");
}

/// Without the coefficient.
Dim symbolsOf(const DimProduct& product)
{
    Dim out(1);
    for (const std::string& symbol : product.symbols) out = out * Dim::symbol(symbol);
    return out;
}

/// Multiples of the divisor come out, then what all that is left has in common with it, then a
/// quotient inside joins it: (x // c + k) // d is (x + k*c) // (c*d).
Dim quotientBy(const Dim& a, int64_t divisor)
{
    Dim whole(0), rest(0);
    int64_t constant = 0, common = divisor;
    for (const DimProduct& product : productsOf(a)) {
        if (product.symbols.empty()) {
            constant = product.coefficient;
        } else if (product.coefficient % divisor == 0) {
            whole = whole + Dim(product.coefficient / divisor) * symbolsOf(product);
        } else {
            rest = rest + Dim(product.coefficient) * symbolsOf(product);
            common = std::gcd(common, product.coefficient);
        }
    }
    whole = whole + Dim(floorQuotient(constant, divisor));
    if (rest == Dim(0)) return whole;
    constant = (constant - floorQuotient(constant, divisor) * divisor) / common;
    Dim variable(0);
    for (const DimProduct& product : productsOf(rest))
        variable = variable + Dim(product.coefficient / common) * symbolsOf(product);
    divisor /= common;
    const auto inside = quotientIn(variable, variable.text());
    if (inside && divisor < kLargest / inside->b.value())
        return whole + floorDiv(inside->a + Dim(constant) * inside->b, Dim(divisor) * inside->b);
    return whole + opaqueQuotient(variable + Dim(constant), Dim(divisor));
}

bool isSmall(const Dim& dim)
{
    for (const DimProduct& product : productsOf(dim))
        if (product.coefficient <= -kLargest || product.coefficient >= kLargest) return false;
    return true;
}

} // namespace

Dim floorDiv(const Dim& a, const Dim& b)
{
    CHECK(!(b == Dim(0))) << "division of " << a.text() << " by zero";
    if (a.isConst() && b.isConst()) return Dim(floorQuotient(a.value(), b.value()));
    if (a == b) return Dim(1);
    if (!b.isConst() || !isSmall(a) || !isSmall(b)) return opaqueQuotient(a, b);
    return b.value() > 0 ? quotientBy(a, b.value()) : quotientBy(Dim(-1) * a, -b.value());
}

} // namespace tenon::core
