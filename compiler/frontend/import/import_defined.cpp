// SPDX-License-Identifier: Apache-2.0
// Nodes of operators that the user declares.
#include "compiler/frontend/import/graph_import.h"
#include "compiler/frontend/operator_table.h"

namespace tenon::compiler {

Attrs attrsOf(const Definition& definition)
{
    return {{std::string(kOperatorAttr), definition.name},
            {std::string(kDefinitionAttr), definition.text}};
}

void importDefined(NodeImport& node, const Definition& definition, Attrs attrs)
{
    if (node.outputCount() > definition.results.size())
        return node.fail(DiagnosticCode::BadModel, "the node has " +
                                                       std::to_string(node.outputCount()) +
                                                       " outputs; the definition gives " +
                                                       std::to_string(definition.results.size()));
    std::vector<ValueRef> operands;
    for (size_t i = 0; i < node.inputCount(); ++i) operands.push_back(node.input(i));
    const ValueRef first = node.emit(std::string(userOperatorName(definition.kind())),
                                     std::move(operands), std::move(attrs));
    if (node.hasFailed()) return;
    for (uint32_t i = 0; i < node.outputCount(); ++i)
        if (node.usesOutput(i)) node.output(i, {first.node, i});
}

} // namespace tenon::compiler
