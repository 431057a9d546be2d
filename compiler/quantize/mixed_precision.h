// SPDX-License-Identifier: Apache-2.0
// Which layers stay in float so that a quantized model loses no more than it may: the most harmful
// ones, by measured error.
#pragma once

#include "core/base/result.h"
#include "core/jobs/job.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Loss of the model's outputs with these layers in float: the largest of root(noise / signal).
using LossWithFloats = std::function<Result<double>(const std::vector<std::string>& floatLayers)>;

/// One layer, and the loss when it is the only one that is quantized.
struct LayerHarm
{
    std::string layer;
    double loss = 0;
    bool isFloat = false; ///< kept so
};

/// Measures each of `layers` alone and keeps the fewest in float, the most harmful first, with
/// which the loss is at most `limit`: all when no number of them does. In order of harm.
Result<std::vector<LayerHarm>> keepHarmfulInFloat(const std::vector<std::string>& layers,
                                                  double limit, const LossWithFloats& lossWith,
                                                  JobContext& job);

} // namespace tenon::compiler
