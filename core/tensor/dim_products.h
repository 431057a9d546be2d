// SPDX-License-Identifier: Apache-2.0
// A dimension taken apart: a sum of products of symbols.
#pragma once

#include "core/tensor/dim.h"

#include <optional>
#include <string>
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

/// What an opaque symbol stands for: "(a // b)", "(a min b)" or "(a max b)".
struct DimOperation
{
    enum Kind : uint8_t
    {
        FloorDivide,
        Minimum,
        Maximum
    };
    Kind kind = FloorDivide;
    Dim a;
    Dim b;
};
/// Nothing for a plain name.
std::optional<DimOperation> operationOf(const std::string& symbol);

/// The smaller or larger of two dimensions; an opaque symbol where nobody knows which it is.
Dim minimum(const Dim& a, const Dim& b);
Dim maximum(const Dim& a, const Dim& b);

} // namespace tenon::core
