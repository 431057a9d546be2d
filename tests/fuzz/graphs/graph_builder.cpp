// SPDX-License-Identifier: Apache-2.0
// Values, nodes, and the model around them.
#include "tests/fuzz/graphs/graph_builder.h"

#include "core/tensor/onnx_types.h"

#include <algorithm>

namespace tenon::test {

using core::DataType;
using core::kFloat32;
using core::kInt64;
using core::Tensor;
using tenon_onnx::TensorProto;

namespace {

void declare(tenon_onnx::ValueInfoProto& info, const GraphValue& value)
{
    info.set_name(value.name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(core::onnxTypeOf(value.dtype));
    auto& shape = *type.mutable_shape();
    for (const int64_t dim : value.shape)
        if (dim >= 0)
            shape.add_dim()->set_dim_value(dim);
        else
            shape.add_dim();
}

bool hasKnownShape(const GraphValue& value)
{
    return std::all_of(value.shape.begin(), value.shape.end(),
                       [](int64_t dim) { return dim >= 0; });
}

} // namespace

GraphBuilder::GraphBuilder(uint64_t seed)
    : m_random(seed)
{
    static constexpr int kOpsets[] = {13, 17, 18, 20, 21, 23, 24};
    m_opset = kOpsets[pick(0, 6)];
    m_graph.model.set_ir_version(m_opset < 21 ? 8 : 10);
    m_graph.model.add_opset_import()->set_version(m_opset);
    graph().set_name("random");
}

int64_t GraphBuilder::pick(int64_t low, int64_t high)
{
    return low + static_cast<int64_t>(m_random() % static_cast<uint64_t>(high - low + 1));
}

GraphValue GraphBuilder::anyValue()
{
    std::vector<size_t> floats;
    for (size_t i = 0; i < m_values.size(); ++i)
        if (m_values[i].dtype == kFloat32 && hasKnownShape(m_values[i])) floats.push_back(i);
    // Mostly what is new, so that graphs become deep.
    const auto count = static_cast<int64_t>(floats.size());
    const int64_t at = chance(60) ? count - 1 : pick(0, count - 1);
    return m_values[floats[static_cast<size_t>(at)]];
}

GraphValue GraphBuilder::valueOfRank(size_t rank)
{
    for (int tries = 0; tries < 8; ++tries)
        if (const GraphValue value = anyValue(); value.shape.size() == rank) return value;
    Dims shape;
    for (size_t i = 0; i < rank; ++i) shape.push_back(pick(1, 9));
    return addInput(shape);
}

GraphValue GraphBuilder::exactValue()
{
    const GraphValue value = anyValue();
    return value.isExact ? value : addInput(value.shape);
}

GraphValue GraphBuilder::addInput(Dims shape, DataType dtype)
{
    GraphValue value{"x" + std::to_string(m_graph.inputs.size()), dtype, std::move(shape)};
    declare(*graph().add_input(), value);
    const int64_t low = dtype.isBool() || dtype.kind == core::DtypeKind::UInt ? 0 : -40;
    const int64_t high = dtype.isBool() ? 1 : 40;
    m_graph.inputs.emplace_back(
        value.name, Tensor::make(dtype, value.shape, [&](std::span<std::byte> bytes) {
            for (int64_t i = 0; i < core::elementCount(value.shape); ++i)
                if (dtype.isFloat())
                    core::storeNumber(dtype, bytes, i,
                                      static_cast<double>(pick(-2000, 2000)) / 997);
                else
                    core::storeInteger(dtype, bytes, i, pick(low, high));
        }));
    m_values.push_back(value);
    return value;
}

GraphValue GraphBuilder::addWhole(DataType dtype, Dims shape, int64_t low, int64_t high)
{
    GraphValue value{newName(), dtype, std::move(shape)};
    const Tensor data = Tensor::make(dtype, value.shape, [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < core::elementCount(value.shape); ++i)
            if (dtype.isFloat())
                core::storeNumber(dtype, bytes, i, static_cast<double>(pick(low, high)));
            else
                core::storeInteger(dtype, bytes, i, pick(low, high));
    });
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(value.name);
    tensor.set_data_type(core::onnxTypeOf(dtype));
    for (const int64_t dim : value.shape) tensor.add_dims(dim);
    tensor.set_raw_data(data.bytes().data(), data.bytes().size());
    return value;
}

GraphValue GraphBuilder::cast(const GraphValue& value, DataType dtype)
{
    if (value.dtype == dtype) return value;
    setInt(applyTyped("Cast", {value}, dtype, value.shape, !dtype.isFloat() || dtype.bits > 16),
           "to", core::onnxTypeOf(dtype));
    return last();
}

GraphValue GraphBuilder::addConstant(Dims shape, double low, double high)
{
    GraphValue value{newName(), kFloat32, std::move(shape)};
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(value.name);
    tensor.set_data_type(TensorProto::FLOAT);
    for (const int64_t dim : value.shape) tensor.add_dims(dim);
    for (int64_t i = 0; i < core::elementCount(value.shape); ++i)
        tensor.add_float_data(
            static_cast<float>(low + (high - low) * static_cast<double>(pick(0, 1000)) / 1000));
    return value;
}

GraphValue GraphBuilder::addIntegers(const std::vector<int64_t>& values, bool isScalar)
{
    GraphValue value{newName(), kInt64, {}};
    if (!isScalar) value.shape = {static_cast<int64_t>(values.size())};
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(value.name);
    tensor.set_data_type(TensorProto::INT64);
    for (const int64_t dim : value.shape) tensor.add_dims(dim);
    for (const int64_t number : values) tensor.add_int64_data(number);
    return value;
}

tenon_onnx::NodeProto& GraphBuilder::addNode(const std::string& op,
                                             const std::vector<GraphValue>& inputs,
                                             const std::vector<std::string>& outputs)
{
    tenon_onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(op + "_" + std::to_string(graph().node_size()));
    for (const GraphValue& input : inputs) node.add_input(input.name);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
}

tenon_onnx::NodeProto& GraphBuilder::apply(const std::string& op,
                                           const std::vector<GraphValue>& inputs, Dims shape,
                                           bool isExact)
{
    return applyTyped(op, inputs, kFloat32, std::move(shape), isExact);
}

tenon_onnx::NodeProto& GraphBuilder::applyTyped(const std::string& op,
                                                const std::vector<GraphValue>& inputs,
                                                DataType dtype, Dims shape, bool isExact)
{
    const bool areExact = std::all_of(inputs.begin(), inputs.end(),
                                      [](const GraphValue& value) { return value.isExact; });
    GraphValue value{newName(), dtype, std::move(shape), isExact && areExact};
    tenon_onnx::NodeProto& node = addNode(op, inputs, {value.name});
    m_values.push_back(std::move(value));
    return node;
}

RandomGraph GraphBuilder::finish()
{
    // What nothing reads is an output.
    std::vector<std::string> read;
    for (const auto& node : graph().node())
        read.insert(read.end(), node.input().begin(), node.input().end());
    for (const GraphValue& value : m_values) {
        const bool isInput = value.name[0] == 'x';
        const bool isRead = std::find(read.begin(), read.end(), value.name) != read.end();
        if (!isInput && !isRead) declare(*graph().add_output(), value);
    }
    return std::move(m_graph);
}

RandomGraph makeRandomGraph(uint64_t seed)
{
    GraphBuilder builder(seed);
    Dims shape;
    for (int64_t i = builder.pick(1, 4); i > 0; --i) shape.push_back(builder.pick(1, 9));
    builder.addInput(shape);
    for (int64_t count = builder.pick(2, 10); count > 0; --count) addRandomNode(builder);
    // Kinds that do not fit the values at hand add nothing.
    while (!builder.hasNodes()) addRandomNode(builder);
    return builder.finish();
}

RandomGraph makeRandomImageGraph(uint64_t seed)
{
    GraphBuilder builder(seed);
    builder.addInput({1, 3, builder.pick(3, 15), builder.pick(3, 15)});
    for (int64_t count = builder.pick(2, 6); count > 0; --count) addImageNode(builder);
    while (!builder.hasNodes()) addImageNode(builder);
    return builder.finish();
}

} // namespace tenon::test
