// SPDX-License-Identifier: Apache-2.0
// Names and operators.
#include "compiler/quantize/quantize_checks.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr std::array<std::string_view, 10> kQuantizedOps{
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
    "QLinearConv",    "QLinearMatMul",    "ConvInteger",
    "MatMulInteger",  "QLinearAdd",       "QLinearMul",
    "QGemm"};

Status checkNodes(const ModelProto& model, const std::vector<std::string>& names,
                  const std::string& purpose)
{
    const auto& nodes = model.graph().node();
    for (const std::string& name : names)
        if (std::none_of(nodes.begin(), nodes.end(),
                         [&](const NodeProto& node) { return node.name() == name; }))
            return makeError(DiagnosticCode::UnknownName, "there is no node " + quoted(name) +
                                                              " to keep in " + purpose +
                                                              "; `tenon inspect` lists the nodes");
    return kDone;
}

} // namespace

Status refuseQuantized(const ModelProto& model, const std::string& path)
{
    for (const NodeProto& node : model.graph().node())
        if (std::find(kQuantizedOps.begin(), kQuantizedOps.end(), node.op_type()) !=
            kQuantizedOps.end())
            return makeError(DiagnosticCode::BadModel,
                             "the model is quantized already; give the float model that it was "
                             "made from",
                             {.file = path, .node = node.name(), .op = node.op_type()});
    return kDone;
}

std::string otherFloatsReason(const ModelProto& model)
{
    const auto isOther = [](const tenon_onnx::TensorProto& weights) {
        const int type = weights.data_type();
        return type == tenon_onnx::TensorProto::FLOAT16 ||
               type == tenon_onnx::TensorProto::BFLOAT16 || type == tenon_onnx::TensorProto::DOUBLE;
    };
    const auto& weights = model.graph().initializer();
    if (std::none_of(weights.begin(), weights.end(), isOther)) return {};
    return "it has weights of 16 or 64 bits, but ranges are measured on 32-bit floats; convert it "
           "to float32 first";
}

Status checkNames(const ModelProto& model, const QuantizeOptions& options)
{
    if (Status known = checkNodes(model, options.floatNodes, "float"); !known) return known;
    if (Status known = checkNodes(model, options.wideNodes, "16 bits"); !known) return known;
    for (const std::string& name : options.wideNodes)
        if (std::find(options.floatNodes.begin(), options.floatNodes.end(), name) !=
            options.floatNodes.end())
            return makeError(DiagnosticCode::BadArgument,
                             "node " + quoted(name) + " cannot stay in float and get 16 bits, too");
    const auto& nodes = model.graph().node();
    for (const std::string& op : options.floatOps)
        if (std::none_of(nodes.begin(), nodes.end(),
                         [&](const NodeProto& node) { return node.op_type() == op; }))
            return makeError(DiagnosticCode::UnknownName,
                             "the model has no operator " + quoted(op) + " to keep in float");
    return kDone;
}

std::optional<DataType> activationTypeOf(std::string_view name)
{
    for (const DataType dtype : {kInt8, kUInt8, kInt16, kUInt16})
        if (dtype.text() == name) return dtype;
    return std::nullopt;
}

} // namespace tenon::compiler
