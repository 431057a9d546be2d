// SPDX-License-Identifier: Apache-2.0
// Models run by evaluation, and models and data for quantization tests.
#pragma once

#include "compiler/driver/model_runner.h"
#include "compiler/frontend/onnx/onnx.pb.h"

#include <map>

namespace tenon::test {

/// Runs without code generation.
compiler::OpenRunner evaluatingRunner();

/// Results of the model for these inputs; throws what the import or the evaluation says.
std::vector<core::Tensor> evaluated(const tenon_onnx::ModelProto& model,
                                    const std::map<std::string, core::Tensor>& inputs);

/// Floats of mean 0.2 and deviation 1 or so, the same for the same seed.
core::Tensor randomTensor(const std::vector<int64_t>& shape, uint64_t seed);
/// `count` data sets with one random tensor for `input`.
compiler::CalibrationData randomData(const std::string& input, const std::vector<int64_t>& shape,
                                     size_t count);

/// Fills every float initializer whose name begins with "w" with seeded numbers.
tenon_onnx::ModelProto withRandomWeights(tenon_onnx::ModelProto model);

} // namespace tenon::test
