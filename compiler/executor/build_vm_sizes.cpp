// SPDX-License-Identifier: Apache-2.0
// Sizes of a VM program: where they are read from, what is checked of them, and the order of nodes
// in which they are known before they are used.
#include "compiler/executor/vm_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/kernel_sizes.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"
#include "core/tensor/dim_products.h"
#include "runtime/include/tenon/vm_code.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

bool definesSizes(const NodeRecord& node) { return isOp(node, bindDimsOp) || !node.bodies.empty(); }

std::vector<std::string> definedSizes(const NodeRecord& node)
{
    if (isOp(node, bindDimsOp)) return node.attrs.strings("names", {});
    std::vector<std::string> out;
    for (const TensorType& type : node.types)
        for (const Dim& dim : type.shape)
            for (std::string& symbol : dim.symbols()) out.push_back(std::move(symbol));
    return out;
}

bool isSymbol(const Dim& dim) { return !dim.isConst() && dim == Dim::symbol(dim.text()); }

} // namespace

Diagnostic errorAt(const NodeRecord& node, DiagnosticCode code, std::string message)
{
    return makeError(code, std::move(message), {.node = node.name, .op = node.op});
}

/// Sizes that the shapes of values tell, and checks of those that are known already.
void VmBuilder::learnSizes(const std::vector<NodeId>& values, const std::string& what)
{
    for (const NodeId id : values) learnFrom({id, 0});
    for (const NodeId id : values) checkSizes({id, 0}, what + quoted(m_module.node(id).name));
}

void VmBuilder::learnFrom(ValueRef value)
{
    const Shape& shape = m_module.type(value).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (!isSymbol(shape[axis]) || m_writer.knows(shape[axis])) continue;
        m_writer.define(shape[axis].text(), extentOf(value, axis));
        m_learned.insert({value, axis});
    }
}

int64_t VmBuilder::extentOf(ValueRef value, size_t axis)
{
    const int64_t out = m_writer.newScalar();
    m_writer.emit({kTenonVmExtent, out, m_registers.at(value), static_cast<int64_t>(axis)});
    return out;
}

void VmBuilder::checkSizes(ValueRef value, const std::string& what)
{
    const Shape& shape = m_module.type(value).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const Dim& dim = shape[axis];
        if (dim.isConst() || m_learned.contains({value, axis}) || !m_writer.knows(dim)) continue;
        const int64_t wanted = m_writer.size(dim);
        const int64_t text = m_writer.text(what + ": dimension " + std::to_string(axis) +
                                           " is not " + quoted(dim.text()));
        m_writer.emit({kTenonVmExpect, kTenonVmEqual, extentOf(value, axis), wanted, text});
    }
}

/// Memory and kernels hold for sizes within the bounds only.
void VmBuilder::checkBounds(const std::vector<NodeId>& params)
{
    for (const NodeId id : params) {
        const NodeRecord& param = m_module.node(id);
        const Shape& shape = param.types[0].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const auto bounds = m_bounds.find(shape[axis].text());
            if (shape[axis].isConst() || bounds == m_bounds.end() ||
                !m_learned.contains({{id, 0}, axis}))
                continue;
            const int64_t text =
                m_writer.text("input " + quoted(param.name) + ": dimension " +
                              std::to_string(axis) + " (" + quoted(shape[axis].text()) + ")");
            m_writer.emit({kTenonVmWithin, m_writer.size(shape[axis]),
                           m_writer.constantScalar(bounds->second.low),
                           m_writer.constantScalar(bounds->second.high), text});
        }
    }
}

void VmBuilder::addCheck(const SizeCheck& check)
{
    const std::string axis = check.axis < 0 ? "" : " of axis " + std::to_string(check.axis);
    const std::string pair =
        "sizes " + check.a.text() + " and " + check.b.text() + axis + " must be ";
    const auto emit = [&](int64_t relation, const std::string& what) {
        const int64_t a = m_writer.size(check.a), b = m_writer.size(check.b);
        m_writer.emit({kTenonVmExpect, relation, a, b, m_writer.text(pair + what)});
    };
    switch (check.relation) {
    case SizeCheck::Equal: return emit(kTenonVmEqual, "equal");
    case SizeCheck::OneOrEqual: return emit(kTenonVmOneOrEqual, "equal, or the first 1");
    case SizeCheck::AtMost: return emit(kTenonVmLessEqual, "in this order");
    case SizeCheck::AtMostOf:
        m_writer.emit({kTenonVmExpect, kTenonVmLessEqual, m_writer.size(check.a),
                       m_writer.size(check.b),
                       m_writer.text("indices choose from an axis that has no elements")});
        return;
    }
}

/// What the typing took to fit.
void VmBuilder::checkMembers(const GraphFunction& kernel)
{
    for (const NodeId id : kernel.order)
        for (const SizeCheck& check : sizeChecks(m_module, m_module.node(id))) addCheck(check);
}

/// Nodes in an order in which sizes are known before they are used.
Result<std::vector<NodeId>> VmBuilder::orderOf(const GraphFunction& function)
{
    std::vector<NodeId> order;
    std::unordered_set<NodeId> waiting(function.order.begin(), function.order.end());
    std::vector<NodeId> pending = function.order;
    std::set<std::string> known;
    const auto hasOperands = [&](const NodeRecord& node) {
        return std::none_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
            return operand.node.isValid() && waiting.contains(operand.node);
        });
    };
    while (!pending.empty()) {
        std::vector<NodeId> later;
        for (const NodeId id : pending) {
            const NodeRecord& node = m_module.node(id);
            if (!hasOperands(node) || !isReady(node, known)) {
                later.push_back(id);
                continue;
            }
            order.push_back(id);
            waiting.erase(id);
            if (definesSizes(node))
                for (const std::string& symbol : definedSizes(node)) known.insert(symbol);
        }
        if (later.size() == pending.size()) {
            const NodeRecord& node = m_module.node(later.front());
            return errorAt(node, DiagnosticCode::DynamicShape,
                           "a size of " + (node.types.empty() ? "it" : node.types[0].text()) +
                               " is never computed; bind the model's input shapes");
        }
        pending = std::move(later);
    }
    return order;
}

bool VmBuilder::isReady(const NodeRecord& node, const std::set<std::string>& known) const
{
    if (definesSizes(node)) return true;
    if (node.callee.isValid())
        for (const std::string& symbol : kernelSizes(m_module, m_module.function(node.callee)))
            if (!areKnown(Dim::symbol(symbol), known)) return false;
    for (const TensorType& type : node.types)
        for (const Dim& dim : type.shape)
            if (!areKnown(dim, known)) return false;
    return true;
}

bool VmBuilder::areKnown(const Dim& dim, const std::set<std::string>& known) const
{
    for (const std::string& symbol : dim.symbols()) {
        if (known.contains(symbol) || m_writer.knows(Dim::symbol(symbol))) continue;
        const auto operation = operationOf(symbol);
        if (!operation || !areKnown(operation->a, known) || !areKnown(operation->b, known))
            return false;
    }
    return true;
}

} // namespace tenon::compiler
