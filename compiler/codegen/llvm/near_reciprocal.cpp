// SPDX-License-Identifier: Apache-2.0
// Quotient and product never fall as x grows, so they round alike everywhere if they do on both
// sides of each x where the rounded quotient grows; what is negative mirrors that.
#include "compiler/codegen/llvm/near_reciprocal.h"

#include <cmath>
#include <limits>

namespace tenon::compiler {
namespace {

/// Divisors whose reciprocals, and products with what rounds to anything but 0, stay normal.
constexpr float kLeast = 0x1p-80F, kMost = 0x1p80F;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float product(float x, const NearReciprocal& by)
{
    return by.low == 0 ? x * by.high : std::fma(x, by.high, x * by.low);
}

/// The first x whose quotient rounds to more than `whole`.
float firstAbove(float divisor, float whole)
{
    const auto isAbove = [&](float x) { return std::nearbyint(x / divisor) > whole; };
    float x = (whole + 0.5F) * divisor;
    while (isAbove(x)) x = std::nextafter(x, 0.0F);
    while (!isAbove(x)) x = std::nextafter(x, kInfinity);
    return x;
}

} // namespace

std::optional<NearReciprocal> nearReciprocal(float divisor, int64_t most)
{
    if (!(divisor >= kLeast && divisor <= kMost)) return std::nullopt;
    const double exact = 1.0 / static_cast<double>(divisor);
    NearReciprocal found{static_cast<float>(exact), 0};
    if (static_cast<double>(found.high) > exact) found.high = std::nextafter(found.high, 0.0F);
    found.low = static_cast<float>(exact - static_cast<double>(found.high));
    for (int64_t whole = 0; whole <= most; ++whole) {
        const auto below = static_cast<float>(whole);
        const float first = firstAbove(divisor, below);
        if (!(std::nearbyint(product(first, found)) > below) ||
            std::nearbyint(product(std::nextafter(first, 0.0F), found)) > below)
            return std::nullopt;
    }
    return found;
}

} // namespace tenon::compiler
