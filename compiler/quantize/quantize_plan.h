// SPDX-License-Identifier: Apache-2.0
// Which nodes compute with integers, and which tensors are rounded for it.
#pragma once

#include "compiler/quantize/float_graph.h"
#include "compiler/quantize/quantize.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon::compiler {

/// How a node takes part.
enum class NodeRole : uint8_t
{
    Float,     ///< not at all
    Layer,     ///< products with constant weights: always worth it
    Bias,      ///< addition of a constant behind a layer, part of its sums
    Computing, ///< on integers where its operands are some already
    Function,  ///< elementwise, of one tensor
    Moving     ///< moves values: the result has the operand's scale
};

struct PlannedNode
{
    NodeRole role = NodeRole::Float;
    std::string reason;      ///< why Float; "" for what has no floats to quantize
    std::string result = {}; ///< of a Layer: the tensor that comes out of its kernel
    bool isQuantized() const { return role != NodeRole::Float; }
};

/// A tensor that is rounded.
struct PlannedTensor
{
    std::string name;
    int producer = -1;    ///< node; -1: an input of the model
    std::string sameAs;   ///< takes the range of that one; "": its own
    bool isForAll = true; ///< every reader takes the rounded one, else only quantized nodes
    bool isWide = false;  ///< 16 bits whatever the others have
};

struct QuantizePlan
{
    std::vector<PlannedNode> nodes;     ///< by index
    std::vector<PlannedTensor> tensors; ///< in order of computation
    bool isRounded(const std::string& tensor) const { return roundedNames.contains(tensor); }
    std::set<std::string> roundedNames;
    std::map<std::string, std::string> functions; ///< tensors that are functions of one: of which
};

/// Nodes that `options` keep in float are Float; tensors around its wide nodes are wide.
QuantizePlan planQuantization(const FloatGraph& graph, const QuantizeOptions& options);

/// The role a node can play by itself, and why it can play none.
PlannedNode roleOf(const FloatGraph& graph, const tenon_onnx::NodeProto& node);
/// Inputs that are activations of 32-bit floats, by position.
std::vector<int> activationInputs(const FloatGraph& graph, const tenon_onnx::NodeProto& node);

} // namespace tenon::compiler
