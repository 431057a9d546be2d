// SPDX-License-Identifier: Apache-2.0
// Reads of a node's operands and constants, and the writer of patches.
#include "compiler/passes/rewrite.h"

#include <algorithm>

namespace tenon::compiler {

PatchWriter::PatchWriter(const Module& module, FunctionId function, std::string rule,
                         std::string reason, std::vector<NodeId> from)
    : m_module(module)
{
    m_patch.rule = std::move(rule);
    m_patch.reason = std::move(reason);
    m_patch.function = function;
    m_patch.from = std::move(from);
}

ValueRef PatchWriter::op(const OpDef& op, std::vector<ValueRef> operands, Attrs attrs)
{
    m_patch.nodes.push_back(
        newOpNode(m_module, std::string(op.name), std::move(operands), std::move(attrs)));
    return {m_patch.nodes.back().id, 0};
}

ValueRef PatchWriter::opOn(const NodeRecord& node, ValueRef first)
{
    std::vector<ValueRef> operands = node.operands;
    operands[0] = first;
    return op(factsOf(node), std::move(operands), node.attrs);
}

ValueRef PatchWriter::constant(Tensor value, std::string name)
{
    m_patch.nodes.push_back(newConstantNode(m_module, std::move(value), std::move(name)));
    return {m_patch.nodes.back().id, 0};
}

ValueRef PatchWriter::filled(float value, const Shape& shape)
{
    std::vector<std::string> sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.text());
    return op(fullOp, {constant(Tensor::of<float>(kFloat32, {}, {value}))},
              {{"shape", std::vector<int64_t>{}}, {"sizes", sizes}});
}

ValueRef PatchWriter::reshapedConstant(ValueRef value, std::vector<int64_t> shape,
                                       const UseIndex& uses)
{
    NodeRecord node = m_module.node(value.node);
    Tensor reshaped = node.constant->reshaped(std::move(shape));
    if (!uses.hasOneUser(value.node)) return constant(std::move(reshaped), node.name);
    node.types = {{reshaped.dtype(), makeShape(reshaped.shape())}};
    node.constant = std::make_shared<const Tensor>(std::move(reshaped));
    m_patch.from.insert(m_patch.from.begin(), value.node);
    change(std::move(node));
    return value;
}

void PatchWriter::change(NodeRecord record)
{
    // What control flow gives is a promise of its bodies, which no rule derives from operands.
    if (record.types.empty() && !record.bodies.empty())
        record.types = m_module.node(record.id).types;
    m_patch.nodes.push_back(std::move(record));
}

void PatchWriter::replaceAndErase(NodeId id, ValueRef to)
{
    replace({id, 0}, to);
    erase(id);
}

const NodeRecord* operatorBehind(const Module& module, const UseIndex& uses, ValueRef value,
                                 const OpDef& op, size_t readers)
{
    if (!value.node.isValid()) return nullptr;
    const NodeRecord& node = module.node(value.node);
    const bool fits =
        isOp(node, op) && !uses.isResult(node.id) && uses.users(node.id).size() == readers;
    return fits ? &node : nullptr;
}

const Tensor* constantOf(const Module& module, ValueRef value)
{
    if (!value.node.isValid()) return nullptr;
    const NodePtr& node = module.findNode(value.node);
    return node && node->kind == NodeKind::Constant ? node->constant.get() : nullptr;
}

std::optional<double> scalarOf(const Module& module, ValueRef value)
{
    const Tensor* tensor = constantOf(module, value);
    if (!tensor || tensor->size() != 1) return std::nullopt;
    return tensor->number(0);
}

bool isElementwise(const OpDef& op)
{
    return op.pattern <= Pattern::Broadcast &&
           std::none_of(op.attrs.begin(), op.attrs.end(),
                        [](const AttrSpec& attr) { return attr.name == "axis"; });
}

bool convertsByOneScale(const Module& module, const NodeRecord& node)
{
    if (!isOneOf(node, qnnQuantizeOp, qnnDequantizeOp)) return false;
    return std::all_of(node.operands.begin() + 1, node.operands.end(), [&](ValueRef operand) {
        const auto shape = knownShape(module, operand);
        return !operand.node.isValid() || (shape && elementCount(*shape) == 1);
    });
}

std::optional<std::vector<int64_t>> knownShape(const Module& module, ValueRef value)
{
    if (!value.node.isValid()) return std::nullopt;
    const NodePtr& node = module.findNode(value.node);
    if (!node || value.index >= node->types.size()) return std::nullopt;
    return constantShape(node->types[value.index].shape);
}

std::string nodeLabel(const Module& module, const NodeRecord& node)
{
    if (!node.name.empty()) return node.name;
    const std::string what = node.kind == NodeKind::Constant ? "constant"
                             : node.op.empty()               ? "node"
                                                             : node.op;
    for (const SourceId source : node.origin)
        if (source.value < module.sources().size() && !module.sources()[source.value].name.empty())
            return what + " of " + module.sources()[source.value].name;
    return what;
}

int64_t normalizedAxis(int64_t axis, size_t rank)
{
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

} // namespace tenon::compiler
