// SPDX-License-Identifier: Apache-2.0
// Names, constants, and turning.
#include "compiler/quantize/tflite_tensors.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/frontend/tflite/file/tensor_reader.h"
#include "compiler/frontend/tflite/picture_names.h"
#include "compiler/quantize/planes.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteTensors::fail(const std::string& what)
{
    if (!m_problem)
        m_problem = makeError(DiagnosticCode::UnsupportedOperator, what,
                              {.file = m_path,
                               .node = m_op ? nameOf(output()) : std::string(),
                               .op = m_op ? m_op->name : std::string()});
}

void TfliteTensors::declare(int64_t index, tenon_onnx::ValueInfoProto& info)
{
    info.set_name(nameOf(index));
    auto& type = *info.mutable_type()->mutable_tensor_type();
    const auto dtype = tfliteDataType(tensor(index).type);
    type.set_elem_type(dtype ? onnxTypeOf(*dtype) : 0);
    auto& shape = *type.mutable_shape(); // which a scalar has, too
    for (const int64_t dim : tensor(index).shape) shape.add_dim()->set_dim_value(dim);
    m_given.insert(index);
}

bool TfliteTensors::isConstant(int64_t index) const
{
    if (m_defined.contains(index)) return true;
    return index >= 0 && tensor(index).buffer < m_model.buffers.size() &&
           !m_model.buffers[tensor(index).buffer].empty();
}

void TfliteTensors::settle(int64_t index, const Tensor& value)
{
    m_given.erase(index);
    m_planes.erase(index);
    m_defined.insert_or_assign(index, value);
}

Tensor TfliteTensors::constantOf(int64_t index)
{
    if (const auto defined = m_defined.find(index); defined != m_defined.end())
        return defined->second;
    if (isConstant(index))
        if (auto value = readTfliteTensor(m_model, tensor(index))) return *std::move(value);
    fail(index < 0 ? "it lacks an input"
                   : "its input " + quoted(nameOf(index)) + " is no constant that can be read");
    return Tensor::of<float>(kFloat32, {1, 1, 1, 1}, std::vector<float>{0});
}

std::string TfliteTensors::add(const Tensor& value, const std::string& name)
{
    storeTensor(value, name, *m_out.mutable_graph()->add_initializer());
    return name;
}

std::string TfliteTensors::number(const std::string& leaf, float value)
{
    return add(Tensor::of<float>(kFloat32, {}, {value}), nameOf(output()) + "/" + leaf);
}

std::string TfliteTensors::integers(const std::string& leaf, const std::vector<int64_t>& values)
{
    return add(Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(values.size())}, values),
               nameOf(output()) + "/" + leaf);
}

NodeProto& TfliteTensors::node(const std::string& op, const std::vector<std::string>& inputs,
                               const std::string& result, const std::string& name)
{
    NodeProto& made = *m_into->add_node();
    made.set_op_type(op);
    made.set_name(name);
    for (const std::string& from : inputs) made.add_input(from);
    made.add_output(result);
    return made;
}

std::string TfliteTensors::inner(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::string& leaf)
{
    const std::string name = nameOf(output()) + "/" + leaf;
    node(op, inputs, name, name);
    return name;
}

void TfliteTensors::clip(const std::string& from, const std::string& result,
                         const std::string& name, float low, float high)
{
    const auto limit = [&](const char* leaf, float value) {
        return add(Tensor::of<float>(kFloat32, {}, {value}), name + "/" + leaf);
    };
    node("Clip", {from, limit("least", low), limit("greatest", high)}, result, name);
}

void TfliteTensors::apply(const std::string& from, const std::string& result,
                          const std::string& name, int activation)
{
    enum : int
    {
        kNone = 0,
        kRelu = 1,
        kReluOne = 2,
        kRelu6 = 3,
        kTanh = 4
    };
    if (activation == kNone)
        node("Identity", {from}, result, name);
    else if (activation == kRelu)
        node("Relu", {from}, result, name);
    else if (activation == kTanh)
        node("Tanh", {from}, result, name);
    else if (activation == kRelu6)
        clip(from, result, name, 0, 6);
    else if (activation == kReluOne)
        clip(from, result, name, -1, 1);
    else
        fail("its fused activation is not known");
}

std::string TfliteTensors::asGiven(int64_t index)
{
    const std::string& name = nameOf(index);
    if (!m_given.insert(index).second) return name;
    if (isConstant(index)) return add(constantOf(index), name);
    const auto planes = m_planes.find(index);
    if (planes == m_planes.end()) {
        fail("its input " + quoted(name) + " is computed by nobody");
        return name;
    }
    std::vector<int64_t> order{0, 2, 3};
    if (rankOf(index) == 5) order.push_back(4);
    order.push_back(1);
    setIntegers(node("Transpose", {planes->second}, name, name + "/channels_last"), "perm", order);
    return name;
}

std::string TfliteTensors::asPlanes(int64_t index)
{
    if (const auto known = m_planes.find(index); known != m_planes.end()) return known->second;
    const std::string name = channelsFirstName(nameOf(index));
    const bool isFilm = rankOf(index) == 5;
    if (isConstant(index) && !isFilm) {
        m_planes[index] = name;
        return add(planesOf(constantOf(index)), name);
    }
    const std::string given = asGiven(index);
    m_planes[index] = name;
    const auto last = static_cast<int64_t>(isFilm ? 4 : 3);
    std::vector<int64_t> order{0, last, 1, 2};
    if (isFilm) order.push_back(3);
    setIntegers(node("Transpose", {given}, name, nameOf(index) + "/channels_first"), "perm", order);
    return name;
}

std::string TfliteTensors::resultName(bool isPlanes)
{
    if (isPlanes) return m_planes[output()] = channelsFirstName(nameOf(output()));
    return given(output());
}

} // namespace tenon::compiler
