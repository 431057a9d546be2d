// SPDX-License-Identifier: Apache-2.0
// Values, nodes, and elementwise arithmetic by IEEE 754; compiled without contraction. Of halves,
// binary32 has more than twice the digits, so that rounding its results once more is right.
#include "tests/fuzz/steps/step_model.h"

#include "compiler/evaluate/scalar_math.h"

#include <algorithm>
#include <cmath>

namespace tenon::test {

using tenon_onnx::AttributeProto;
using tenon_onnx::NodeProto;

namespace {

AttributeProto& addAttr(NodeProto& node, const std::string& name,
                        AttributeProto::AttributeType type)
{
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(type);
    return attr;
}

void declare(tenon_onnx::ValueInfoProto& info, const StepValue& value)
{
    info.set_name(value.name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(core::onnxTypeOf(value.dtype()));
    auto& shape = *type.mutable_shape();
    for (const int64_t dim : value.shape()) shape.add_dim()->set_dim_value(dim);
}

template <class T>
T binary(const std::string& op, T a, T b)
{
    if (op == "Add") return a + b;
    if (op == "Sub") return a - b;
    if (op == "Mul") return a * b;
    if (op == "Div") return a / b;
    if (op == "Max") return a > b ? a : b;
    if (op == "Min") return a < b ? a : b;
    if (op == "Pow") return a * a; // by 2 only
    CHECK(op == "Mod") << op;
    return std::fmod(a, b);
}

template <class T>
T unary(const std::string& op, T x)
{
    if (op == "Sqrt") return std::sqrt(x);
    if (op == "Reciprocal") return 1 / x;
    if (op == "Neg") return -x;
    if (op == "Abs") return std::fabs(x);
    if (op == "Relu") return x > 0 ? x : T(0);
    if (op == "Floor") return std::floor(x);
    if (op == "Ceil") return std::ceil(x);
    if (op == "Round") return std::nearbyint(x);
    CHECK(op == "Sign") << op;
    return static_cast<T>((x > 0) - (x < 0));
}

} // namespace

void setInt(NodeProto& node, const std::string& name, int64_t value)
{
    addAttr(node, name, AttributeProto::INT).set_i(value);
}

void setInts(NodeProto& node, const std::string& name, const Dims& values)
{
    AttributeProto& attr = addAttr(node, name, AttributeProto::INTS);
    for (const int64_t value : values) attr.add_ints(value);
}

void setFloat(NodeProto& node, const std::string& name, double value)
{
    addAttr(node, name, AttributeProto::FLOAT).set_f(static_cast<float>(value));
}

void setText(NodeProto& node, const std::string& name, const std::string& value)
{
    addAttr(node, name, AttributeProto::STRING).set_s(value);
}

double inType(DataType dtype, double value) { return compiler::rounded(dtype, value); }

Tensor tensorOf(DataType dtype, Dims shape, const Numbers& values)
{
    return Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> bytes) {
        for (size_t i = 0; i < values.size(); ++i) {
            const auto at = static_cast<int64_t>(i);
            if (dtype.isFloat())
                core::storeNumber(dtype, bytes, at, values[i]);
            else
                core::storeInteger(dtype, bytes, at, static_cast<int64_t>(values[i]));
        }
    });
}

StepModel::StepModel(uint64_t seed)
    : m_random(seed)
{
    model.set_ir_version(8);
    model.add_opset_import()->set_version(18);
    model.mutable_graph()->set_name("steps");
}

int64_t StepModel::pick(int64_t low, int64_t high)
{
    return low + static_cast<int64_t>(m_random() % static_cast<uint64_t>(high - low + 1));
}

double StepModel::uniform(double low, double high)
{
    return low + (high - low) * static_cast<double>(m_random() >> 11) * 0x1p-53;
}

StepValue StepModel::input(const Tensor& tensor)
{
    inputs.push_back({"x" + std::to_string(inputs.size()), tensor});
    declare(*model.mutable_graph()->add_input(), inputs.back());
    return inputs.back();
}

StepValue StepModel::constant(const Tensor& tensor)
{
    StepValue value{newName(), tensor};
    tenon_onnx::TensorProto& proto = *model.mutable_graph()->add_initializer();
    proto.set_name(value.name);
    proto.set_data_type(core::onnxTypeOf(tensor.dtype()));
    for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
    proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
    return value;
}

StepValue StepModel::scalar(DataType dtype, double value)
{
    return constant(tensorOf(dtype, {}, {value}));
}

NodeProto& StepModel::node(const std::string& op, const std::vector<StepValue>& operands,
                           const std::vector<Tensor>& results)
{
    NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(op);
    node.set_name(op + "_" + std::to_string(model.graph().node_size()));
    for (const StepValue& operand : operands) node.add_input(operand.name);
    m_last.clear();
    for (const Tensor& result : results) {
        m_last.push_back({newName(), result});
        node.add_output(m_last.back().name);
    }
    return node;
}

void StepModel::output(const StepValue& value)
{
    declare(*model.mutable_graph()->add_output(), value);
    outputs.push_back(value);
    made.push_back(how);
}

StepValue apply(StepModel& m, const std::string& op, const StepValue& a)
{
    const bool isDouble = a.dtype() == core::kFloat64;
    Numbers out;
    for (const double x : a.tensor.numbers())
        out.push_back(isDouble ? unary<double>(op, x)
                               : inType(a.dtype(), static_cast<double>(
                                                       unary<float>(op, static_cast<float>(x)))));
    m.node(op, {a}, {tensorOf(a.dtype(), a.shape(), out)});
    return m.last();
}

StepValue apply(StepModel& m, const std::string& op, const StepValue& a, const StepValue& b)
{
    const bool isDouble = a.dtype() == core::kFloat64;
    const StepValue& wide = a.size() >= b.size() ? a : b;
    const Numbers left = a.tensor.numbers(), right = b.tensor.numbers();
    Numbers out;
    for (size_t i = 0; i < static_cast<size_t>(wide.size()); ++i) {
        const double x = left[i % left.size()], y = right[i % right.size()];
        out.push_back(isDouble ? binary<double>(op, x, y)
                               : inType(a.dtype(),
                                        static_cast<double>(binary<float>(op, static_cast<float>(x),
                                                                          static_cast<float>(y)))));
    }
    NodeProto& node = m.node(op, {a, b}, {tensorOf(a.dtype(), wide.shape(), out)});
    if (op == "Mod") setInt(node, "fmod", 1);
    return m.last();
}

} // namespace tenon::test
