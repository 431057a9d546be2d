// SPDX-License-Identifier: Apache-2.0
// Statistics of batch normalizations by any engine: a model that computes those of its input, and
// what it computed put into the model. calibration.h does the same without an engine.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <string>
#include <vector>

namespace tenon::test {

/// How many BatchNormalization nodes it has.
int normalizationsOf(const tenon_onnx::ModelProto& model);

/// Normalizes by the mean and variance of each batch, which are its outputs: two of each node in
/// the order of the file.
tenon_onnx::ModelProto measuringStatistics(const tenon_onnx::ModelProto& model);

/// With these running means and variances, in that order.
tenon_onnx::ModelProto withStatistics(tenon_onnx::ModelProto model,
                                      const std::vector<tenon_onnx::TensorProto>& statistics);

} // namespace tenon::test
