// SPDX-License-Identifier: Apache-2.0
// Cross-layer equalization: what one layer multiplies its channels with, the next one divides by,
// so that the weights of all channels fill the integers alike.
#pragma once

#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/quantize.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Two layers with nothing but positively homogeneous operators between: f(s x) = s f(x) for every
/// channel and s > 0. Nobody else reads what lies between.
struct LayerPair
{
    std::string first;
    std::string second;
    std::string tensor; ///< the data between, behind a Relu where there is one
    double limit = 0;   ///< what cuts all channels (6 of Relu6); 0: nothing
};
std::vector<LayerPair> equalizedPairs(const tenon_onnx::ModelProto& model);

/// Scales the pairs of `model` (Nagel et al., Data-free quantization through weight equalization
/// and bias correction, 2019); the model computes the same but for the rounding of floats. `peaks`:
/// largest magnitude of every channel of a pair's tensor; where they are known, channels share the
/// range of the data, too, and none grows beyond the largest, as a bias beside tiny weights would.
/// Under a limit, channels change whose peaks are known and do not come near it, before or after.
std::vector<EqualizedPair>
equalizeLayers(tenon_onnx::ModelProto& model,
               const std::map<std::string, std::vector<double>>& peaks = {});

} // namespace tenon::compiler
