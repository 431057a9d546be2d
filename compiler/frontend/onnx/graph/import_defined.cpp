// SPDX-License-Identifier: Apache-2.0
// The attributes of nodes whose operators the user declares.
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Attrs givenAttrs(OnnxNode& node, const Definition& definition)
{
    Attrs attrs = attrsOf(definition);
    for (const DeclaredAttr& attr : definition.attrs) {
        if (!node.hasAttr(attr.name)) continue; // its default, or an error of inference
        if (attr.type == "int")
            attrs.set(attr.name, node.integer(attr.name, 0));
        else if (attr.type == "float")
            attrs.set(attr.name, node.number(attr.name, 0));
        else
            attrs.set(attr.name, node.integers(attr.name, {}));
    }
    return attrs;
}

/// What the node says and the definition does not know.
std::string undeclaredAttr(const tenon_onnx::NodeProto& proto, const Definition& definition)
{
    for (const auto& attr : proto.attribute())
        if (!definition.findAttr(attr.name())) return attr.name();
    return {};
}

} // namespace

void OnnxGraph::importDefinedNode(OnnxNode& node, const Definition& definition)
{
    if (const std::string name = undeclaredAttr(node.proto(), definition); !name.empty())
        return node.fail(DiagnosticCode::BadAttribute,
                         "the definition declares no attribute " + quoted(name));
    importDefined(node, definition, givenAttrs(node, definition));
}

} // namespace tenon::compiler
