// SPDX-License-Identifier: Apache-2.0
// Inputs of the zoo's models, as they would see them.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <cstdint>
#include <vector>

namespace tenon::test {

/// Of each input in order: photograph-like images where there are three channels of a square, whole
/// numbers below 1,000 (of an input `mask` ones, then zeros), else normal deviates. Sizes are
/// known.
std::vector<tenon_onnx::TensorProto> zooInputs(const tenon_onnx::ModelProto& model, uint64_t seed);

} // namespace tenon::test
