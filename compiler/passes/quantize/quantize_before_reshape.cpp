// SPDX-License-Identifier: Apache-2.0
// Quantization, with the activations in front of it, moves before the reshape that stands behind a
// layer: of rows that a product of any rank became, or of the image of one row that a convolution
// along one axis is. What computes with integers then finds the layer next to it.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

/// A dense layer or a convolution, with its bias, that nothing else reads.
bool isLayerAlone(const QuantizationSite& site, ValueRef value)
{
    const auto behind = [&](ValueRef at, const OpDef& op) {
        return operatorBehind(site.module, site.uses, at, op);
    };
    for (const OpDef* sum : {&biasAddOp, &addOp})
        if (const NodeRecord* bias = behind(value, *sum))
            return isLayerAlone(site, bias->operands[0]) || isLayerAlone(site, bias->operands[1]);
    return behind(value, denseOp) || behind(value, conv2dOp) || behind(value, conv2dTransposeOp);
}

} // namespace

std::optional<Patch> quantizeBeforeReshape(const QuantizationSite& site, const NodeRecord& node)
{
    const auto target = readQuantize(site, node);
    if (!target || !target->input.node.isValid()) return std::nullopt;
    const NodeRecord& reshape = site.module.node(target->input.node);
    if (!isOneOf(reshape, reshapeOp, squeezeOp, expandDimsOp) ||
        !site.uses.hasOneUser(reshape.id) || !isLayerAlone(site, reshape.operands[0]))
        return std::nullopt;
    std::vector<NodeId> consumed = target->consumed;
    consumed.push_back(reshape.id);
    PatchWriter patch(site.module, site.function.id, "quantize-before-reshape",
                      nodeLabel(site.module, reshape) + " moves integers as well", consumed);
    ValueRef integers = reshape.operands[0];
    for (const NodeId id : target->consumed) integers = patch.opOn(site.module.node(id), integers);
    patch.replaceAndErase(node.id, patch.opOn(reshape, integers));
    for (const NodeId id : consumed)
        if (id != node.id) patch.erase(id);
    return patch.take();
}

} // namespace tenon::compiler
