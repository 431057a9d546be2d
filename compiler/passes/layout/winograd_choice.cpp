// SPDX-License-Identifier: Apache-2.0
// Cycles of either form: products by the machine's vectors, filters by what it reads from where
// they stay between two runs.
#include "compiler/passes/layout/winograd_choice.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/winograd.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace tenon::compiler {
namespace {

/// What the loops reach of the machine's multiply-adds.
constexpr double kReached = 0.85;
/// The same beside the transforms of filters, where every one reads its other factor from memory
/// for all lanes, and what a step of a transform adds (measured on Sapphire Rapids, all in the
/// first-level cache: 15.6 cycles for 24 products, 16.1 with 3 to 6 steps more).
constexpr double kReachedByBroadcasts = 0.75;
constexpr double kVectorsPerStep = 0.3;
/// Filters that stay in the second-level cache, of which a loop that computes reaches a half.
constexpr double kReachedOfL2 = 0.5;
/// Schedules ask for filters while they compute where vectors have so many lanes.
constexpr int kStreamingLanes = 8;
/// Lanes of the vectors that take one factor of a product from memory for all lanes: with fewer,
/// no registers are left to transform filters beside the sums.
constexpr int kInKernelLanes = 16;
/// Tiles that share one transform along the second axis there; all share that along the first.
constexpr int64_t kTilesPerTransform = 8;
/// Vectors that are computed, loaded and stored for one that is transformed.
constexpr double kDataVectors = 8;
constexpr double kResultVectors = 6;

/// Reading overlaps with computing where it was asked for, all but a part of either.
/// Filters that are larger than the second-level cache, or were evicted since the last run, come
/// from memory.
double withFilters(double cycles, double bytes, const LayoutMachine& machine)
{
    const core::TargetFacts& facts = machine.facts;
    const double cached = kReachedOfL2 * facts.l2BytesPerCycle;
    if (machine.lanes < kStreamingLanes)
        return cycles + bytes / (machine.staysInCache ? cached : facts.coldBytesPerCycle());
    const double reading = bytes / (machine.staysInCache ? cached : facts.memoryBytesPerCycle);
    return std::max(cycles, reading) + 0.25 * std::min(cycles, reading);
}

double vectorMacs(const LayoutMachine& machine) { return machine.facts.vectorMacs(machine.lanes); }

double directCycles(const ConvolutionSize& s, const LayoutMachine& machine)
{
    const double filters = 9.0 * static_cast<double>(s.inChannels * s.outChannels);
    const double macs = filters * static_cast<double>(s.batch * s.rows * s.columns);
    return withFilters(macs / machine.lanes / (kReached * vectorMacs(machine)), filters * 4,
                       machine);
}

double tilesOf(const ConvolutionSize& s, int64_t m)
{
    return static_cast<double>(((s.rows + m - 1) / m) * ((s.columns + m - 1) / m));
}

/// What a block of filters may take at one point: all tiles pass over it, a few at a time, and read
/// it from the first-level cache where it stays there beside the data. Of 48 KiB it may be 16
/// (Sapphire Rapids: of 4, 2 and 1 vectors of 16 lanes at 256 channels, one is a quarter faster
/// than four; at 128 two are 5 % faster).
int64_t bytesAtOnePoint(int64_t l1Bytes)
{
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(l1Bytes) / 2));
}

/// Of the data and the result.
double transformCycles(const ConvolutionSize& s, const LayoutMachine& machine, int64_t m)
{
    const double vectors = kDataVectors * static_cast<double>(s.inChannels) +
                           kResultVectors * static_cast<double>(s.outChannels);
    const auto points = static_cast<double>(s.batch * (m + 2) * (m + 2));
    return tilesOf(s, m) * points * (vectors / vectorMacs(machine)) / machine.lanes;
}

double transformedBeforeCycles(const ConvolutionSize& s, const LayoutMachine& machine, int64_t m)
{
    const auto points = static_cast<double>((m + 2) * (m + 2));
    const double filters = points * static_cast<double>(s.inChannels * s.outChannels);
    const double macs = filters * static_cast<double>(s.batch) * tilesOf(s, m);
    return withFilters(macs / machine.lanes / (kReached * vectorMacs(machine)), filters * 4,
                       machine) +
           transformCycles(s, machine, m);
}

/// Of a pair of channels, where the last tiles leave out the points that they can do without.
double productsInKernel(const ConvolutionSize& s, int64_t m)
{
    const auto points = [&](int64_t size, bool skips) {
        const int64_t tiles = (size + m - 1) / m, beyond = tiles * m - size;
        return static_cast<double>(tiles * (m + 2) - (skips ? beyond : 0));
    };
    return points(s.rows, tilesOf(s, m) <= kTilesOfUnrolledRows) *
           points(s.columns, (s.columns + m - 1) / m <= kTilesOfUnrolledColumns);
}

double transformedInKernelCycles(const ConvolutionSize& s, const LayoutMachine& machine, int64_t m)
{
    const auto filters = static_cast<double>(s.inChannels * s.outChannels);
    const double groups = std::ceil(tilesOf(s, m) / kTilesPerTransform);
    const double row = m == 2 ? 3 : 6;
    const double steps = row * (3 + static_cast<double>(m + 2) * groups);
    const double perCycle = vectorMacs(machine);
    const double broadcasts = std::min(perCycle, machine.facts.vectorLoads());
    const double cycles = productsInKernel(s, m) / (kReachedByBroadcasts * broadcasts) +
                          steps * (kVectorsPerStep / perCycle);
    return withFilters(static_cast<double>(s.batch) * filters * cycles / machine.lanes,
                       9 * filters * 4, machine) +
           transformCycles(s, machine, m);
}

} // namespace

double winogradError(int64_t tile, int64_t inChannels)
{
    // Measured against binary64 on normal data; the errors of the sum grow with its root. Direct
    // convolution has 3.7e-8.
    return (tile == 4 ? 1.8e-7 : 3.0e-8) * std::sqrt(static_cast<double>(inChannels));
}

bool staysInCache(const core::Module& module, const core::GraphFunction& function, int64_t l2Bytes)
{
    constexpr double kTransformed = 4; // 36 points for 9 elements
    double constants = 0, largest = 0;
    for (const core::NodeId id : function.order) {
        const core::NodeRecord& node = module.node(id);
        for (const core::TensorType& type : node.types) {
            const auto shape = core::constantShape(type.shape);
            if (!shape) return false;
            auto bytes = static_cast<double>(type.dtype.bytes());
            for (const int64_t extent : *shape) bytes *= static_cast<double>(extent);
            if (node.kind == core::NodeKind::Constant)
                constants += bytes;
            else
                largest = std::max(largest, bytes);
        }
    }
    return kTransformed * constants + 2 * largest <= static_cast<double>(l2Bytes);
}

WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine, int64_t tile)
{
    if (tile == 0) return {.cycles = directCycles(size, machine)};
    WinogradForm best{tile, false, transformedBeforeCycles(size, machine, tile)};
    if (machine.lanes < kInKernelLanes) return best;
    const double inKernel = transformedInKernelCycles(size, machine, tile);
    return inKernel < best.cycles ? WinogradForm{tile, true, inKernel} : best;
}

WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine)
{
    WinogradForm best = winogradForm(size, machine, 0);
    for (const int64_t tile : {2, 4}) {
        if (winogradError(tile, size.inChannels) > machine.maxError) continue;
        const WinogradForm form = winogradForm(size, machine, tile);
        if (form.cycles < best.cycles) best = form;
    }
    return best;
}

std::optional<ConvolutionSize> winogradSize(const core::Module& module,
                                            const core::NodeRecord& node)
{
    if (!isOp(node, conv2dOp) || node.attrs.integer("groups", 1) != 1) return std::nullopt;
    const auto weight = core::constantShape(module.type(node.operands[1]).shape);
    // A batch of unknown size is computed item by item.
    core::Shape shape = node.types[0].shape;
    if (shape.size() == 4 && !shape[0].isConst()) shape[0] = core::Dim(1);
    const auto out = core::constantShape(shape);
    const std::vector<int64_t> ones{1, 1};
    if (!weight || weight->size() != 4 || (*weight)[2] != 3 || (*weight)[3] != 3 || !out ||
        out->size() != 4 || node.attrs.integers("strides", ones) != ones ||
        node.attrs.integers("dilation", ones) != ones)
        return std::nullopt;
    return ConvolutionSize{(*out)[0], (*weight)[1], (*weight)[0], (*out)[2], (*out)[3]};
}

std::string winogradKernelLayout(const WinogradForm& form, int64_t inChannels,
                                 const ChannelBlocks& blocks, int64_t l1Bytes)
{
    const auto layout = [](const char* axes, int64_t in, int64_t out) {
        return axes + std::to_string(in) + "i" + std::to_string(out) + "o";
    };
    // A kernel that transforms filters walks them channel by channel.
    if (form.isTransformedInKernel) return layout("OIHW", 1, blocks.out);
    int64_t out = blocks.most;
    // Short vectors come in pairs or fours, whose steps take less than reading them.
    if (blocks.out >= kStreamingLanes)
        while (out > blocks.out &&
               (blocks.most % out != 0 || 4 * inChannels * out > bytesAtOnePoint(l1Bytes)))
            out -= blocks.out;
    return layout("OHWI", blocks.in, out);
}

std::string winogradReason(const WinogradForm& form, int64_t inChannels)
{
    const std::string side = std::to_string(form.tile);
    const std::string where = form.isTransformedInKernel ? ", raw filters" : "";
    return "tiles of " + side + " x " + side + where + ", expected relative error " +
           errorText(winogradError(form.tile, inChannels));
}

std::string errorText(double error)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", error);
    return text;
}

} // namespace tenon::compiler
