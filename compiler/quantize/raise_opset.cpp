// SPDX-License-Identifier: Apache-2.0
// What changed between versions of operators: attributes that became inputs, defaults that moved.
#include "compiler/quantize/raise_opset.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;
using tenon_onnx::TensorProto;

/// Operators whose result has as many dimensions as their first input.
// clang-format off
constexpr std::array<std::string_view, 17> kRankKeepers{
    "AveragePool", "BatchNormalization", "Clip", "Conv", "ConvTranspose", "Dropout", "Elu",
    "GlobalAveragePool", "GlobalMaxPool", "Identity", "InstanceNormalization", "LeakyRelu",
    "MaxPool", "Relu", "Sigmoid", "Softmax", "Tanh"};
// clang-format on

/// One node that is raised, in its graph; new nodes replace it.
struct Raised
{
    GraphProto& graph;
    NodeProto& node;
    const std::set<std::string>& read;              ///< tensors that somebody takes
    std::vector<NodeProto> before = {}, after = {}; ///< to stand around it

    /// A constant of the graph under a name that follows from the node's.
    std::string constant(const std::string& leaf, const Tensor& value)
    {
        const std::string name = node.output(0) + "/" + leaf;
        storeTensor(value, name, *graph.add_initializer());
        return name;
    }
    std::string integers(const std::string& leaf, const std::vector<int64_t>& values)
    {
        return constant(leaf,
                        Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(values.size())}, values));
    }
    std::string number(const std::string& leaf, float value)
    {
        return constant(leaf, Tensor::of<float>(kFloat32, {}, {value}));
    }
    void setInput(int at, const std::string& name)
    {
        while (node.input_size() <= at) node.add_input();
        node.set_input(at, name);
    }
    void setText(const std::string& name, const std::string& value) const
    {
        eraseAttribute(node, name);
        AttributeProto& attr = *node.add_attribute();
        attr.set_name(name);
        attr.set_type(AttributeProto::STRING);
        attr.set_s(value);
    }
    /// Dimensions of a tensor where the file or its node says so; -1 elsewhere.
    int64_t rankOf(const std::string& tensor) const
    {
        for (const auto* infos : {&graph.value_info(), &graph.input(), &graph.output()})
            for (const auto& info : *infos)
                if (info.name() == tensor && info.type().tensor_type().has_shape())
                    return info.type().tensor_type().shape().dim_size();
        for (const NodeProto& other : graph.node()) // those in front of it
            if (other.output_size() > 0 && other.output(0) == tensor) return rankOfResult(other);
        return -1;
    }
    int64_t rankOfResult(const NodeProto& other) const
    {
        if (other.op_type() == "Gemm" || other.op_type() == "Flatten") return 2;
        const bool isKept = std::find(kRankKeepers.begin(), kRankKeepers.end(), other.op_type()) !=
                            kRankKeepers.end();
        return isKept && other.input_size() > 0 ? rankOf(other.input(0)) : -1;
    }
    /// `name` of integers moves into input `at`.
    void moveIntegers(const std::string& name, int at)
    {
        if (!attributeOf(node, name)) return;
        setInput(at, integers(name, integersOf(node, name)));
        eraseAttribute(node, name);
    }
};

bool raiseAxes(Raised& to)
{
    to.moveIntegers("axes", 1);
    return true;
}

bool raiseSplit(Raised& to)
{
    to.moveIntegers("split", 1);
    return true;
}

bool raiseEqualSplit(Raised& to)
{
    if (to.node.input_size() < 2) setInteger(to.node, "num_outputs", to.node.output_size());
    return true;
}

bool raiseClip(Raised& to)
{
    for (const auto& [name, at] : {std::pair("min", 1), std::pair("max", 2)}) {
        if (!attributeOf(to.node, name)) continue;
        to.setInput(at, to.number(name, floatOf(to.node, name, 0)));
        eraseAttribute(to.node, name);
    }
    return true;
}

bool raisePad(Raised& to)
{
    to.moveIntegers("pads", 1);
    if (attributeOf(to.node, "value"))
        to.setInput(2, to.number("value", floatOf(to.node, "value", 0)));
    eraseAttribute(to.node, "value");
    return true;
}

bool raiseSlice(Raised& to)
{
    to.moveIntegers("starts", 1);
    to.moveIntegers("ends", 2);
    to.moveIntegers("axes", 3);
    return true;
}

bool raiseTopK(Raised& to)
{
    if (attributeOf(to.node, "k")) to.setInput(1, to.integers("k", {integerOf(to.node, "k", 1)}));
    eraseAttribute(to.node, "k");
    return true;
}

/// Before 11 there was one way to place pixels.
bool raiseResize(Raised& to)
{
    if (to.node.input_size() > 2) return true; // an Upsample before
    const AttributeProto* scales = attributeOf(to.node, "scales");
    std::string given;
    if (scales) {
        const std::vector<float> values(scales->floats().begin(), scales->floats().end());
        given = to.constant(
            "scales", Tensor::of<float>(kFloat32, {static_cast<int64_t>(values.size())}, values));
        eraseAttribute(to.node, "scales");
    } else if (to.node.input_size() > 1) {
        given = to.node.input(1);
    }
    if (given.empty()) return false;
    to.setInput(1, "");
    to.setInput(2, given);
    to.node.set_op_type("Resize");
    to.setText("coordinate_transformation_mode", "asymmetric");
    to.setText("nearest_mode", "floor");
    return true;
}

bool raiseScatter(Raised& to)
{
    to.node.set_op_type("ScatterElements");
    return true;
}

/// Training is over: nothing is dropped.
bool raiseDropout(Raised& to)
{
    const bool hasMask = to.node.output_size() > 1 && to.read.contains(to.node.output(1));
    if (hasMask) return false;
    const std::string data = to.node.input(0), result = to.node.output(0);
    to.node.clear_input();
    to.node.clear_output();
    to.node.clear_attribute();
    to.node.set_op_type("Identity");
    to.node.add_input(data);
    to.node.add_output(result);
    return true;
}

bool raiseBatchNorm(Raised& to)
{
    eraseAttribute(to.node, "spatial");
    while (to.node.output_size() > 1) to.node.mutable_output()->RemoveLast();
    return true;
}

NodeProto helperNode(const std::string& op, const std::string& name,
                     const std::vector<std::string>& inputs, const std::string& output)
{
    NodeProto node;
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
}

/// Before 13 all axes from `axis` on were one; behind it the axis is one.
bool raiseSoftmax(Raised& to)
{
    NodeProto& node = to.node;
    const int64_t axis = integerOf(node, "axis", 1);
    if (axis == -1 || axis + 1 == to.rankOf(node.input(0))) {
        setInteger(node, "axis", -1);
        return true;
    }
    const std::string stem = node.output(0), data = node.input(0);
    NodeProto flatten = helperNode("Flatten", node.name() + "/flatten", {data}, stem + "/flat");
    setInteger(flatten, "axis", axis);
    to.before.push_back(helperNode("Shape", node.name() + "/shape", {data}, stem + "/shape"));
    to.before.push_back(std::move(flatten));
    to.after.push_back(
        helperNode("Reshape", node.name() + "/back", {stem + "/rows", stem + "/shape"}, stem));
    node.set_input(0, stem + "/flat");
    node.set_output(0, stem + "/rows");
    setInteger(node, "axis", -1);
    return true;
}

bool raiseGridSample(Raised& to)
{
    const AttributeProto* mode = attributeOf(to.node, "mode");
    if (mode && mode->s() == "bilinear")
        to.setText("mode", "linear");
    else if (mode && mode->s() == "bicubic")
        to.setText("mode", "cubic");
    return true;
}

bool cannotRaise(Raised&) { return false; }

/// What became another form in `version`.
struct Rule
{
    int64_t version;
    std::string_view op;
    bool (*raise)(Raised&);
};

constexpr std::array kRules{
    Rule{9, "BatchNormalization", raiseBatchNorm},
    Rule{10, "Slice", raiseSlice},
    Rule{10, "TopK", raiseTopK},
    Rule{10, "Upsample", raiseResize},
    Rule{11, "Clip", raiseClip},
    Rule{11, "Pad", raisePad},
    Rule{11, "Resize", raiseResize},
    Rule{11, "Scatter", raiseScatter},
    Rule{12, "Dropout", raiseDropout},
    Rule{13, "ReduceSum", raiseAxes},
    Rule{13, "Squeeze", raiseAxes},
    Rule{13, "Unsqueeze", raiseAxes},
    Rule{13, "Split", raiseSplit},
    Rule{13, "Softmax", raiseSoftmax},
    Rule{13, "LogSoftmax", raiseSoftmax},
    Rule{13, "Hardmax", raiseSoftmax},
    Rule{14, "BatchNormalization", raiseBatchNorm},
    Rule{18, "ReduceL1", raiseAxes},
    Rule{18, "ReduceL2", raiseAxes},
    Rule{18, "ReduceLogSum", raiseAxes},
    Rule{18, "ReduceLogSumExp", raiseAxes},
    Rule{18, "ReduceMax", raiseAxes},
    Rule{18, "ReduceMean", raiseAxes},
    Rule{18, "ReduceMin", raiseAxes},
    Rule{18, "ReduceProd", raiseAxes},
    Rule{18, "ReduceSumSquare", raiseAxes},
    Rule{18, "Split", raiseEqualSplit},
    Rule{20, "GridSample", raiseGridSample},
    Rule{21, "GroupNormalization", cannotRaise},
};

struct Versions
{
    int64_t from, to;
};

Status raiseGraph(GraphProto& graph, const Versions& versions);

Status raiseNode(Raised& raised, const Versions& versions)
{
    for (AttributeProto& attr : *raised.node.mutable_attribute())
        if (attr.has_g())
            if (Status done = raiseGraph(*attr.mutable_g(), versions); !done) return done;
    if (!raised.node.domain().empty() && raised.node.domain() != "ai.onnx") return kDone;
    for (const Rule& rule : kRules) {
        const bool isConcerned = rule.op == raised.node.op_type() && versions.from < rule.version &&
                                 rule.version <= versions.to;
        if (isConcerned && !rule.raise(raised))
            return makeError(DiagnosticCode::UnsupportedFeature,
                             "the node has no equal in opset " + std::to_string(versions.to) +
                                 "; export the model with that opset",
                             {.node = raised.node.name(), .op = raised.node.op_type()});
    }
    return kDone;
}

Status raiseGraph(GraphProto& graph, const Versions& versions)
{
    std::vector<NodeProto> nodes(graph.node().begin(), graph.node().end());
    graph.clear_node();
    std::set<std::string> read;
    for (const NodeProto& node : nodes) read.insert(node.input().begin(), node.input().end());
    for (const auto& output : graph.output()) read.insert(output.name());
    for (NodeProto& node : nodes) {
        Raised raised{graph, node, read};
        if (Status done = raiseNode(raised, versions); !done) return done;
        for (NodeProto& other : raised.before) graph.add_node()->Swap(&other);
        graph.add_node()->Swap(&node);
        for (NodeProto& other : raised.after) graph.add_node()->Swap(&other);
    }
    return kDone;
}

int64_t irVersionFor(int64_t opset)
{
    if (opset >= 21) return 10;
    if (opset >= 19) return 9;
    return opset >= 15 ? 8 : 7;
}

} // namespace

Status raiseOpset(ModelProto& model, int64_t version)
{
    const int64_t given = opsetOf(model);
    const int64_t wanted = std::max(given, version);
    if (given < kOldestOpset)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "the model is of opset " + std::to_string(given) +
                             "; quantizing takes opset 7 and newer: export it again");
    if (given != wanted) {
        const Status done = raiseGraph(*model.mutable_graph(), {given, wanted});
        if (!done) return done;
        setOpset(model, wanted);
    }
    model.set_ir_version(std::max<int64_t>(model.ir_version(), irVersionFor(wanted)));
    return kDone;
}

} // namespace tenon::compiler
