// SPDX-License-Identifier: Apache-2.0
// A dimension taken apart: a sum of products of symbols.
#pragma once

#include "core/tensor/dim.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::core {

/// coefficient * symbols[0] * symbols[1] * ...
struct DimProduct
{
    int64_t coefficient = 1;
    std::vector<std::string> symbols;
};

/// The dimension is the sum of these; empty for 0.
std::vector<DimProduct> productsOf(const Dim& dim);

/// The two sides of a symbol that stands for a quotient, "(a // b)".
std::optional<std::pair<Dim, Dim>> quotientOf(const std::string& symbol);

} // namespace tenon::core
