// SPDX-License-Identifier: Apache-2.0
// Means of quantized tensors over whole planes and other axes.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_bounds.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

/// Axes that a mean runs over and whether it keeps them; nothing for windows that are no plane.
struct MeanAxes
{
    std::vector<int64_t> axes;
    bool keepsDims;
};

std::optional<MeanAxes> meanAxesOf(const QuantizationSite& site, const NodeRecord& node)
{
    const auto shape = knownShape(site.module, node.operands[0]);
    if (!shape) return std::nullopt;
    const bool isPlane = node.attrs.string("layout", "NCHW") == "NCHW" && shape->size() == 4;
    if (isOp(node, globalAvgPool2dOp) && isPlane) return MeanAxes{{2, 3}, true};
    if (isOp(node, avgPool2dOp) && isPlane) {
        const std::vector<int64_t> none(4, 0), whole(shape->begin() + 2, shape->end());
        if (node.attrs.integers("padding", none) != none ||
            node.attrs.integers("pool_size", {}) != whole)
            return std::nullopt;
        return MeanAxes{{2, 3}, true};
    }
    if (!isOp(node, meanOp) || node.attrs.integer("exclude", 0) != 0) return std::nullopt;
    MeanAxes out{node.attrs.integers("axis", {}), node.attrs.integer("keepdims", 0) != 0};
    for (int64_t& axis : out.axes) axis = normalizedAxis(axis, shape->size());
    return out.axes.empty() ? std::nullopt : std::optional(out);
}

} // namespace

/// The sum is exact; its binary32 number, the ratio and their product round by 2^-24 each.
std::optional<Patch> quantizeMean(const QuantizationSite& site, const QuantizeTarget& target)
{
    const NodeRecord& node = site.module.node(target.input.node);
    if (node.kind != NodeKind::Op || node.operands.empty() || !site.uses.hasOneUser(node.id))
        return std::nullopt;
    const auto data = readDequantized(site, node.operands[0]);
    if (!data || !data->isPerTensor() || !isByte(*data)) return std::nullopt;
    const auto mean = meanAxesOf(site, node);
    if (!mean) return std::nullopt;
    const auto shape = knownShape(site.module, node.operands[0]);
    int64_t count = 1;
    for (const int64_t axis : mean->axes) count *= shape->at(static_cast<size_t>(axis));
    if (count < 1 || count > kMostSummands || !areRatios({data->scales[0] / target.scale}))
        return std::nullopt;
    PatchWriter patch =
        quantizePatch(site, target, "integer-mean",
                      nodeLabel(site.module, node) + " stands between integers", {node.id});
    const ValueRef wide = patch.op(castOp, {data->integers}, {{"dtype", kInt32}});
    const ValueRef sums =
        patch.op(sumOp, {wide}, {{"axis", mean->axes}, {"keepdims", int64_t{mean->keepsDims}}});
    Attrs attrs = target.limits();
    attrs.set("input_zero_point", data->zeros[0] * count);
    const double ratio = data->scales[0] / (static_cast<double>(count) * target.scale);
    const ValueRef out = patch.op(
        qnnRequantizeOp, {sums, patch.constant(floats({ratio}, {})), zeroPointOf(patch, target)},
        std::move(attrs));
    return finishQuantize(patch, target, out, {node.id});
}

} // namespace tenon::compiler
