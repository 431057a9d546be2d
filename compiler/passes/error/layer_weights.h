// SPDX-License-Identifier: Apache-2.0
// Squares of the weights of convolutions and dense layers: what independent errors and independent
// values are multiplied by.
#pragma once

#include "core/ir/module.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

using namespace core;

struct LayerWeights
{
    size_t groups, results, operands; ///< channels per group
    std::vector<double> squares; ///< [groups * results][operands], summed over the window; elements
                                 ///< that often lie outside the image count less
    int64_t terms;               ///< of one sum

    size_t firstOperand(size_t result) const { return result / results * operands; }
    /// Sums of weighted squares of the operands' channels, per result channel.
    std::vector<double> weighted(const std::vector<double>& operandSquares) const;
};

/// Of a layer with constant weights in the model's own layout; nothing for other nodes.
std::optional<LayerWeights> layerWeights(const Module& module, const NodeRecord& node);

/// Mean squares of a tensor by channel, which is axis 1 where there is one.
std::vector<double> squaresByChannel(const Tensor& value);

} // namespace tenon::compiler
