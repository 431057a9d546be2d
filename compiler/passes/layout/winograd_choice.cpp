// SPDX-License-Identifier: Apache-2.0
// Cycles of either form: products by the machine's vectors, filters by what it reads from where
// they stay between two runs.
#include "compiler/passes/layout/winograd_choice.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/winograd.h"
#include "compiler/passes/constant_growth.h"
#include "compiler/passes/patch_chunks.h"
#include "compiler/passes/rewrite.h"
#include "core/ir/size_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace tenon::compiler {
namespace {

/// What the loops reach of the machine's multiply-adds: of transformed data, and of windows (90 to
/// 94 % at stride 2 on Zen 5).
constexpr double kReached = 0.85;
constexpr double kReachedDirectly = 0.9;
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
/// Vectors that are loaded and stored for one that is transformed, and computed along each axis
/// (RegNet's groups of 16 channels on an AMD EPYC: 8 cycles for one of the data, 6 of the result).
constexpr double kMovedVectors = 4;
constexpr double kDataVectors = 6;
constexpr double kResultVectors = 4;
/// The same for eight points, which take as many more instructions for each.
constexpr double kOfEightPoints = 1.8;

double vectorMacs(const LayoutMachine& machine) { return machine.facts.vectorMacs(machine.lanes); }

double directCycles(const ConvolutionSize& s, const LayoutMachine& machine)
{
    const double filters = s.elements() * static_cast<double>(s.inChannels * s.outChannels);
    const double macs = filters * static_cast<double>(s.batch * s.rows * s.columns);
    return withFilters(macs / machine.lanes / (kReachedDirectly * vectorMacs(machine)), filters * 4,
                       machine);
}

std::array<WinogradAxis, 2> axesOf(const ConvolutionSize& s, const WinogradTile& tile)
{
    return {winogradAxis(s.kernel[0], s.stride[0], tile.rows),
            winogradAxis(s.kernel[1], s.stride[1], tile.columns)};
}

double pointsOf(const ConvolutionSize& s, const WinogradTile& tile)
{
    const auto [rows, columns] = axesOf(s, tile);
    return static_cast<double>(rows.points() * columns.points());
}

/// Of a tile and a pair of channels, with those of all phases.
double productsOf(const ConvolutionSize& s, const WinogradTile& tile)
{
    return static_cast<double>(winogradProducts(s.kernel[0], s.stride[0], tile.rows) *
                               winogradProducts(s.kernel[1], s.stride[1], tile.columns));
}

double tilesOf(const ConvolutionSize& s, const WinogradTile& tile)
{
    return static_cast<double>(((s.rows + tile.rows - 1) / tile.rows) *
                               ((s.columns + tile.columns - 1) / tile.columns));
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
double movedElements(const ConvolutionSize& s, const WinogradTile& tile)
{
    double axes = 0;
    for (const WinogradAxis& axis : axesOf(s, tile))
        if (axis.taps > 1) axes += axis.points() > 6 ? kOfEightPoints : 1;
    const double each =
        (kMovedVectors + axes * kDataVectors) *
            static_cast<double>(s.phases() * s.groups * s.inChannels) +
        (kMovedVectors + axes * kResultVectors) * static_cast<double>(s.outChannels);
    return tilesOf(s, tile) * static_cast<double>(s.batch) * pointsOf(s, tile) * each;
}

double transformCycles(const LayoutMachine& machine, const WinogradWork& work)
{
    return work.moved / vectorMacs(machine) / machine.lanes;
}

double transformedBeforeCycles(const ConvolutionSize& s, const LayoutMachine& machine,
                               const WinogradTile& tile)
{
    const WinogradWork work = winogradWork(s, tile);
    return withFilters(work.products / machine.lanes / (kReached * vectorMacs(machine)),
                       work.filters * 4, machine) +
           transformCycles(machine, work);
}

/// Of a pair of channels, where the last tiles leave out the points that they can do without.
double productsInKernel(const ConvolutionSize& s, const WinogradTile& tile)
{
    const int64_t m = tile.rows;
    const auto points = [&](int64_t size, bool skips) {
        const int64_t tiles = (size + m - 1) / m, beyond = tiles * m - size;
        return static_cast<double>(tiles * (m + 2) - (skips ? beyond : 0));
    };
    return points(s.rows, tilesOf(s, tile) <= kTilesOfUnrolledRows) *
           points(s.columns, (s.columns + m - 1) / m <= kTilesOfUnrolledColumns);
}

/// Of 3 x 3 filters and square tiles.
double transformedInKernelCycles(const ConvolutionSize& s, const LayoutMachine& machine,
                                 const WinogradTile& tile)
{
    const int64_t m = tile.rows;
    const auto filters = static_cast<double>(s.inChannels * s.outChannels);
    const double groups = std::ceil(tilesOf(s, tile) / kTilesPerTransform);
    const double row = m == 2 ? 3 : 6;
    const double steps = row * (3 + static_cast<double>(m + 2) * groups);
    const double perCycle = vectorMacs(machine);
    const double broadcasts = std::min(perCycle, machine.facts.vectorLoads());
    const double cycles = productsInKernel(s, tile) / (kReachedByBroadcasts * broadcasts) +
                          steps * (kVectorsPerStep / perCycle);
    return withFilters(static_cast<double>(s.batch) * filters * cycles / machine.lanes,
                       9 * filters * 4, machine) +
           transformCycles(machine, winogradWork(s, tile));
}

/// The outputs of a tile along an axis up to which a kernel has registers for its filters.
constexpr int64_t kMostInKernel = 4;

bool hasKernelTransform(const ConvolutionSize& s, const WinogradTile& tile)
{
    return s.kernel == std::array<int64_t, 2>{3, 3} && s.phases() == 1 && s.groups == 1 &&
           tile.rows == tile.columns && tile.rows <= kMostInKernel;
}

/// The outputs of a tile along one axis that a transform exists for, with the points of each.
std::vector<WinogradAxis> tilesAlong(int64_t kernel, int64_t stride)
{
    const WinogradAxis plain = winogradAxis(kernel, stride, 1);
    // Without a tap at each phase, products with zeros take longer than a direct form.
    if (plain.taps == 1) return kernel == stride ? std::vector{plain} : std::vector<WinogradAxis>();
    std::vector<WinogradAxis> out;
    for (const int64_t points : {3, 4, 6, 8})
        if (const int64_t tile = points - plain.taps + 1; tile > 1)
            out.push_back({tile, plain.taps});
    return out;
}

/// Filters that FoldConstant would not transform beforehand would be transformed in every run.
bool isTransformedOnce(const ConvolutionSize& s, const WinogradTile& tile)
{
    const auto bytes = [&](double elements) {
        return static_cast<int64_t>(4 * elements) * s.inChannels * s.outChannels;
    };
    return growsLittle(bytes(static_cast<double>(s.phases()) * pointsOf(s, tile)),
                       bytes(s.elements()));
}

/// What an axis of so many points multiplies the error of a sum with.
double errorOf(int64_t points)
{
    switch (points) {
    case 1: return 1;
    case 3: return 1.44;
    case 4: return 1.37;
    case 6: return 3.354;
    default: return 5.2;
    }
}

} // namespace

double withFilters(double cycles, double bytes, const LayoutMachine& machine)
{
    const core::TargetFacts& facts = machine.facts;
    const double cached = kReachedOfL2 * facts.l2BytesPerCycle;
    if (machine.lanes < kStreamingLanes)
        return cycles + bytes / (machine.staysInCache ? cached : facts.coldBytesPerCycle());
    const double reading = bytes / (machine.staysInCache ? cached : facts.memoryBytesPerCycle);
    return std::max(cycles, reading) + 0.25 * std::min(cycles, reading);
}

WinogradWork winogradWork(const ConvolutionSize& size, const WinogradTile& tile)
{
    const double filters =
        productsOf(size, tile) * static_cast<double>(size.inChannels * size.outChannels);
    return {.filters = filters,
            .products = filters * static_cast<double>(size.batch) * tilesOf(size, tile),
            .moved = movedElements(size, tile)};
}

std::vector<WinogradTile> winogradTiles(const ConvolutionSize& size)
{
    constexpr int64_t kPointsThatMix = 6; // along one axis with more along the other
    std::vector<WinogradTile> out;
    for (const WinogradAxis& rows : tilesAlong(size.kernel[0], size.stride[0]))
        for (const WinogradAxis& columns : tilesAlong(size.kernel[1], size.stride[1])) {
            const int64_t least = std::min(rows.points(), columns.points());
            const int64_t most = std::max(rows.points(), columns.points());
            const bool isOfBoth = most > 1 && (least == most || least >= kPointsThatMix);
            const WinogradTile tile{rows.tile, columns.tile};
            if ((isOfBoth || (least == 1 && most > 1)) && isTransformedOnce(size, tile))
                out.push_back(tile);
        }
    return out;
}

double winogradError(const ConvolutionSize& size, const WinogradTile& tile)
{
    // Measured against binary64 on normal data; the errors of the sum grow with its root. Direct
    // convolution has 1.6e-8 for the root of all products.
    const auto [rows, columns] = axesOf(size, tile);
    const auto channels = static_cast<double>(size.phases() * size.inChannels);
    return 1.6e-8 * errorOf(rows.points()) * errorOf(columns.points()) * std::sqrt(channels);
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

WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine,
                          const WinogradTile& tile)
{
    if (tile.isDirect()) return {.cycles = directCycles(size, machine)};
    WinogradForm best{tile, false, transformedBeforeCycles(size, machine, tile)};
    if (machine.lanes < kInKernelLanes || !hasKernelTransform(size, tile)) return best;
    const double inKernel = transformedInKernelCycles(size, machine, tile);
    return inKernel < best.cycles ? WinogradForm{tile, true, inKernel} : best;
}

WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine)
{
    WinogradForm best = winogradForm(size, machine, WinogradTile{});
    for (const WinogradTile& tile : winogradTiles(size)) {
        if (winogradError(size, tile) > machine.maxError) continue;
        const WinogradForm form = winogradForm(size, machine, tile);
        if (form.cycles < best.cycles) best = form;
    }
    return best;
}

core::Shape sizedShape(const core::Module& module, core::Shape images)
{
    const auto each =
        images.size() == 4 ? core::constantShape({images[2], images[3]}) : std::nullopt;
    if (each && !images[0].isConst())
        images[0] = core::Dim(
            patchesAtOnce(images[0], core::elementCount(*each), core::boundsOf(module.main())));
    return images;
}

std::optional<ConvolutionSize> convolutionSize(const core::Module& module,
                                               const core::NodeRecord& node)
{
    if (!isOp(node, conv2dOp)) return std::nullopt;
    const auto weight = knownShape(module, node.operands[1]);
    const core::Shape shape = sizedShape(module, node.types[0].shape);
    const auto out = core::constantShape(shape);
    if (!weight || weight->size() != 4 || !out || out->size() != 4) return std::nullopt;
    const std::vector<int64_t> strides = node.attrs.integers("strides", {1, 1});
    const ConvolutionSize size{.batch = (*out)[0],
                               .inChannels = (*weight)[1],
                               .outChannels = (*weight)[0],
                               .rows = (*out)[2],
                               .columns = (*out)[3],
                               .kernel = {(*weight)[2], (*weight)[3]},
                               .stride = {strides.at(0), strides.at(1)},
                               .groups = node.attrs.integer("groups", 1)};
    // Depthwise kernels read about as much as they multiply.
    return size.groups > 1 && size.inChannels == 1 ? std::nullopt : std::optional(size);
}

std::optional<ConvolutionSize> winogradSize(const core::Module& module,
                                            const core::NodeRecord& node)
{
    const std::vector<int64_t> ones{1, 1};
    const auto size = convolutionSize(module, node);
    if (!size || node.attrs.integers("dilation", ones) != ones) return std::nullopt;
    return winogradTiles(*size).empty() ? std::nullopt : size;
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

std::string tilesText(const WinogradTile& tile)
{
    if (tile.isHalves()) return "products of halves";
    return "tiles of " + std::to_string(tile.rows) + " x " + std::to_string(tile.columns);
}

std::string winogradReason(const WinogradForm& form, const ConvolutionSize& size)
{
    const std::string where = form.isTransformedInKernel ? ", raw filters" : "";
    return tilesText(form.tile) + where + ", expected relative error " +
           errorText(winogradError(size, form.tile));
}

std::string errorText(double error)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", error);
    return text;
}

} // namespace tenon::compiler
