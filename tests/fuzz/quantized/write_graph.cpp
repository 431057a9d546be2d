// SPDX-License-Identifier: Apache-2.0
// Quantized graphs as ONNX models with their inputs.
#include "core/tensor/onnx_types.h"
#include "tests/fuzz/quantized/quantized_graph.h"

#include <set>

namespace tenon::test {

namespace {

void declare(tenon_onnx::ValueInfoProto& info, const std::string& name, const GraphTensor& tensor)
{
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(core::onnxTypeOf(tensor.dtype));
    for (const int64_t dim : tensor.exact.shape)
        type.mutable_shape()->add_dim()->set_dim_value(dim);
}

/// Results of the model as it is: what no node reads.
std::vector<std::string> unread(const QuantizedGraph& graph)
{
    std::set<std::string> read;
    for (const auto& node : graph.nodes) read.insert(node.input().begin(), node.input().end());
    std::vector<std::string> out;
    for (const std::string& name : graph.quantized)
        if (!read.contains(name)) out.push_back(name);
    return out;
}

std::string givenName(const std::string& quantized) { return "given_" + quantized; }

} // namespace

const char* formName(Form form)
{
    return form == Form::Whole ? "whole" : form == Form::Tapped ? "tapped" : "cut";
}

core::Tensor tensorOf(const GraphTensor& value)
{
    return core::Tensor::make(value.dtype, value.exact.shape, [&](std::span<std::byte> bytes) {
        for (size_t i = 0; i < value.exact.data.size(); ++i)
            core::storeNumber(value.dtype, bytes, static_cast<int64_t>(i), value.exact.data[i]);
    });
}

WrittenModel writeQuantized(const QuantizedGraph& graph, Form form)
{
    WrittenModel out;
    out.model.set_ir_version(graph.opset < 21 ? 8 : 10);
    out.model.add_opset_import()->set_version(graph.opset);
    auto& written = *out.model.mutable_graph();
    written.set_name("quantized");
    const auto addInput = [&](const std::string& name, const GraphTensor& tensor) {
        declare(*written.add_input(), name, tensor);
        out.inputs.emplace_back(name, tensorOf(tensor));
    };
    for (const std::string& name : graph.inputs) addInput(name, graph.tensors.at(name));
    std::set<std::string> given;
    for (const auto& original : graph.nodes) {
        auto& node = *written.add_node();
        node = original;
        if (form != Form::Cut) continue;
        for (std::string& input : *node.mutable_input()) {
            if (!input.starts_with("q")) continue;
            if (given.insert(input).second) addInput(givenName(input), graph.tensors.at(input));
            input = givenName(input);
        }
    }
    for (const auto& constant : graph.constants) *written.add_initializer() = constant;
    out.outputs = form == Form::Whole ? unread(graph) : graph.quantized;
    for (const std::string& name : out.outputs)
        declare(*written.add_output(), name, graph.tensors.at(name));
    return out;
}

} // namespace tenon::test
