// SPDX-License-Identifier: Apache-2.0
// Typed access to the attributes of an ONNX node.
#include "compiler/frontend/onnx/graph/onnx_node.h"

#include "compiler/frontend/onnx/file/element_types.h"
#include "compiler/frontend/onnx/file/sparse_tensor.h"
#include "core/base/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tenon::compiler {
namespace {

using tenon_onnx::AttributeProto;

std::string_view attrTypeName(int type)
{
    switch (type) {
    case AttributeProto::FLOAT: return "a float";
    case AttributeProto::INT: return "an int";
    case AttributeProto::STRING: return "a string";
    case AttributeProto::TENSOR: return "a tensor";
    case AttributeProto::FLOATS: return "floats";
    case AttributeProto::INTS: return "ints";
    default: return "of another type";
    }
}

/// Files older than IR 2 carry no type; the field in use tells it.
int attrType(const AttributeProto& attr)
{
    if (attr.type() != AttributeProto::UNDEFINED) return attr.type();
    if (attr.has_f()) return AttributeProto::FLOAT;
    if (attr.has_i()) return AttributeProto::INT;
    if (attr.has_s()) return AttributeProto::STRING;
    if (attr.has_t()) return AttributeProto::TENSOR;
    if (attr.floats_size() > 0) return AttributeProto::FLOATS;
    if (attr.ints_size() > 0) return AttributeProto::INTS;
    return AttributeProto::UNDEFINED;
}

/// The double that a person wrote: 0.1f becomes 0.1; rounding back to float gives the same float.
double widened(float value)
{
    std::array<char, 32> text;
    const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
    double out = static_cast<double>(value);
    if (std::isfinite(value)) std::from_chars(text.data(), written.ptr, out);
    return out;
}

} // namespace

OnnxNode::OnnxNode(GraphState& state, const tenon_onnx::NodeProto& proto, SourceId source,
                   int64_t opset, TensorStorage storage)
    : NodeImport(state, source, proto.op_type(), {proto.input().begin(), proto.input().end()},
                 {proto.output().begin(), proto.output().end()})
    , m_proto(proto)
    , m_opset(opset)
    , m_storage(std::move(storage))
{
}

const AttributeProto* OnnxNode::findAttr(std::string_view name) const
{
    for (const AttributeProto& attr : m_proto.attribute())
        if (attr.name() == name) return &attr;
    return nullptr;
}

const AttributeProto* OnnxNode::typedAttr(std::string_view name, int type)
{
    const AttributeProto* attr = findAttr(name);
    if (!attr) return nullptr;
    if (attrType(*attr) == type) return attr;
    // An empty list is written without its field, so its type cannot be told in old files.
    if (attrType(*attr) == AttributeProto::UNDEFINED && attr->ref_attr_name().empty()) return attr;
    fail(DiagnosticCode::BadAttribute,
         "attribute " + quoted(name) + " must be " + std::string(attrTypeName(type)),
         std::string(name));
    return nullptr;
}

int64_t OnnxNode::integer(std::string_view name, int64_t fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::INT);
    return attr ? attr->i() : fallback;
}

double OnnxNode::number(std::string_view name, double fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::FLOAT);
    // ONNX keeps attributes in binary32, where 0.1 is not that of binary64.
    if (isTyped(0) && type(0).dtype == kFloat64)
        return static_cast<double>(attr ? attr->f() : static_cast<float>(fallback));
    return attr ? widened(attr->f()) : fallback;
}

std::string OnnxNode::string(std::string_view name, std::string_view fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::STRING);
    return attr ? attr->s() : std::string(fallback);
}

std::vector<int64_t> OnnxNode::integers(std::string_view name, std::vector<int64_t> fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::INTS);
    if (!attr) return fallback;
    return {attr->ints().begin(), attr->ints().end()};
}

std::vector<double> OnnxNode::numbers(std::string_view name, std::vector<double> fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::FLOATS);
    if (!attr) return fallback;
    std::vector<double> out;
    for (const float value : attr->floats()) out.push_back(widened(value));
    return out;
}

std::vector<std::string> OnnxNode::strings(std::string_view name, std::vector<std::string> fallback)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::STRINGS);
    if (!attr) return fallback;
    return {attr->strings().begin(), attr->strings().end()};
}

const tenon_onnx::GraphProto* OnnxNode::graphAttr(std::string_view name)
{
    const AttributeProto* attr = findAttr(name);
    if (attr && attr->has_g()) return &attr->g();
    fail(DiagnosticCode::BadAttribute, "attribute " + quoted(name) + " is no graph",
         std::string(name));
    return nullptr;
}

std::shared_ptr<const Tensor> OnnxNode::tensorAttr(std::string_view name)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::TENSOR);
    if (!attr) {
        fail(DiagnosticCode::BadAttribute, "attribute " + quoted(name) + " is missing",
             std::string(name));
        return nullptr;
    }
    auto tensor = readTensor(attr->t(), m_storage, notes());
    if (tensor) return std::make_shared<const Tensor>(std::move(*tensor));
    fail(tensor.error().code, tensor.error().message, std::string(name));
    return nullptr;
}

const NarrowType* OnnxNode::narrowAttr(std::string_view name)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::TENSOR);
    return attr ? narrowTypeOf(attr->t().data_type()) : nullptr;
}

std::shared_ptr<const Tensor> OnnxNode::sparseAttr(std::string_view name)
{
    const AttributeProto* attr = typedAttr(name, AttributeProto::SPARSE_TENSOR);
    if (!attr) return nullptr;
    auto tensor = readSparseTensor(attr->sparse_tensor(), m_storage, notes());
    if (tensor) return std::make_shared<const Tensor>(std::move(*tensor));
    fail(tensor.error().code, tensor.error().message, std::string(name));
    return nullptr;
}

} // namespace tenon::compiler
