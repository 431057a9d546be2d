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

/// Filters of a layer that stays in floats are constants; before that is decided they may be
/// dequantized.
enum class Filters
{
    Floats,
    Undecided
};

bool areFilters(const QuantizationSite& site, ValueRef value, Filters filters)
{
    const NodeRecord* node = &site.module.node(value.node);
    if (filters == Filters::Undecided && isOp(*node, qnnDequantizeOp)) value = node->operands[0];
    return constantOf(site.module, value);
}

/// A convolution, with its bias and activation, that nothing else reads.
bool isRealLayer(const QuantizationSite& site, ValueRef value, Filters filters)
{
    const auto behind = [&](const OpDef& op) {
        return operatorBehind(site.module, site.uses, value, op);
    };
    const auto isBehind = [&](const NodeRecord& node, size_t operand) {
        return isRealLayer(site, node.operands[operand], filters);
    };
    for (const OpDef* op : {&reluOp, &clipOp})
        if (const NodeRecord* node = behind(*op)) return isBehind(*node, 0);
    for (const OpDef* sum : {&biasAddOp, &addOp})
        if (const NodeRecord* node = behind(*sum)) return isBehind(*node, 0) || isBehind(*node, 1);
    const NodeRecord* layer = behind(conv2dOp);
    return layer && areFilters(site, layer->operands[1], filters);
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

/// One scale and zero point.
bool isPerTensor(const QuantizationSite& site, const NodeRecord& quantize)
{
    for (size_t i = 1; i < quantize.operands.size(); ++i)
        if (const ValueRef operand = quantize.operands[i];
            operand.node.isValid() && !scalarOf(site.module, operand))
            return false;
    return true;
}

/// The maximum of windows behind which a layer's results may be rounded; null where there is none.
/// While the layer is undecided the maximum may yet read floats: it is moved before its turn comes.
const NodeRecord* poolBehind(const QuantizationSite& site, const NodeRecord& quantize,
                             Filters filters)
{
    const NodeRecord* next = onlyReader(site, quantize.id);
    if (next && filters == Filters::Undecided && isOp(*next, qnnDequantizeOp)) {
        next = onlyReader(site, next->id);
        if (next && site.uses.isResult(next->id)) return nullptr; // which stays where it is
    }
    const bool isPool = next && next->kind == NodeKind::Op && shrinkageOf(*next) > 1;
    return isPool && isPerTensor(site, quantize) && isRealLayer(site, quantize.operands[0], filters)
               ? next
               : nullptr;
}

} // namespace

double roundedBehindPool(const QuantizationSite& site, const NodeRecord& quantize)
{
    const NodeRecord* pool = poolBehind(site, quantize, Filters::Undecided);
    return pool ? 1.0 / static_cast<double>(shrinkageOf(*pool)) : 1;
}

std::optional<Patch> quantizeBehindPool(const QuantizationSite& site, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || shrinkageOf(node) == 1) return std::nullopt;
    if (!node.operands[0].node.isValid()) return std::nullopt;
    const NodeRecord* quantize = &site.module.node(node.operands[0].node);
    if (!isOp(*quantize, qnnQuantizeOp) || poolBehind(site, *quantize, Filters::Floats) != &node)
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
