// SPDX-License-Identifier: Apache-2.0
// Multiply-adds by the lanes that a layout fills, and bytes by the bandwidth of the second-level
// cache.
#include "compiler/passes/layout/layout_costs.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/winograd.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/winograd_choice.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
// Of the vectors that the machine multiplies and adds per cycle (measured on Sapphire Rapids, which
// has two).

/// What register tiles over channels reach.
constexpr double kBlocked = 0.85;
/// The same where channels are read one by one (the first layer).
constexpr double kPlainInput = 0.7;
/// Along rows of plain values, of the lanes that columns fill: every window begins between two
/// vectors. Less than what was measured (0.6 to 0.9 at 14 to 112 columns on an AMD EPYC, with
/// AVX-512 and with AVX2), because Winograd's method, where all stays in the caches, is estimated
/// at 1.4 times what it takes there, and would lose to plain forms that are slower.
constexpr double kPlain = 0.5;
/// The same where lanes are operands: blocks load half as much for as many products (a TCN on a
/// Cortex-A72).
constexpr double kPlainBesideLanes = 0.4;
/// Where each result reads one pixel: vectors run over the whole image (0.76 to 0.92 at 58 to 232
/// channels of 28 x 28 and 14 x 14, on an AMD EPYC with AVX-512).
constexpr double kPlainPointwise = 0.8;
/// The same where the pixels of a tile, of so many vectors, leave the first-level cache before the
/// next filters read them (0.64 to 0.68 at 728 channels of 19 x 19, on an AMD EPYC with AVX-512).
constexpr double kPlainPointwiseBeyond = 0.66;
constexpr int64_t kPixelVectors = 3;
/// Where neighbours of a result are not neighbours in the data, lanes are collected: every second
/// one out of two vectors (0.5 to 0.7 there), others one by one or in several steps (0.2 to 0.5).
constexpr double kEverySecond = 0.5;
constexpr double kStrided = 0.2;
/// Depthwise kernels load about as much as they compute (0.7 from the second-level cache, less from
/// beyond), along rows as in blocks (0.36 to 0.57 at 14 to 56 columns, 0.1 to 0.18 where lanes are
/// collected, on an AMD EPYC with AVX-512).
constexpr double kDepthwise = 0.45;
constexpr double kPlainDepthwise = 0.25;
constexpr double kStridedDepthwise = 0.1;

/// A kernel of its own: instructions that are not in its loops, about as many everywhere.
constexpr double kCallCycles = 400;

/// Instructions of one resized element with one element per vector, and of plain ones (U-Net's last
/// layer there: 3.3 cycles in blocks of 4, with a transformation, against 7.9).
constexpr double kResize = 24;
constexpr double kPlainResize = 16;
/// Of a vector between two resized rows.
constexpr double kRowSteps = 5;
/// Instructions of one step of a pool's window: in blocks of channels, and of a plain one with and
/// without lanes to collect.
constexpr double kBlockedPool = 2;
constexpr double kStridedPool = 2;
constexpr double kPlainPool = 0.3;

/// Instructions of one resized element. Where rows are enlarged, what is resized along its columns
/// are the rows that are read, and those in between are sums of two by whole vectors.
double resizeSteps(const Module& module, const NodeRecord& node, int64_t block,
                   const TargetFacts& facts)
{
    const auto lanes = static_cast<double>(block == 0 ? facts.lanes(4) : block);
    const double along = block == 0 ? kPlainResize : kResize / lanes;
    const Dim& in = module.type(node.operands[0]).shape[2];
    const Dim& out = node.types[0].shape[2];
    const bool isEnlarged = in.isConst() && out.isConst() && in.value() < out.value();
    if (!isEnlarged || node.attrs.string("method", "linear") == "nearest") return along;
    const double read = static_cast<double>(in.value()) / static_cast<double>(out.value());
    return read * along + kRowSteps / lanes;
}

/// Of the vectors that a machine multiplies and adds, along rows of plain values.
double reachedOnRows(const BlockableConvolution& conv, const TargetFacts& facts)
{
    const int64_t stride = conv.strides[1];
    if (conv.isDepthwise) return stride == 1 ? kPlainDepthwise : kStridedDepthwise;
    if (stride == 1 && facts.hasLaneOperand) return kPlainBesideLanes;
    return stride == 1 ? kPlain : stride == 2 ? kEverySecond : kStrided;
}

double plainCycles(const BlockableConvolution& conv, double macs, const LayoutMachine& machine)
{
    const int lanes = machine.lanes;
    const bool isPointwise =
        conv.size().elements() == 1 && conv.strides[1] == 1 && conv.groups == 1;
    if (isPointwise) {
        const int64_t pixels = conv.rows * conv.columns;
        const auto whole = static_cast<double>((pixels + lanes - 1) / lanes);
        const int64_t read = conv.inChannels * kPixelVectors * machine.facts.vectorBytes;
        const double reached =
            read <= machine.facts.l1Bytes ? kPlainPointwise : kPlainPointwiseBeyond;
        return macs / (static_cast<double>(pixels) / whole) /
               (reached * machine.facts.vectorMacs());
    }
    const auto vectors = static_cast<double>((conv.columns + lanes - 1) / lanes);
    const double filled = static_cast<double>(conv.columns) / vectors;
    return macs / filled / (reachedOnRows(conv, machine.facts) * machine.facts.vectorMacs());
}

/// Of bringing a computed weight into the order that a kernel in blocks reads, in every run.
double packingCycles(const BlockableConvolution& conv, const LayoutMachine& machine)
{
    if (!conv.isWeightComputed) return 0;
    const ConvolutionSize size = conv.size();
    double elements = size.elements();
    if (!conv.tile.isDirect())
        elements = static_cast<double>(
            size.phases() * winogradAxis(conv.kernel[0], conv.strides[0], conv.tile.rows).points() *
            winogradAxis(conv.kernel[1], conv.strides[1], conv.tile.columns).points());
    const double bytes =
        4 * (size.elements() + elements) * static_cast<double>(size.inChannels * size.outChannels);
    const TargetFacts& facts = machine.facts;
    const bool isCached = bytes <= static_cast<double>(facts.l2Bytes);
    return kCallCycles +
           bytes / (isCached ? kCopiedOfL2 * facts.l2BytesPerCycle : facts.memoryBytesPerCycle);
}

} // namespace

std::optional<BlockableConvolution> blockableConvolution(const Module& module,
                                                         const NodeRecord& node)
{
    if (!isOp(node, conv2dOp) || node.attrs.string("data_layout", "NCHW") != "NCHW" ||
        node.attrs.string("kernel_layout", "OIHW") != "OIHW")
        return std::nullopt;
    const auto weight = knownShape(module, node.operands[1]);
    Shape shape = node.types[0].shape;
    const Shape& data = module.type(node.operands[0]).shape;
    if (!weight || module.type(node.operands[1]).dtype != kFloat32 || shape.size() != 4 ||
        data.size() != 4 || !data[1].isConst())
        return std::nullopt;
    shape = sizedShape(module, shape);
    const auto out = constantShape(shape);
    if (!out) return std::nullopt;
    const int64_t groups = node.attrs.integer("groups", 1);
    const int64_t channels = data[1].value();
    const bool isDepthwise = groups > 1 && groups == channels && groups == out->at(1);
    if (groups < 1 || channels % groups != 0 || out->at(1) % groups != 0) return std::nullopt;
    const std::vector<int64_t> ones{1, 1};
    const std::vector<int64_t> strides = node.attrs.integers("strides", ones);
    return BlockableConvolution{.batch = out->at(0),
                                .inChannels = channels,
                                .outChannels = out->at(1),
                                .rows = out->at(2),
                                .columns = out->at(3),
                                .kernel = {weight->at(2), weight->at(3)},
                                .strides = {strides.at(0), strides.at(1)},
                                .groups = groups,
                                .isDepthwise = isDepthwise,
                                .isDilated = node.attrs.integers("dilation", ones) != ones,
                                .isWeightComputed = constantOf(module, node.operands[1]) == nullptr,
                                .tile = {}};
}

double convolutionCycles(const BlockableConvolution& conv, int64_t in, int64_t out,
                         const LayoutMachine& machine)
{
    const int64_t inPerGroup = conv.inChannels / conv.groups;
    const double perOutput = static_cast<double>(inPerGroup) * conv.size().elements();
    const double macs = perOutput * static_cast<double>(conv.batch * conv.outChannels) *
                        static_cast<double>(conv.rows * conv.columns);
    if (out == 0) return in == 0 ? plainCycles(conv, macs, machine) : kNone;
    const double perCycle = machine.facts.vectorMacs(static_cast<int>(out));
    const double packing = packingCycles(conv, machine);
    if (conv.isDepthwise)
        return in == out
                   ? packing + macs / static_cast<double>(out) /
                                   (kDepthwise * std::min(perCycle, machine.facts.vectorLoads()))
                   : kNone;
    // Blocks of data and results are of one group.
    if (conv.groups > 1 &&
        (in == 0 || inPerGroup % in != 0 || conv.outChannels / conv.groups % out != 0))
        return kNone;
    const double direct =
        packing + macs / static_cast<double>(out) / ((in == 0 ? kPlainInput : kBlocked) * perCycle);
    if (in == 0 || conv.tile.isDirect()) return direct;
    LayoutMachine blocked = machine;
    blocked.lanes = static_cast<int>(out);
    return packing + winogradForm(conv.size(), blocked, conv.tile).cycles;
}

double blockedCycles(const BlockableConvolution& conv, const LayoutMachine& machine)
{
    const int64_t in = channelBlock(conv.inChannels, machine.lanes);
    const int64_t out = channelBlock(conv.outChannels, machine.lanes);
    if (out == 0) return std::numeric_limits<double>::infinity();
    const double direct = convolutionCycles(conv, in, out, machine);
    if (in == 0 || conv.isDilated || conv.groups != 1) return direct;
    LayoutMachine blocked = machine;
    blocked.lanes = static_cast<int>(out);
    const WinogradForm form = winogradForm(conv.size(), blocked);
    return form.tile.isDirect() ? direct : std::min(direct, form.cycles);
}

double windowCycles(const Module& module, const NodeRecord& node, int64_t block,
                    const TargetFacts& facts)
{
    double results = 1;
    for (const Dim& dim : node.types[0].shape)
        if (dim.isConst()) results *= static_cast<double>(dim.value());
    const auto lanes = static_cast<double>(std::max<int64_t>(1, block));
    const double perCycle = facts.vectorPipes;
    if (isOp(node, resize2dOp)) return results * resizeSteps(module, node, block, facts) / perCycle;
    const std::vector<int64_t> window = node.attrs.integers("pool_size", {});
    if (window.size() != 2) return 0;
    const double steps = results * static_cast<double>(window[0] * window[1]);
    const bool isStrided = node.attrs.integers("strides", {1, 1}) != std::vector<int64_t>{1, 1};
    if (block == 0) return steps * (isStrided ? kStridedPool : kPlainPool) / perCycle;
    return steps * kBlockedPool / lanes / perCycle;
}

double transformCycles(const TensorType& type, const TargetFacts& facts)
{
    double bytes = 2.0 * static_cast<double>(type.dtype.bytes());
    for (const Dim& dim : type.shape)
        if (dim.isConst()) bytes *= static_cast<double>(dim.value());
    return bytes / (kCopiedOfL2 * facts.l2BytesPerCycle) + kCallCycles;
}

} // namespace tenon::compiler
