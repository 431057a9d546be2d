// SPDX-License-Identifier: Apache-2.0
// ONNX messages of the zoo.
#include "tests/zoo/model_builder.h"

#include <algorithm>
#include <cmath>

namespace tenon::test {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::TensorProto;

void setAttribute(AttributeProto& proto, const std::string& name, const Attr& value)
{
    proto.set_name(name);
    if (const auto* i = std::get_if<int64_t>(&value)) {
        proto.set_type(AttributeProto::INT);
        proto.set_i(*i);
    } else if (const auto* f = std::get_if<float>(&value)) {
        proto.set_type(AttributeProto::FLOAT);
        proto.set_f(*f);
    } else if (const auto* s = std::get_if<std::string>(&value)) {
        proto.set_type(AttributeProto::STRING);
        proto.set_s(*s);
    } else {
        proto.set_type(AttributeProto::INTS);
        for (const int64_t item : std::get<Dims>(value)) proto.add_ints(item);
    }
}

void setType(tenon_onnx::ValueInfoProto& info, const std::string& name, int32_t elementType,
             const Dims& dims)
{
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(elementType);
    tensor.mutable_shape();
    for (const int64_t d : dims) {
        auto* dim = tensor.mutable_shape()->add_dim();
        constexpr const char* kNames[] = {"batch", "rows", "columns"};
        if (d < 0)
            dim->set_dim_param(kNames[-1 - d]);
        else
            dim->set_dim_value(d);
    }
}

} // namespace

ModelBuilder::ModelBuilder(const std::string& graphName, const ZooOptions& options, int64_t opset)
    : m_random(options.seed)
    , m_channelDivisor(options.channelDivisor)
{
    m_model.set_ir_version(opset > 14 ? 8 : 7);
    m_model.set_producer_name("tenon zoo");
    m_model.add_opset_import()->set_version(opset);
    m_model.mutable_graph()->set_name(graphName);
}

std::string ModelBuilder::parameter(const std::string& scope, const std::string& leaf)
{
    std::string name = scope.substr(scope.starts_with("/") ? 1 : 0);
    std::replace(name.begin(), name.end(), '/', '.');
    return name + "." + leaf;
}

int64_t ModelBuilder::channels(int64_t published) const
{
    return std::max<int64_t>(std::min<int64_t>(4, published), published / m_channelDivisor);
}

std::string ModelBuilder::bytes() const { return m_model.SerializeAsString(); }

double ModelBuilder::nextUniform()
{
    // splitmix64: equal on every platform, unlike the standard distributions.
    uint64_t z = (m_random += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

std::string ModelBuilder::input(const std::string& name, int32_t elementType, const Dims& dims)
{
    setType(*m_model.mutable_graph()->add_input(), name, elementType, dims);
    return name;
}

void ModelBuilder::output(const std::string& tensor, const std::string& name, const Dims& dims)
{
    auto& graph = *m_model.mutable_graph();
    setType(*graph.add_output(), name, TensorProto::FLOAT, dims);
    // The node that makes the tensor takes the public name; nobody else reads it.
    for (auto& node : *graph.mutable_node())
        for (auto& made : *node.mutable_output())
            if (made == tensor) made = name;
}

TensorProto& ModelBuilder::addInitializer(const std::string& name, int32_t elementType,
                                          const Dims& dims)
{
    auto& tensor = *m_model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(elementType);
    for (const int64_t d : dims) tensor.add_dims(d);
    return tensor;
}

std::string ModelBuilder::weight(const std::string& name, const Dims& dims, double deviation,
                                 double mean)
{
    size_t count = 1;
    for (const int64_t d : dims) count *= static_cast<size_t>(d);
    std::vector<float> values(count);
    const double range = deviation * std::sqrt(3.0); // of a uniform distribution
    for (float& v : values) v = static_cast<float>(mean + range * nextUniform());
    addInitializer(name, TensorProto::FLOAT, dims)
        .set_raw_data(values.data(), count * sizeof(float));
    return name;
}

std::string ModelBuilder::integers(const std::string& name, const Dims& values)
{
    addInitializer(name, TensorProto::INT64, {static_cast<int64_t>(values.size())})
        .set_raw_data(values.data(), values.size() * sizeof(int64_t));
    return name;
}

std::string ModelBuilder::floats(const std::string& name, const std::vector<float>& values)
{
    addInitializer(name, TensorProto::FLOAT, {static_cast<int64_t>(values.size())})
        .set_raw_data(values.data(), values.size() * sizeof(float));
    return name;
}

std::string ModelBuilder::scalar(const std::string& name, float value)
{
    addInitializer(name, TensorProto::FLOAT, {}).set_raw_data(&value, sizeof value);
    return name;
}

std::string ModelBuilder::integer(const std::string& name, int64_t value)
{
    addInitializer(name, TensorProto::INT64, {}).set_raw_data(&value, sizeof value);
    return name;
}

std::string ModelBuilder::node(const std::string& op, const std::string& scope,
                               const std::vector<std::string>& inputs, const Attrs& attrs)
{
    return nodes(op, scope, inputs, attrs, 1).front();
}

std::vector<std::string> ModelBuilder::nodes(const std::string& op, const std::string& scope,
                                             const std::vector<std::string>& inputs,
                                             const Attrs& attrs, int outputs)
{
    auto& proto = *m_model.mutable_graph()->add_node();
    proto.set_op_type(op);
    proto.set_name(scope + "/" + op);
    for (const std::string& name : inputs) proto.add_input(name);
    for (int i = 0; i < outputs; ++i)
        proto.add_output(scope + "/" + op + "_output_" + std::to_string(i));
    for (const auto& [name, value] : attrs) setAttribute(*proto.add_attribute(), name, value);
    return {proto.output().begin(), proto.output().end()};
}

std::string ModelBuilder::conv(const std::string& scope, const std::string& x, const ConvSpec& spec)
{
    Dims shape = {spec.outputs, spec.inputs / spec.groups};
    shape.insert(shape.end(), spec.kernel.begin(), spec.kernel.end());
    int64_t fanIn = spec.inputs / spec.groups;
    Dims same;
    for (const int64_t extent : spec.kernel) {
        fanIn *= extent;
        same.push_back(extent / 2 * spec.dilation);
    }
    same.insert(same.end(), same.begin(), same.end());
    const double deviation = std::sqrt(2.0 / static_cast<double>(fanIn));
    std::vector<std::string> inputs = {x, weight(parameter(scope, "weight"), shape, deviation)};
    if (spec.hasBias) inputs.push_back(weight(parameter(scope, "bias"), {spec.outputs}, 0.1));
    const size_t rank = spec.kernel.size();
    return node("Conv", scope, inputs,
                {{"dilations", Dims(rank, spec.dilation)},
                 {"group", spec.groups},
                 {"kernel_shape", spec.kernel},
                 {"pads", spec.pads.empty() ? same : spec.pads},
                 {"strides", spec.strides.empty() ? Dims(rank, spec.stride) : spec.strides}});
}

std::string ModelBuilder::batchNorm(const std::string& scope, const std::string& x,
                                    int64_t channels)
{
    const std::vector<std::string> inputs = {
        x, weight(parameter(scope, "weight"), {channels}, 0.1, 1),
        weight(parameter(scope, "bias"), {channels}, 0.1),
        weight(parameter(scope, "running_mean"), {channels}, 0.1),
        weight(parameter(scope, "running_var"), {channels}, 0.1, 1)};
    return node("BatchNormalization", scope, inputs, {{"epsilon", 1e-5f}, {"momentum", 0.9f}});
}

std::string ModelBuilder::relu(const std::string& scope, const std::string& x)
{
    return node("Relu", scope, {x});
}

std::string ModelBuilder::relu6(const std::string& scope, const std::string& x)
{
    return node("Clip", scope,
                {x, scalar(parameter(scope, "min"), 0), scalar(parameter(scope, "max"), 6)});
}

std::string ModelBuilder::convBnRelu(const std::string& scope, const std::string& x,
                                     const ConvSpec& spec)
{
    const std::string y = conv(scope + "/conv", x, spec);
    return relu(scope + "/act", batchNorm(scope + "/bn", y, spec.outputs));
}

std::string ModelBuilder::dense(const std::string& scope, const std::string& x, int64_t inputs,
                                int64_t outputs)
{
    const double deviation = std::sqrt(1.0 / static_cast<double>(inputs));
    return node("Gemm", scope,
                {x, weight(parameter(scope, "weight"), {outputs, inputs}, deviation),
                 weight(parameter(scope, "bias"), {outputs}, 0.1)},
                {{"alpha", 1.0f}, {"beta", 1.0f}, {"transB", int64_t{1}}});
}

std::string ModelBuilder::classifier(const std::string& x, int64_t channels, int64_t classes)
{
    const std::string pooled = node("GlobalAveragePool", "/avgpool", {x});
    const std::string flat = node("Flatten", "/flatten", {pooled}, {{"axis", int64_t{1}}});
    return dense("/fc", flat, channels, classes);
}

} // namespace tenon::test
