// SPDX-License-Identifier: Apache-2.0
// Operator rules of the verifier; structure alone is checked in core.
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

namespace tenon::compiler {
namespace {

Diagnostic violation(const Module& module, const NodeRecord& node, const std::string& message)
{
    Location location;
    location.node = node.name;
    location.op = node.op;
    return makeError(DiagnosticCode::InvalidIr, message + ": " + printNode(module, node), location);
}

std::string typesText(const Types& types)
{
    std::vector<std::string> parts;
    for (const TensorType& type : types) parts.push_back(type.text());
    return join(parts, ", ");
}

bool takesCount(const OpDef& op, size_t count)
{
    size_t required = 0;
    bool isVariadic = false;
    for (const OperandSpec& spec : op.operands) {
        required += spec.arity == OperandSpec::Required;
        isVariadic |= spec.arity == OperandSpec::Variadic;
    }
    return count >= required && (isVariadic || count <= op.operands.size());
}

void verifyOp(const Module& module, const NodeRecord& node, std::vector<Diagnostic>& errors)
{
    if (!node.bodies.empty()) return;
    const OpDef* op = findOp(node.op);
    if (!op) return errors.push_back(violation(module, node, "unknown operator"));
    if (!takesCount(*op, node.operands.size()))
        return errors.push_back(violation(module, node,
                                          quoted(node.op) + " does not take " +
                                              std::to_string(node.operands.size()) + " operands"));
    const Result<Types> types = inferTypes(module, node);
    if (!types)
        errors.push_back(violation(module, node, types.error().message));
    else if (*types != node.types)
        errors.push_back(violation(module, node, "the type should be " + typesText(*types)));
}

} // namespace

std::vector<Diagnostic> verifyGraph(const Module& module)
{
    std::vector<Diagnostic> errors = verifyModule(module);
    if (!errors.empty()) return errors;
    for (const auto& [id, function] : module.functions())
        for (const NodeId nodeId : function->order)
            if (module.node(nodeId).kind == NodeKind::Op)
                verifyOp(module, module.node(nodeId), errors);
    return errors;
}

} // namespace tenon::compiler
