// SPDX-License-Identifier: Apache-2.0
// Evaluates the operators of image classifiers on ONNX messages, node by node in the order of the
// file: a reference that shares no code with the compiler, and what calibrates the zoo.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tenon::test {

/// A dense tensor in binary64.
struct Values
{
    std::vector<int64_t> shape;
    std::vector<double> items;
};

/// Results of a node for its operands: Add, AveragePool, BatchNormalization, Clip, Concat, Conv,
/// ConvTranspose (without overlap), Flatten, Gemm, GlobalAveragePool, MaxPool, Relu, Sigmoid.
Values evaluatePlainly(const tenon_onnx::NodeProto& node,
                       const std::vector<const Values*>& operands);

/// Called before each node with its operands' values; may change the model's initializers.
using BeforeNode =
    std::function<void(const tenon_onnx::NodeProto&, const std::map<std::string, Values>&)>;

/// The model's first result.
Values evaluatePlainly(const tenon_onnx::ModelProto& model, const Values& input,
                       const BeforeNode& before = {});

/// The value of a float initializer.
Values valuesOf(const tenon_onnx::TensorProto& tensor);

} // namespace tenon::test
