// SPDX-License-Identifier: Apache-2.0
// Parts of a dequantized tensor are dequantized parts of its integers.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {

std::optional<Patch> splitIntegers(const QuantizationSite& site, const NodeRecord& node)
{
    if (!isOp(node, splitOp) || site.uses.isResult(node.id)) return std::nullopt;
    const auto data = readDequantized(site, node.operands[0]);
    if (!data || !isByte(*data) || !data->isPerTensor()) return std::nullopt;
    const NodeRecord& dequantize = site.module.node(node.operands[0].node);
    PatchWriter patch(site.module, site.function.id, "move-integers",
                      nodeLabel(site.module, node) + " moves integers as well", {node.id});
    const ValueRef parts = patch.opOn(node, data->integers);
    for (uint32_t i = 0; i < node.resultCount(); ++i)
        patch.replace({node.id, i}, patch.opOn(dequantize, {parts.node, i}));
    patch.erase(node.id);
    return patch.take();
}

} // namespace tenon::compiler
