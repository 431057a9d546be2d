// SPDX-License-Identifier: Apache-2.0
// Quantization of a layer that stays in floats moves behind the maximum of windows: it keeps order,
// so the greatest number becomes the greatest integer, and fewer are rounded.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

/// Windows that make fewer numbers of what they read: as many as one in so many.
int64_t shrinkageOf(const NodeRecord& node)
{
    if (!isOp(node, maxPool2dOp)) return 1;
    const std::vector<int64_t> strides = node.attrs.integers("strides", {1, 1});
    return strides.at(0) * strides.at(1);
}

/// A convolution of constant floats, with its bias and activation, that nothing else reads.
bool isRealLayer(const QuantizationSite& site, ValueRef value)
{
    const auto behind = [&](const OpDef& op) {
        return operatorBehind(site.module, site.uses, value, op);
    };
    for (const OpDef* op : {&reluOp, &clipOp})
        if (const NodeRecord* node = behind(*op)) return isRealLayer(site, node->operands[0]);
    for (const OpDef* sum : {&biasAddOp, &addOp})
        if (const NodeRecord* node = behind(*sum))
            return isRealLayer(site, node->operands[0]) || isRealLayer(site, node->operands[1]);
    const NodeRecord* layer = behind(conv2dOp);
    return layer && constantOf(site.module, layer->operands[1]);
}

/// A dequantization that was moved behind what reads its integers now.
bool isLeft(const QuantizationSite& site, NodeId id)
{
    return isOp(site.module.node(id), qnnDequantizeOp) && site.uses.users(id).empty() &&
           !site.uses.isResult(id);
}

/// What alone reads the results of a node; null where that is more, or nothing.
const NodeRecord* onlyReader(const QuantizationSite& site, NodeId id)
{
    const NodeRecord* found = nullptr;
    if (site.uses.isResult(id)) return nullptr;
    for (const NodeId user : site.uses.users(id)) {
        if (isLeft(site, user)) continue;
        if (found) return nullptr;
        found = &site.module.node(user);
    }
    return found;
}

} // namespace

double roundedBehindPool(const QuantizationSite& site, const NodeRecord& quantize)
{
    const NodeRecord* next = onlyReader(site, quantize.id);
    if (next && isOp(*next, qnnDequantizeOp)) next = onlyReader(site, next->id);
    return next ? 1.0 / static_cast<double>(shrinkageOf(*next)) : 1;
}

std::optional<Patch> quantizeBehindPool(const QuantizationSite& site, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || shrinkageOf(node) == 1) return std::nullopt;
    if (!node.operands[0].node.isValid()) return std::nullopt;
    const NodeRecord* quantize = &site.module.node(node.operands[0].node);
    if (!isOp(*quantize, qnnQuantizeOp) || onlyReader(site, quantize->id) != &node ||
        !isRealLayer(site, quantize->operands[0]))
        return std::nullopt;
    for (size_t i = 1; i < quantize->operands.size(); ++i) // one scale and zero point
        if (const ValueRef operand = quantize->operands[i];
            operand.node.isValid() && !scalarOf(site.module, operand))
            return std::nullopt;
    PatchWriter patch(site.module, site.function.id, "quantize-behind-pool",
                      nodeLabel(site.module, node) + " chooses floats that then are rounded",
                      {quantize->id, node.id});
    std::vector<ValueRef> operands = quantize->operands;
    operands[0] = patch.op(maxPool2dOp, {operands[0]}, node.attrs);
    patch.replaceAndErase(node.id, patch.op(qnnQuantizeOp, std::move(operands), quantize->attrs));
    for (const NodeId id : site.uses.users(quantize->id))
        if (id != node.id) patch.erase(id);
    patch.erase(quantize->id);
    return patch.take();
}

} // namespace tenon::compiler
