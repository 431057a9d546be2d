// SPDX-License-Identifier: Apache-2.0
// Constants of layers as integers with their scales.
#pragma once

#include "compiler/quantize/tensor_range.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace tenon::compiler {

struct IntegerWeight
{
    Tensor integers;
    std::vector<float> scales; ///< one, or one per index of `axis`
    int64_t zero = 0;
    int64_t axis = 0;
    double sqnrDb = 0;
};

/// How weights are rounded.
struct WeightForm
{
    DataType dtype = kInt8;
    int64_t axis = 0;
    bool isPerChannel = true;
    double inputScale = 1;    ///< of the data that they are multiplied with
    std::vector<double> bias; ///< per channel, which 32-bit sums must hold; empty: none
};

IntegerWeight roundWeight(const Tensor& weight, const WeightForm& form);

/// What the rounding of weights takes from the mean of every output channel, for data whose input
/// channels have these means; empty where they do not fit the weights.
std::vector<double> lostMeans(const Tensor& weight, const IntegerWeight& rounded,
                              const std::vector<double>& inputMeans);

struct IntegerBias
{
    Tensor integers; ///< int32, one per channel
    Tensor scales;
};
/// In units of inputScale * scale of the weights.
IntegerBias roundBias(const std::vector<double>& bias, const IntegerWeight& weight,
                      double inputScale);

} // namespace tenon::compiler
