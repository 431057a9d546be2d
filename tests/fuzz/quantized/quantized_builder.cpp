// SPDX-License-Identifier: Apache-2.0
// Values, scales and nodes of random quantized graphs.
#include "tests/fuzz/quantized/quantized_builder.h"

#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <cmath>

namespace tenon::test {

using core::DataType;
using tenon_onnx::NodeProto;

QuantizedBuilder::QuantizedBuilder(uint64_t seed)
    : m_random(seed)
{
    m_graph.opset = oneOf({13, 17, 18, 21});
    m_type = chance(50) ? core::kInt8 : core::kUInt8;
    m_mixesTypes = chance(20);
    m_hasWide = m_graph.opset == 21 && chance(30);
    m_graph.isCalibrated = chance(80);
}

int64_t QuantizedBuilder::pick(int64_t low, int64_t high)
{
    return low + static_cast<int64_t>(m_random() % static_cast<uint64_t>(high - low + 1));
}

double QuantizedBuilder::between(double low, double high)
{
    return low + (high - low) * std::ldexp(static_cast<double>(m_random() >> 11), -53);
}

double QuantizedBuilder::normal()
{
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += between(0, 1);
    return sum;
}

DataType QuantizedBuilder::anyType()
{
    if (m_hasWide && chance(30)) return chance(50) ? core::kInt16 : core::kUInt16;
    if (m_mixesTypes) return chance(50) ? core::kInt8 : core::kUInt8;
    return m_type;
}

Array QuantizedBuilder::randomNumbers(const Dims& shape)
{
    return arrayOf(shape, [&](int64_t) { return static_cast<float>(normal()); });
}

std::string QuantizedBuilder::constant(DataType dtype, Dims shape, std::vector<double> values)
{
    const std::string name = "c" + std::to_string(m_names++);
    if (dtype == core::kFloat32)
        for (double& value : values) value = static_cast<float>(value);
    GraphTensor& out = m_graph.tensors[name];
    out = {dtype, true, {std::move(shape), std::move(values)}, {}};
    out.range = out.exact;
    tenon_onnx::TensorProto& proto = m_graph.constants.emplace_back();
    proto.set_name(name);
    proto.set_data_type(core::onnxTypeOf(dtype));
    for (const int64_t dim : out.exact.shape) proto.add_dims(dim);
    const core::Tensor data = tensorOf(out);
    proto.set_raw_data(data.bytes().data(), data.bytes().size());
    return name;
}

std::string QuantizedBuilder::integers(const Dims& values)
{
    return constant(core::kInt64, {static_cast<int64_t>(values.size())},
                    {values.begin(), values.end()});
}

std::string QuantizedBuilder::add(NodeProto node, DataType dtype)
{
    const std::string name = (dtype == core::kFloat32 ? "r" : "q") + std::to_string(m_names++);
    node.set_name(node.op_type() + "_" + name);
    node.add_output(name);
    GraphTensor out{dtype, false, {}, {}};
    const bool isConstant = !node.input().empty() && tensor(node.input(0)).isConstant;
    for (const Numbers numbers : {Numbers::Exact, Numbers::Range}) {
        const bool isExact = numbers == Numbers::Exact;
        const auto operand = [&](const std::string& of) {
            const GraphTensor& value = tensor(of);
            return isExact ? &value.exact : &value.range;
        };
        (isExact ? out.exact : out.range) = evaluateNode(node, operand, dtype, numbers, isConstant);
    }
    m_graph.tensors[name] = std::move(out);
    m_graph.nodes.push_back(std::move(node));
    return name;
}

std::string QuantizedBuilder::apply(const std::string& op, const std::vector<std::string>& in,
                                    const Set& set)
{
    NodeProto node;
    node.set_op_type(op);
    for (const std::string& name : in) node.add_input(name);
    if (set) set(node);
    return add(std::move(node), core::kFloat32);
}

Grid QuantizedBuilder::fittingGrid(const Array& values)
{
    const DataType dtype = anyType();
    double low = 0, high = 0;
    for (const double value : values.data) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const double steps = std::ldexp(1.0, dtype.bits) - 1;
    const bool isSymmetric = dtype.isSigned() && chance(40);
    double scale = isSymmetric ? std::max(high, -low) / (steps - 1) * 2 : (high - low) / steps;
    if (chance(30)) scale *= between(0.7, 1); // the outermost values saturate
    if (!(scale > 1e-12)) scale = 1;
    scale = static_cast<float>(scale);
    const double least = dtype.isSigned() ? -(steps + 1) / 2 : 0;
    double zero =
        isSymmetric ? 0 : std::clamp(std::nearbyint(least - low / scale), least, least + steps);
    if (!m_graph.isCalibrated) {
        scale = static_cast<float>(scale * std::exp2(between(-14, 10)));
        zero = chance(30) ? least + (chance(50) ? steps : 0)
                          : std::nearbyint(between(least, least + steps));
    }
    const Dims one = chance(20) ? Dims{1} : Dims{}; // exporters write either
    return {dtype, scale, constant(core::kFloat32, one, {scale}), constant(dtype, one, {zero})};
}

std::string QuantizedBuilder::quantized(const std::string& real, const Grid* grid)
{
    const Grid by = grid ? *grid : fittingGrid(tensor(real).range);
    NodeProto node;
    node.set_op_type("QuantizeLinear");
    for (const std::string& name : {real, by.scaleName, by.zeroName}) node.add_input(name);
    const std::string out = add(std::move(node), by.dtype);
    m_grids[out] = by;
    m_graph.quantized.push_back(out);
    return out;
}

std::string QuantizedBuilder::quantizedLayer(const std::string& op, std::vector<std::string> in,
                                             const Set& set, const std::string& bias)
{
    NodeProto node;
    node.set_op_type(op);
    set(node);
    in.insert(in.end(), {"", ""}); // of the result: they follow from its values
    for (const std::string& name : in) node.add_input(name);
    if (!bias.empty()) node.add_input(bias);
    const auto range = [&](const std::string& of) { return &tensor(of).range; };
    const bool keepsWide = std::exchange(m_hasWide, false); // these operators know bytes only
    const Grid by = fittingGrid(evaluateNode(node, range, m_type, Numbers::Range, false));
    m_hasWide = keepsWide;
    node.set_input(6, by.scaleName);
    node.set_input(7, by.zeroName);
    const std::string out = add(std::move(node), by.dtype);
    m_grids[out] = by;
    m_graph.quantized.push_back(out);
    return out;
}

std::string QuantizedBuilder::dequantized(const std::string& quantized)
{
    const auto known = m_reals.find(quantized);
    if (known != m_reals.end() && chance(50)) return known->second;
    const Grid& by = m_grids.at(quantized);
    return m_reals[quantized] = apply("DequantizeLinear", {quantized, by.scaleName, by.zeroName});
}

std::string QuantizedBuilder::addInput(const Dims& shape)
{
    const std::string name = "x" + std::to_string(m_graph.inputs.size());
    m_graph.inputs.push_back(name);
    m_graph.tensors[name] = {core::kFloat32, false, randomNumbers(shape), randomNumbers(shape)};
    return quantized(name);
}

std::string QuantizedBuilder::tensorOfRank(size_t rank)
{
    std::vector<std::string> fitting;
    for (const std::string& name : m_graph.quantized)
        if (shape(name).size() == rank) fitting.push_back(name);
    if (!fitting.empty() && !chance(8)) {
        const auto last = static_cast<int64_t>(fitting.size()) - 1;
        return fitting[static_cast<size_t>(chance(65) ? last : pick(0, last))];
    }
    Dims shape{pick(1, 2)};
    if (rank == 2) shape.push_back(pick(1, 40));
    if (rank > 2) shape.push_back(oneOf<int64_t>({1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48}));
    while (shape.size() < rank) shape.push_back(pick(2, 12));
    return addInput(shape);
}

std::optional<std::string> QuantizedBuilder::another(const Dims& shape, const std::string& than)
{
    std::vector<std::string> fitting;
    for (const std::string& name : m_graph.quantized)
        if (name != than && this->shape(name) == shape) fitting.push_back(name);
    if (fitting.empty()) return std::nullopt;
    return fitting[static_cast<size_t>(pick(0, static_cast<int64_t>(fitting.size()) - 1))];
}

QuantizedBuilder::Weight QuantizedBuilder::weight(const Dims& shape, int64_t fanIn,
                                                  size_t channelAxis)
{
    const bool isPerChannel = chance(60);
    const bool isSigned = isPerChannel || chance(75);
    const bool isLifted = !isPerChannel && (!isSigned || chance(10));
    const DataType dtype = isSigned ? core::kInt8 : core::kUInt8;
    const int64_t inner =
        countOf({shape.begin() + static_cast<int64_t>(channelAxis) + 1, shape.end()});
    const auto channels = static_cast<size_t>(shape[channelAxis]);
    std::vector<double> spread(channels), most(isPerChannel ? channels : 1, 1e-6), zeros, values;
    for (double& factor : spread) factor = std::exp2(between(-1.5, 1));
    const auto channelOf = [&](size_t i) { return i / static_cast<size_t>(inner) % channels; };
    std::vector<double> real(static_cast<size_t>(countOf(shape)));
    for (size_t i = 0; i < real.size(); ++i) {
        real[i] = normal() * spread[channelOf(i)] / std::sqrt(static_cast<double>(fanIn));
        double& limit = most[isPerChannel ? channelOf(i) : 0];
        limit = std::max(limit, std::fabs(real[i]));
    }
    Weight out;
    for (const double limit : most) out.scales.push_back(static_cast<float>(limit / 127));
    const double zero = isLifted ? static_cast<double>(isSigned ? pick(-9, 9) : pick(110, 145)) : 0;
    const double low = isSigned ? -128 : 0;
    for (size_t i = 0; i < real.size(); ++i)
        values.push_back(
            std::clamp(std::nearbyint(real[i] / out.scales[isPerChannel ? channelOf(i) : 0]) + zero,
                       low, low + 255));
    const Dims parameters = isPerChannel ? Dims{shape[channelAxis]} : Dims{};
    out.integers = constant(dtype, shape, values);
    out.scale = constant(core::kFloat32, parameters, out.scales);
    out.zero = constant(dtype, parameters, std::vector<double>(most.size(), zero));
    return out;
}

std::string QuantizedBuilder::dequantized(const Weight& weight, size_t channelAxis)
{
    std::vector<std::string> operands{weight.integers, weight.scale};
    const std::vector<double>& zeros = tensor(weight.zero).exact.data;
    if (tensor(weight.integers).dtype == core::kUInt8 || zeros[0] != 0 || chance(60))
        operands.push_back(weight.zero);
    return apply("DequantizeLinear", operands, [&](NodeProto& node) {
        if (weight.scales.size() > 1 || !shape(weight.scale).empty())
            setInt(node, "axis", static_cast<int64_t>(channelAxis));
    });
}

} // namespace tenon::test
