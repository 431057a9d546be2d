// SPDX-License-Identifier: Apache-2.0
// Attributes of ONNX nodes, one function per type.
#include "tests/fuzz/graphs/node_attributes.h"

namespace tenon::test {

using tenon_onnx::AttributeProto;

namespace {

AttributeProto& addAttr(tenon_onnx::NodeProto& node, const std::string& name,
                        AttributeProto::AttributeType type)
{
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(type);
    return attr;
}

} // namespace

void setInts(tenon_onnx::NodeProto& node, const std::string& name, const Dims& values)
{
    AttributeProto& attr = addAttr(node, name, AttributeProto::INTS);
    for (const int64_t value : values) attr.add_ints(value);
}

void setInt(tenon_onnx::NodeProto& node, const std::string& name, int64_t value)
{
    addAttr(node, name, AttributeProto::INT).set_i(value);
}

void setFloat(tenon_onnx::NodeProto& node, const std::string& name, double value)
{
    addAttr(node, name, AttributeProto::FLOAT).set_f(static_cast<float>(value));
}

void setText(tenon_onnx::NodeProto& node, const std::string& name, const std::string& value)
{
    addAttr(node, name, AttributeProto::STRING).set_s(value);
}

} // namespace tenon::test
