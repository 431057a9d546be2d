// SPDX-License-Identifier: Apache-2.0
// QuantizedGraph: a random quantized model with the exact value of each of its tensors.
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "tests/fuzz/quantized/exact_operators.h"

#include <map>

namespace tenon::test {

struct GraphTensor
{
    core::DataType dtype = core::kFloat32;
    bool isConstant = false;
    Array exact; ///< real numbers, or the integers of a quantized tensor
    Array range; ///< real numbers of other inputs, without quantization: what scales come from
};

/// A model as ONNX nodes. Quantized tensors are named q0, q1, ...; inputs x0, x1, ...
struct QuantizedGraph
{
    int opset = 21;
    bool isCalibrated = true; ///< scales fit the values; else most saturate or are nearly zero
    std::vector<tenon_onnx::NodeProto> nodes;
    std::vector<tenon_onnx::TensorProto> constants;
    std::map<std::string, GraphTensor> tensors;
    std::vector<std::string> inputs;
    std::vector<std::string> quantized; ///< activations, in order
};

/// Equal seeds give equal graphs.
QuantizedGraph makeQuantizedGraph(uint64_t seed);
/// The model of a case in ONNX's backend-test layout up to its last quantized tensors, on the
/// inputs of a data set. CHECKs that the exact evaluation knows its operators.
core::Result<QuantizedGraph> readQuantizedModel(const std::string& folder, int set);
int dataSetsOf(const std::string& folder);

/// Which numbers a node computes with.
enum class Numbers
{
    Exact, ///< what the model says, in doubles
    Range  ///< real numbers that no activation's quantization rounds
};
/// The result of a node on operands by name; an empty name is an absent operand.
Array evaluateNode(const tenon_onnx::NodeProto& node,
                   const std::function<const Array*(const std::string&)>& operand,
                   core::DataType result, Numbers numbers, bool isConstant);

/// How the model is written.
enum class Form
{
    Whole,  ///< as it is: results are what nothing reads
    Tapped, ///< every quantized tensor is a result, too
    Cut     ///< every quantized tensor is a result, and its readers read an input in its place
};
const char* formName(Form form);

struct WrittenModel
{
    tenon_onnx::ModelProto model;
    std::vector<std::pair<std::string, core::Tensor>> inputs;
    std::vector<std::string> outputs;
};
WrittenModel writeQuantized(const QuantizedGraph& graph, Form form);

core::Tensor tensorOf(const GraphTensor& value);

} // namespace tenon::test
