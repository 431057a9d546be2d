// SPDX-License-Identifier: Apache-2.0
// Nodes of operators that the user declares.
#include "compiler/frontend/onnx/import_graph.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

Attrs attrsOf(NodeImport& node, const Definition& definition)
{
    Attrs attrs{{std::string(kOperatorAttr), definition.name},
                {std::string(kDefinitionAttr), definition.text}};
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
    for (const auto& attr : proto.attribute()) {
        const bool isKnown =
            std::any_of(definition.attrs.begin(), definition.attrs.end(),
                        [&](const DeclaredAttr& declared) { return declared.name == attr.name(); });
        if (!isKnown) return attr.name();
    }
    return {};
}

} // namespace

void GraphImport::importDefined(const Definition& definition, NodeImport& node)
{
    if (const std::string name = undeclaredAttr(node.proto(), definition); !name.empty())
        return node.fail(DiagnosticCode::BadAttribute,
                         "the definition declares no attribute " + quoted(name));
    if (node.outputCount() > definition.results.size())
        return node.fail(DiagnosticCode::BadModel, "the node has " +
                                                       std::to_string(node.outputCount()) +
                                                       " outputs; the definition gives " +
                                                       std::to_string(definition.results.size()));
    std::vector<ValueRef> operands;
    for (size_t i = 0; i < node.inputCount(); ++i) operands.push_back(node.input(i));
    const ValueRef first = node.emit(std::string(userOperatorName(definition.kind())),
                                     std::move(operands), attrsOf(node, definition));
    if (node.hasFailed()) return;
    for (uint32_t i = 0; i < node.outputCount(); ++i)
        if (node.usesOutput(i)) node.output(i, {first.node, i});
}

} // namespace tenon::compiler
