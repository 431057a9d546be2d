// SPDX-License-Identifier: Apache-2.0
// RealLayer: a convolution or dense layer of floats between quantized tensors, with its bias and
// its slopes.
#pragma once

#include "compiler/passes/quantize/quantized_values.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler {

/// x where x > 0, else slope * x.
struct Slopes
{
    ValueRef x, slope;
    std::vector<NodeId> nodes; ///< that nothing else reads
};

/// PReLU as importers write it; nothing where the value is none.
std::optional<Slopes> readSlopes(const QuantizationSite& site, ValueRef value);

struct RealLayer
{
    const NodeRecord* node = nullptr;
    ValueRef bias; ///< invalid: none
    NodeId biasNode;
    std::optional<Slopes> slopes; ///< behind it
    std::vector<NodeId> consumed;
    size_t channelRank; ///< dimensions from the channel to the end
};

/// The layer whose result, or slopes of whose result, `value` is.
std::optional<RealLayer> readRealLayer(const QuantizationSite& site, ValueRef value);
/// The bias of every channel; nothing when it is no constant per channel.
std::optional<std::vector<double>> biasValues(const QuantizationSite& site, const RealLayer& layer,
                                              int64_t channels);
/// The slope of every channel, likewise; empty where there are none.
std::optional<std::vector<double>> slopeValues(const QuantizationSite& site, const RealLayer& layer,
                                               int64_t channels);
/// (C), or (C, 1, 1) for convolutions.
std::vector<int64_t> channelShape(const RealLayer& layer, int64_t channels);

} // namespace tenon::compiler
