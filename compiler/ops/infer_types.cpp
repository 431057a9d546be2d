// SPDX-License-Identifier: Apache-2.0
// Types and costs of graph nodes by their operator definitions.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/op.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {

Types operandTypes(const Module& module, const NodeRecord& node)
{
    Types types;
    for (const ValueRef& operand : node.operands)
        types.push_back(operand.node.isValid() ? module.type(operand) : TensorType{kHandle, {}});
    return types;
}

namespace {

Result<Types> inferOp(const NodeRecord& node, const Types& operands)
{
    const OpDef* def = findOp(node.op);
    if (!def) {
        std::vector<std::string> names;
        for (const OpDef* op : allOps()) names.emplace_back(op->name);
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "there is no operator " + quoted(node.op) + "; the nearest are " +
                             join(nearestNames(node.op, names, 3), ", "));
    }
    if (const Status ok = checkOperands(*def, operands); !ok) return ok.error();
    if (const Status ok = checkAttrs(*def, node.attrs); !ok) return ok.error();
    return def->infer(OpView{node.op, node.attrs, operands, {}});
}

Types kernelResults(const tir::PrimFunc& kernel)
{
    Types types;
    for (size_t i = kernel.params.size() - kernel.outputCount; i < kernel.params.size(); ++i) {
        TensorType type{kernel.params[i]->dtype, {}};
        for (const tir::Expr& extent : kernel.params[i]->shape)
            type.shape.push_back(extent->kind == tir::ExprKind::IntImm
                                     ? Dim(extent->integer)
                                     : Dim::unknown(kernel.params[i]->name));
        types.push_back(std::move(type));
    }
    return types;
}

} // namespace

Result<Types> inferTypes(const Module& module, const NodeRecord& node)
{
    switch (node.kind) {
    case NodeKind::Parameter: return node.types.get();
    case NodeKind::Constant:
        return Types{{node.constant->dtype(), makeShape(node.constant->shape())}};
    case NodeKind::Call: {
        Types types;
        for (const ValueRef& result : module.function(node.callee).results)
            types.push_back(module.type(result));
        return types;
    }
    case NodeKind::CallTir: {
        const auto kernel = module.kernels().find(node.kernel);
        CHECK(kernel != module.kernels().end()) << node.kernel;
        // Symbolic extents are known to the node only.
        return node.types.empty() ? kernelResults(*kernel->second) : node.types.get();
    }
    case NodeKind::Op: break;
    }
    // What control flow gives is stated: its bodies were typed with its operands.
    if (!node.bodies.empty()) return node.types.get();
    Result<Types> types = inferOp(node, operandTypes(module, node));
    if (!types) {
        Location& location = types.error().location;
        if (location.node.empty()) location.node = node.name;
        if (location.node.empty()) location.node = "%" + std::to_string(node.id.value);
    }
    return types;
}

Cost costOf(const Module& module, const NodeRecord& node)
{
    const OpDef* def = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    if (!def || node.types.empty()) return {};
    const Types operands = operandTypes(module, node);
    const OpView view{node.op, node.attrs, operands, node.types};
    if (def->cost) return def->cost(view);
    return {elements(node.types[0]), bytesMoved(view)};
}

Result<te::Tensors> lowerOp(const OpView& op, const te::Tensors& in)
{
    const OpDef* def = findOp(op.op);
    CHECK(def) << op.op;
    for (const std::span<const TensorType> types : {op.operands, op.results})
        for (const TensorType& type : types)
            if (type.dtype != kHandle && !constantShape(type.shape))
                return opError(op, DiagnosticCode::DynamicShape,
                               "cannot be compiled for " + type.text() +
                                   "; give its symbolic dimensions values");
    return def->lower(op, in);
}

} // namespace tenon::compiler
