// SPDX-License-Identifier: Apache-2.0
// The parser of model text.
#include "tests/compiler/frontend/model_text.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <map>
#include <sstream>
#include <stdexcept>

namespace tenon::test {
namespace {

using core::split;
using tenon_onnx::AttributeProto;
using tenon_onnx::TensorProto;

int32_t elementType(const std::string& name)
{
    static const std::map<std::string, int32_t> kTypes{
        {"float32", TensorProto::FLOAT},  {"float16", TensorProto::FLOAT16},
        {"float64", TensorProto::DOUBLE}, {"int64", TensorProto::INT64},
        {"int32", TensorProto::INT32},    {"int8", TensorProto::INT8},
        {"uint8", TensorProto::UINT8},    {"bool", TensorProto::BOOL},
        {"string", TensorProto::STRING},  {"int4", TensorProto::INT4},
        {"int16", TensorProto::INT16},    {"uint16", TensorProto::UINT16},
        {"uint32", TensorProto::UINT32},  {"uint64", TensorProto::UINT64},
    };
    return kTypes.at(name);
}

std::vector<std::string> names(const std::string& list)
{
    std::vector<std::string> out;
    for (std::string& name : split(list, ',')) out.push_back(name == "_" ? "" : std::move(name));
    return out;
}

void fillValue(tenon_onnx::ValueInfoProto& info, std::istringstream& line)
{
    std::string name, type, dims;
    line >> name >> type >> dims;
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(elementType(type));
    if (dims == "*") return;
    auto& shape = *tensor.mutable_shape();
    if (dims.empty() || dims == "()") return;
    for (const std::string& dim : split(dims, ',')) {
        auto& entry = *shape.add_dim();
        if (dim[0] == '-' || (dim[0] >= '0' && dim[0] <= '9'))
            entry.set_dim_value(std::stoll(dim));
        else if (dim != "?")
            entry.set_dim_param(dim);
    }
}

int64_t addTensor(TensorProto& tensor, std::istringstream& line)
{
    std::string name, type, dims;
    line >> name >> type >> dims;
    tensor.set_name(name);
    tensor.set_data_type(elementType(type));
    int64_t count = 1;
    if (dims != "()")
        for (const std::string& dim : split(dims, ',')) {
            tensor.add_dims(std::stoll(dim));
            count *= std::stoll(dim);
        }
    return count;
}

using Bodies = std::map<std::string, tenon_onnx::GraphProto>;

void addAttribute(tenon_onnx::NodeProto& node, const std::string& text, const Bodies& bodies)
{
    const size_t equals = text.find('=');
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(text.substr(0, equals));
    const std::string value = text.substr(equals + 1);
    const bool isFloats = value.rfind("f[", 0) == 0;
    if (value[0] == '[' || isFloats) {
        attr.set_type(isFloats ? AttributeProto::FLOATS : AttributeProto::INTS);
        const size_t open = value.find('[') + 1;
        const std::string inside = value.substr(open, value.size() - open - 1);
        for (const std::string& item : split(inside, ',')) {
            if (item.empty()) continue;
            if (isFloats)
                attr.add_floats(std::stof(item));
            else
                attr.add_ints(std::stoll(item));
        }
    } else if (value[0] == '"') {
        attr.set_type(AttributeProto::STRING);
        attr.set_s(value.substr(1, value.size() - 2));
    } else if (value.back() == 'f') {
        attr.set_type(AttributeProto::FLOAT);
        attr.set_f(std::stof(value));
    } else if (value.rfind("g:", 0) == 0) {
        attr.set_type(AttributeProto::GRAPH);
        *attr.mutable_g() = bodies.at(value.substr(2));
    } else if (value.rfind("t:", 0) == 0) {
        // t:int64:1,2,3 is a one-dimensional tensor
        const std::vector<std::string> parts = split(value, ':');
        attr.set_type(AttributeProto::TENSOR);
        TensorProto& tensor = *attr.mutable_t();
        tensor.set_data_type(elementType(parts[1]));
        for (const std::string& item : split(parts[2], ',')) {
            if (parts[1] == "float32")
                tensor.add_float_data(std::stof(item));
            else
                tensor.add_int64_data(std::stoll(item));
        }
        if (parts.size() < 4) tensor.add_dims(static_cast<int64_t>(split(parts[2], ',').size()));
    } else {
        attr.set_type(AttributeProto::INT);
        attr.set_i(std::stoll(value));
    }
}

void addNode(tenon_onnx::GraphProto& graph, std::istringstream& line, const Bodies& bodies)
{
    tenon_onnx::NodeProto& node = *graph.add_node();
    std::string op, name, inputs, arrow, outputs, rest;
    line >> op >> name >> inputs >> arrow >> outputs;
    node.set_op_type(op);
    if (name != "_") node.set_name(name);
    if (inputs != "()")
        for (const std::string& input : names(inputs)) node.add_input(input);
    for (const std::string& output : names(outputs)) node.add_output(output);
    while (line >> rest) {
        if (rest.rfind("domain:", 0) == 0)
            node.set_domain(rest.substr(7));
        else
            addAttribute(node, rest, bodies);
    }
}

void addExternal(tenon_onnx::GraphProto& graph, std::istringstream& line)
{
    TensorProto& tensor = *graph.add_initializer();
    addTensor(tensor, line);
    tensor.set_data_location(TensorProto::EXTERNAL);
    for (std::string entry; line >> entry;) {
        auto& pair = *tensor.add_external_data();
        const size_t equals = entry.find('=');
        pair.set_key(entry.substr(0, equals));
        pair.set_value(entry.substr(equals + 1));
    }
}

void addFilled(tenon_onnx::GraphProto& graph, std::istringstream& line)
{
    TensorProto& tensor = *graph.add_initializer();
    const int64_t count = addTensor(tensor, line);
    CHECK(tensor.data_type() == tenon_onnx::TensorProto::FLOAT) << "init is for float32";
    const std::vector<float> values(static_cast<size_t>(count), 0.5f);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

void addLiteral(tenon_onnx::GraphProto& graph, std::istringstream& line, bool isFloat)
{
    TensorProto& tensor = *graph.add_initializer();
    addTensor(tensor, line);
    std::string equals, list;
    line >> equals >> list;
    for (const std::string& item : split(list, ',')) {
        if (item.empty()) continue;
        if (isFloat)
            tensor.add_float_data(std::stof(item));
        else if (tensor.data_type() == TensorProto::INT64)
            tensor.add_int64_data(std::stoll(item));
        else
            tensor.add_int32_data(std::stoi(item));
    }
}

} // namespace

tenon_onnx::ModelProto modelOf(const std::string& text)
{
    tenon_onnx::ModelProto model;
    model.set_ir_version(8);
    model.set_producer_name("test");
    model.mutable_graph()->set_name("test");
    Bodies bodies;
    std::vector<tenon_onnx::GraphProto*> open{model.mutable_graph()};
    for (const std::string& source : split(text, '\n')) {
        std::istringstream line(source);
        std::string statement;
        if (!(line >> statement) || statement[0] == '#') continue;
        tenon_onnx::GraphProto& graph = *open.back();
        if (statement == "opset") {
            auto& opset = *model.add_opset_import();
            std::string first, second;
            line >> first >> second;
            if (!second.empty()) opset.set_domain(first);
            opset.set_version(std::stoll(second.empty() ? first : second));
        } else if (statement == "input") {
            fillValue(*graph.add_input(), line);
        } else if (statement == "output") {
            fillValue(*graph.add_output(), line);
        } else if (statement == "info") {
            fillValue(*graph.add_value_info(), line);
        } else if (statement == "init") {
            addFilled(graph, line);
        } else if (statement == "ints" || statement == "floats") {
            addLiteral(graph, line, statement == "floats");
        } else if (statement == "external") {
            addExternal(graph, line);
        } else if (statement == "node") {
            addNode(graph, line, bodies);
        } else if (statement == "graph") {
            std::string name;
            line >> name;
            open.push_back(&bodies[name]);
            open.back()->set_name(name);
        } else if (statement == "end") {
            open.pop_back();
        } else {
            throw std::runtime_error("unknown statement: " + source);
        }
    }
    if (model.opset_import_size() == 0) model.add_opset_import()->set_version(13);
    return model;
}

} // namespace tenon::test
