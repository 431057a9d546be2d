// SPDX-License-Identifier: Apache-2.0
// A plan and its ranges become QuantizeLinear and DequantizeLinear nodes and integer constants.
#pragma once

#include "compiler/quantize/quantize_plan.h"

#include <map>

namespace tenon::compiler {

/// How a tensor of the plan is rounded, and what its channels are on average (empty: not known).
struct RoundedTensor
{
    LinearRange range;
    std::vector<double> channelMeans;
};

struct QdqNames
{
    std::vector<WeightAccount> weights;
    /// Rounded tensor -> what comes out of its DequantizeLinear.
    std::map<std::string, std::string> dequantized;
};

/// Rewrites the graph. A tensor that all readers take rounded keeps its name for what comes out of
/// its DequantizeLinear, so that results and bodies of control flow find it. `ranges` has every
/// tensor of the plan.
QdqNames writeQdq(tenon_onnx::ModelProto& model, const QuantizePlan& plan,
                  const std::map<std::string, RoundedTensor>& ranges,
                  const QuantizeOptions& options);

} // namespace tenon::compiler
