// SPDX-License-Identifier: Apache-2.0
// Layers, sums, means and concatenations of quantized tensors as integer operators.
#include "compiler/passes/quantize/quantization_rules.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "compiler/passes/quantize/quantization_bounds.h"
#include "compiler/passes/quantize/real_layer.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// The bias of every channel in units of the sums, and what is left, in steps of the result.
struct SplitBias
{
    std::vector<int64_t> sums;
    std::vector<double> rest; ///< empty: nothing that could show
};

/// Nothing for a bias that 32 bits do not hold.
std::optional<SplitBias> splitBias(const std::vector<double>& bias, const std::vector<double>& step,
                                   const std::vector<double>& ratio)
{
    SplitBias out;
    double largest = 0;
    for (size_t i = 0; i < bias.size(); ++i) {
        const double sums = bias[i] / step[i];
        if (!(std::abs(sums) <= kLargestBias)) return std::nullopt;
        out.sums.push_back(std::llround(sums));
        out.rest.push_back((sums - static_cast<double>(out.sums.back())) * ratio[i]);
        largest = std::max(largest, std::abs(out.rest.back()));
    }
    if (largest <= kBiasError) out.rest.clear();
    return out;
}

ValueRef scalarOfType(PatchWriter& patch, DataType dtype, int64_t value)
{
    return patch.constant(Tensor::make(
        dtype, {}, [&](std::span<std::byte> bytes) { storeInteger(dtype, bytes, 0, value); }));
}

bool hasZeroPoints(const Quantized& value)
{
    return std::any_of(value.zeros.begin(), value.zeros.end(), [](int64_t z) { return z != 0; });
}

/// `value` has the target's scale, zero point and limits.
bool isOfTarget(const QuantizeTarget& target, const Quantized& value)
{
    const Attrs limits = target.limits();
    return value.dtype == target.dtype && value.zeros[0] == target.zero &&
           value.scales[0] == target.scale && !limits.has("a_min") && !limits.has("a_max");
}

/// `value` under the target's scale and zero point.
ValueRef rescaled(PatchWriter& patch, const QuantizeTarget& target, const Quantized& value)
{
    if (isOfTarget(target, value)) return value.integers;
    Attrs attrs = target.limits();
    attrs.set("input_zero_point", value.zeros[0]);
    return patch.op(qnnRequantizeOp,
                    {value.integers, patch.constant(floats({value.scales[0] / target.scale}, {})),
                     zeroPointOf(patch, target)},
                    std::move(attrs));
}

/// As `rescaled`. Where others read the integers, too, the kernel that makes them does not change
/// their scale for one reader: that is a kernel of its own.
ValueRef rescaledPart(const QuantizationSite& site, PatchWriter& patch,
                      const QuantizeTarget& target, ValueRef part, const Quantized& value)
{
    const bool isReadBeside =
        !site.uses.hasOneUser(part.node) || !site.uses.hasOneUser(value.integers.node);
    if (isReadBeside && !isOfTarget(target, value))
        if (const auto found = requantizeByTable(site, patch, target, value)) return *found;
    return rescaled(patch, target, value);
}

} // namespace

ValueRef zeroOperand(PatchWriter& patch, const Quantized& value)
{
    if (!hasZeroPoints(value)) return {};
    return value.isPerTensor() ? scalarOfType(patch, value.dtype, value.zeros[0]) : value.zeroPoint;
}

PatchWriter quantizePatch(const QuantizationSite& site, const QuantizeTarget& target,
                          std::string rule, std::string reason, std::vector<NodeId> others)
{
    others.insert(others.end(), target.consumed.begin(), target.consumed.end());
    return {site.module, site.function.id, std::move(rule), std::move(reason), std::move(others)};
}

ValueRef zeroPointOf(PatchWriter& patch, const QuantizeTarget& target)
{
    return scalarOfType(patch, target.dtype, target.zero);
}

Patch finishQuantize(PatchWriter& patch, const QuantizeTarget& target, ValueRef value,
                     const std::vector<NodeId>& others)
{
    patch.replaceAndErase(target.node->id, value);
    for (const NodeId id : target.consumed)
        if (id != target.node->id) patch.erase(id);
    for (const NodeId id : others) patch.erase(id);
    return patch.take();
}

namespace {

/// A layer between integers, and what its integer form needs.
struct IntegerLayer
{
    RealLayer real;
    Quantized data, weight;
    Tensor filters;                      ///< constant weight
    std::optional<IntegerPhases> phases; ///< of a transposed convolution
    int64_t channels;                    ///< with those that fill the last word of a phase
    std::vector<double> ratio;           ///< of a sum's step to the result's, per channel
    std::vector<double> below;           ///< the same of negative sums; empty: as of others
    SplitBias bias;
};

/// Filters of zeros behind those of each phase, with no bias.
void fillWords(IntegerLayer& layer)
{
    layer.channels = layer.phases->filters;
    layer.filters = withFilters(layer.filters, layer.channels);
    const auto channels = static_cast<size_t>(layer.channels);
    layer.ratio.resize(channels, layer.ratio.back());
    layer.bias.sums.resize(channels, 0);
    if (!layer.bias.rest.empty()) layer.bias.rest.resize(channels, 0.0);
}

/// Scales, bias and slopes of every channel; false where binary32 does not hold them.
bool addRatios(const QuantizationSite& site, const QuantizeTarget& target, IntegerLayer& layer)
{
    const auto bias = biasValues(site, layer.real, layer.channels);
    const auto slopes = slopeValues(site, layer.real, layer.channels);
    if (!bias || !slopes) return false;
    const Quantized& weight = layer.weight;
    std::vector<double> step;
    for (size_t i = 0; i < static_cast<size_t>(layer.channels); ++i) {
        step.push_back(layer.data.scales[0] * weight.scales[weight.isPerTensor() ? 0 : i]);
        layer.ratio.push_back(step.back() / target.scale);
        if (layer.real.slopes) layer.below.push_back(layer.ratio.back() * (*slopes)[i]);
    }
    auto split = splitBias(*bias, step, layer.ratio);
    // What a bias has beside whole sums would have to follow the slopes.
    const bool hasRest = split && !split->rest.empty() && layer.real.slopes;
    if (!split || hasRest || !areRatios(layer.ratio) || !areRatios(layer.below)) return false;
    layer.bias = *std::move(split);
    return true;
}

std::optional<IntegerLayer> readIntegerLayer(const QuantizationSite& site,
                                             const QuantizeTarget& target)
{
    const std::optional<RealLayer> layer = readRealLayer(site, target.input);
    if (!layer) return std::nullopt;
    const auto data = readDequantized(site, layer->node->operands[0]);
    const auto weight = readDequantized(site, layer->node->operands[1]);
    const bool isTransposed = isOp(*layer->node, conv2dTransposeOp);
    const bool hasOutputAxis =
        weight && (weight->isPerTensor() || weight->axis == (isTransposed ? 1 : 0));
    if (!data || !hasOutputAxis || !data->isPerTensor() || !isByte(*data) || !isByte(*weight))
        return std::nullopt;
    const auto filters = constantValue(site, weight->integers);
    if (!filters) return std::nullopt;
    const Tensor whole = isTransposed ? withOutputsFirst(*filters) : *filters;
    const int64_t channels = whole.shape().at(0);
    std::optional<IntegerPhases> phases;
    if (isTransposed) {
        phases = integerPhases(site.module, *layer->node, filters->shape());
        if (!phases || (phases->hasZeros(channels) && hasZeroPoints(*weight))) return std::nullopt;
    }
    IntegerLayer out{.real = *layer,
                     .data = *data,
                     .weight = *weight,
                     .filters = *filters,
                     .phases = std::move(phases),
                     .channels = channels,
                     .ratio = {},
                     .below = {},
                     .bias = {}};
    if (!addRatios(site, target, out) ||
        !fitSums(whole, weight->zeros, reachOf(*data), out.bias.sums))
        return std::nullopt;
    if (out.phases && out.phases->filters > channels) fillWords(out);
    return out;
}

/// All values, `times` times.
template <typename T>
std::vector<T> repeated(const std::vector<T>& values, int64_t times)
{
    std::vector<T> out;
    for (int64_t i = 0; i < times; ++i) out.insert(out.end(), values.begin(), values.end());
    return out;
}

/// The target's integers of sums of products; `times` sums of each channel, which come one behind
/// the other.
ValueRef rescaledSums(PatchWriter& patch, const QuantizeTarget& target, const IntegerLayer& layer,
                      ValueRef sums, int64_t times = 1)
{
    const std::vector<int64_t> each = channelShape(layer.real, times * layer.channels);
    if (layer.real.bias.node.isValid())
        sums = patch.op(addOp,
                        {sums, patch.constant(integers(repeated(layer.bias.sums, times), each))});
    const Tensor scales = layer.weight.isPerTensor() ? floats({layer.ratio[0]}, {})
                                                     : floats(repeated(layer.ratio, times), each);
    std::vector<ValueRef> operands{sums, patch.constant(scales), zeroPointOf(patch, target)};
    if (!layer.bias.rest.empty())
        operands.push_back(patch.constant(floats(repeated(layer.bias.rest, times), each)));
    if (!layer.below.empty()) {
        operands.resize(4);
        operands.push_back(patch.constant(floats(layer.below, each)));
    }
    return patch.op(qnnRequantizeOp, std::move(operands), target.limits());
}

/// Weights of floats, as FoldConstant would make them: no rule reads the layer again.
std::optional<Patch> keptInFloats(const QuantizationSite& site, const IntegerLayer& layer,
                                  const std::string& why)
{
    NodeRecord node = *layer.real.node;
    auto weight = constantValue(site, node.operands[1]);
    if (!weight) return std::nullopt;
    PatchWriter patch(site.module, site.function.id, "keep-floats",
                      nodeLabel(site.module, node) + " stays in floats: " + why, {node.id});
    node.operands[1] =
        patch.constant(*std::move(weight), site.module.node(node.operands[1].node).name);
    patch.change(std::move(node));
    return patch.take();
}

/// The image of all phases, without the channels that only fill words.
ValueRef joinedPhases(PatchWriter& patch, const IntegerLayer& layer,
                      const std::vector<ValueRef>& parts)
{
    const NodeRecord& node = *layer.real.node;
    const Attrs strides{{"strides", node.attrs.integers("strides", {1, 1})}};
    const ValueRef joined = parts.size() == 1 ? parts[0] : patch.op(joinPhasesOp, parts, strides);
    const int64_t channels = node.types.at(0).shape.at(1).value();
    if (channels == layer.channels) return joined;
    return patch.op(stridedSliceOp, {joined},
                    {{"axes", std::vector<int64_t>{1}},
                     {"begin", std::vector<int64_t>{0}},
                     {"end", std::vector<int64_t>{channels}}});
}

} // namespace

/// Sums are exact. What is rounded: the sum as binary32 beyond 2^24, the ratio of scales, their
/// product, and the rest of the bias, each by 2^-24 of a result that does not saturate. With
/// kBiasError that is less than 2^-12 step before the one rounding that the model asks for.
std::optional<Patch> quantizeLayer(const QuantizationSite& site, const QuantizeTarget& target)
{
    const std::optional<IntegerLayer> found = readIntegerLayer(site, target);
    if (!found) return std::nullopt;
    const double rounded = roundedBehindPool(site, *target.node);
    if (const auto why = site.costs.whyFloats(*found->real.node, rounded))
        return keptInFloats(site, *found, *why);
    const RealLayer& layer = found->real;
    const Quantized &data = found->data, &weight = found->weight;
    const bool isDense = isOp(*layer.node, denseOp);
    PatchWriter patch =
        quantizePatch(site, target, isDense ? "integer-dense" : "integer-conv2d",
                      nodeLabel(site.module, *layer.node) + " stands between integers of scale " +
                          exact(static_cast<float>(data.scales[0])) + " and " +
                          exact(static_cast<float>(target.scale)),
                      layer.consumed);
    const auto resultOf = [&](ValueRef filters, Attrs attrs, int64_t times = 1) {
        const ValueRef sums =
            patch.op(isDense ? qnnDenseOp : qnnConv2dOp,
                     {data.integers, filters, zeroOperand(patch, data), zeroOperand(patch, weight)},
                     std::move(attrs));
        return rescaledSums(patch, target, *found, sums, times);
    };
    if (!found->phases) {
        Attrs attrs = layer.node->attrs;
        for (const char* layout : {"data_layout", "kernel_layout", "out_layout"})
            attrs.erase(layout);
        return finishQuantize(patch, target, resultOf(weight.integers, std::move(attrs)),
                              layer.consumed);
    }
    if (const auto& windows = found->phases->windows) {
        const ValueRef results = resultOf(patch.constant(windows->weightOf(found->filters)),
                                          {{"padding", windows->padding()}}, windows->phases());
        return finishQuantize(patch, target, windows->imageOf(patch, results, found->channels),
                              layer.consumed);
    }
    std::vector<ValueRef> parts;
    for (const TransposedPhase& phase : found->phases->phases)
        parts.push_back(resultOf(patch.constant(phase.weightOf(found->filters)),
                                 {{"padding", phase.padding()}}));
    return finishQuantize(patch, target, joinedPhases(patch, *found, parts), layer.consumed);
}

/// Sums: both products and their sum are rounded, by 3 * 2^-24 of kLargestTerm at most, 2^-6 step.
/// Products: exact integers times one ratio, 2^-23 of the result.
std::optional<Patch> quantizeBinary(const QuantizationSite& site, const QuantizeTarget& target)
{
    const NodeRecord& node = site.module.node(target.input.node);
    const bool isProduct = isOp(node, multiplyOp);
    if ((!isProduct && !isOp(node, addOp) && !isOp(node, subtractOp)) ||
        !site.uses.hasOneUser(node.id))
        return std::nullopt;
    const auto a = readDequantized(site, node.operands[0]);
    const auto b = readDequantized(site, node.operands[1]);
    if (!a || !b || !a->isPerTensor() || !b->isPerTensor() || !isByte(*a) || !isByte(*b))
        return std::nullopt;
    if (isProduct ? !isProductExact(*a, *b, target.scale) : !isSumExact(*a, *b, target.scale))
        return std::nullopt;
    PatchWriter patch =
        quantizePatch(site, target, isProduct ? "integer-mul" : "integer-add",
                      nodeLabel(site.module, node) + " stands between integers", {node.id});
    Attrs attrs = target.limits();
    attrs.set("lhs_scale", a->scales[0]);
    attrs.set("lhs_zero_point", a->zeros[0]);
    attrs.set("rhs_scale", isOp(node, subtractOp) ? -b->scales[0] : b->scales[0]);
    attrs.set("rhs_zero_point", b->zeros[0]);
    attrs.set("output_scale", target.scale);
    attrs.set("output_zero_point", target.zero);
    const ValueRef out =
        patch.op(isProduct ? qnnMulOp : qnnAddOp, {a->integers, b->integers}, std::move(attrs));
    return finishQuantize(patch, target, out, {node.id});
}

/// As `requantize`, part by part; limits of the whole are those of its parts.
std::optional<Patch> quantizeConcat(const QuantizationSite& site, const QuantizeTarget& target)
{
    const NodeRecord& node = site.module.node(target.input.node);
    if (!isOp(node, concatenateOp) || !site.uses.hasOneUser(node.id)) return std::nullopt;
    std::vector<Quantized> parts;
    for (const ValueRef& operand : node.operands) {
        auto part = readDequantized(site, operand);
        if (!part || !part->isPerTensor() || !isByte(*part) ||
            !areRatios({part->scales[0] / target.scale}))
            return std::nullopt;
        parts.push_back(std::move(*part));
    }
    PatchWriter patch =
        quantizePatch(site, target, "integer-concat",
                      nodeLabel(site.module, node) + " stands between integers", {node.id});
    std::vector<ValueRef> operands;
    for (size_t i = 0; i < parts.size(); ++i)
        operands.push_back(rescaledPart(site, patch, target, node.operands[i], parts[i]));
    const ValueRef out = patch.op(concatenateOp, std::move(operands), node.attrs);
    return finishQuantize(patch, target, out, {node.id});
}

/// Integers below 2^9 are exact, so the ratio and the product round: 2^-23 of the result.
std::optional<Patch> requantize(const QuantizationSite& site, const QuantizeTarget& target)
{
    const auto data = readDequantized(site, target.input);
    if (!data || !data->isPerTensor() || !isByte(*data) ||
        !areRatios({data->scales[0] / target.scale}))
        return std::nullopt;
    PatchWriter patch = quantizePatch(
        site, target, "requantize",
        "nothing but scales changes in front of " + nodeLabel(site.module, *target.node), {});
    const ValueRef out = rescaled(patch, target, *data);
    // A result keeps a node of its own, so that no two outside values share one tensor.
    if (out == data->integers && site.uses.isResult(target.node->id)) return std::nullopt;
    return finishQuantize(patch, target, out, {});
}

} // namespace tenon::compiler
