// SPDX-License-Identifier: Apache-2.0
// Means of quantized tensors over windows: a depthwise layer of ones, whose sums become bytes by a
// scale that divides, too.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "compiler/passes/quantize/quantization_bounds.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

/// Larger windows are sums of sums in floats, which a depthwise layer is not.
constexpr int64_t kMostTaps = 25;

/// Windows that all have as many numbers: padding is counted, or there is none.
bool hasWholeWindows(const NodeRecord& node)
{
    const std::vector<int64_t> none(4, 0), ones{1, 1};
    const bool countsPadding = node.attrs.integer("count_include_pad", 0) != 0;
    return isOp(node, avgPool2dOp) && node.attrs.string("layout", "NCHW") == "NCHW" &&
           node.attrs.integer("ceil_mode", 0) == 0 &&
           node.attrs.integers("dilation", ones) == ones &&
           (countsPadding || node.attrs.integers("padding", none) == none);
}

} // namespace

/// The sum is exact; its binary32 number, the ratio and their product round by 2^-24 each.
std::optional<Patch> quantizePool(const QuantizationSite& site, const QuantizeTarget& target)
{
    const NodeRecord& node = site.module.node(target.input.node);
    if (node.kind != NodeKind::Op || !site.uses.hasOneUser(node.id) || !hasWholeWindows(node))
        return std::nullopt;
    const auto data = readDequantized(site, node.operands[0]);
    if (!data || !data->isPerTensor() || !isByte(*data)) return std::nullopt;
    const Shape& shape = site.module.type(node.operands[0]).shape;
    const std::vector<int64_t> size = node.attrs.integers("pool_size", {});
    if (shape.size() != 4 || size.size() != 2 || !shape[1].isConst()) return std::nullopt;
    const int64_t channels = shape[1].value(), count = size[0] * size[1];
    const double ratio = data->scales[0] / (static_cast<double>(count) * target.scale);
    // Other channels fill no words.
    if (channels % kWordBytes != 0 || count > kMostTaps || !areRatios({ratio}) ||
        site.costs.whyFloats(node))
        return std::nullopt;
    PatchWriter patch =
        quantizePatch(site, target, "integer-pool",
                      nodeLabel(site.module, node) + " stands between integers", {node.id});
    const Tensor ones =
        Tensor::of(kInt8, {channels, 1, size[0], size[1]},
                   std::vector<int8_t>(static_cast<size_t>(channels * count), int8_t{1}));
    Attrs attrs;
    attrs.set("strides", node.attrs.integers("strides", {1, 1}));
    attrs.set("padding", node.attrs.integers("padding", {0, 0, 0, 0}));
    attrs.set("groups", channels);
    const ValueRef sums =
        patch.op(qnnConv2dOp, {data->integers, patch.constant(ones), zeroOperand(patch, *data)},
                 std::move(attrs));
    const ValueRef out = patch.op(
        qnnRequantizeOp, {sums, patch.constant(floats({ratio}, {})), zeroPointOf(patch, target)},
        target.limits());
    return finishQuantize(patch, target, out, {node.id});
}

} // namespace tenon::compiler
