// SPDX-License-Identifier: GPL-3.0-or-later
// Documents of any size in the shapes that layouts are measured on, with two passes each.
#pragma once

#include "views/models/document.h"

#include <vector>

namespace tenon::tests {

enum class GraphFamily
{
    Chain,       ///< convolution, normalization, activation, again and again
    Ladder,      ///< residual blocks
    Transformer, ///< attention blocks that all read one mask
    RandomDag    ///< operands from nearby, seldom from far
};
std::vector<GraphFamily> allFamilies();
const char* familyName(GraphFamily family);

/// About `count` nodes as they were imported; then Simplify, which turns every normalization into a
/// multiplication and a sum, and Fuse, which makes one call of an operator and its activation.
views::DocumentPtr familyDocument(GraphFamily family, int count);

} // namespace tenon::tests
