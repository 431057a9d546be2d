// SPDX-License-Identifier: Apache-2.0
// conv2d and conv2d_transpose of plain NCHW data: vectors along the output columns, several output
// channels per tile that share their inputs.
#include "compiler/schedule/row_strips.h"
#include "compiler/schedule/row_walk.h"
#include "compiler/schedule/rules/depthwise_plain.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/flat_image.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tenon::compiler {
namespace {

/// Steps of a transposed convolution: output s*i + p depends on the phase p alone for its weights.
int64_t phasesOf(const Schedule& schedule, const std::string& conv, size_t dim)
{
    if (schedule.function().attrs.string("kind", "") != "conv2d_transpose") return 1;
    const tir::Stmt block = blockOf(schedule, conv);
    const std::vector<int64_t> strides = block->block.annotations.integers("strides", {1, 1});
    return block->block.iters[2 + dim].extent->integer % strides[dim] == 0 ? strides[dim] : 1;
}

/// Splits `loop` by its phases; {loop over positions, loop over phases or ""}.
std::pair<std::string, std::string> splitPhases(Schedule& schedule, const std::string& loop,
                                                int64_t phases)
{
    if (phases == 1) return std::pair<std::string, std::string>(loop, "");
    const auto parts = schedule.split(loop, {-1, phases});
    return std::pair<std::string, std::string>(parts[0], parts[1]);
}

/// One pixel of every channel per result: a product of matrices, whose columns are pixels.
bool isPointwise(const Schedule& schedule, const std::string& conv)
{
    const tir::Stmt block = blockOf(schedule, conv);
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    return schedule.function().attrs.string("kind", "") == "conv2d" && axes[5].extent == 1 &&
           axes[6].extent == 1 && block->block.annotations.integer("groups", 1) == 1 &&
           block->block.annotations.integers("strides", {1, 1}) == std::vector<int64_t>{1, 1} &&
           blocksBefore(schedule, conv).empty() && canFlatten(schedule, conv, 4);
}

/// What a tile of a convolution is chosen for.
struct PlainSums
{
    int64_t filters, pixels;
    int64_t vector;             ///< pixels of a vector
    int64_t inputBytes = 0;     ///< that a vector of results reads, again for each tile of filters
    int64_t inputLoads = 1;     ///< of a vector of results in each step
    bool areInputsHeld = false; ///< by registers
};

/// Of the inputs of a vector of results, a stride apart: as many vectors, from which lanes are
/// collected. Windows begin anywhere, so a vector as long as a line of the cache lies in two.
int64_t loadsOfWindow(const Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    const int64_t loads = facts.vectorBytes >= kLineBytes ? 2 : 1;
    // Results of one phase of a transposed convolution read pixels side by side.
    if (schedule.function().attrs.string("kind", "") == "conv2d_transpose") return loads;
    return loads * blockOf(schedule, conv)->block.annotations.integers("strides", {1, 1}).at(1);
}

/// Of one row of results of so many pixels, for the filters of a group.
PlainSums sumsOfRow(const Schedule& schedule, const std::string& conv, int64_t pixels,
                    const TargetFacts& facts)
{
    const int64_t groups = blockOf(schedule, conv)->block.annotations.integer("groups", 1);
    return {.filters = axesOf(schedule, conv)[1].extent / std::max<int64_t>(1, groups),
            .pixels = pixels,
            .vector = std::min<int64_t>(pixels, lanesOf(schedule, conv, facts)),
            .inputLoads = loadsOfWindow(schedule, conv, facts),
            .areInputsHeld = true};
}

/// The tile for filters of a count that it divides, or, where some may be computed twice, of any;
/// the last of the vectors that pixels fill may overlap the one before.
RegisterTile tileOf(const PlainSums& sums, bool mayOverlap, const TargetFacts& facts)
{
    constexpr int64_t kMostTogether = 8;
    TileSpace space{.vectors = sums.filters,
                    .positions = (sums.pixels + sums.vector - 1) / sums.vector,
                    .positionBytes = sums.inputBytes,
                    .inputLoads = sums.inputLoads,
                    .positionsUpTo = sums.pixels / sums.vector,
                    .areInputsHeld = sums.areInputsHeld};
    if (mayOverlap) space.overlapUpTo = std::min(sums.filters, kMostTogether);
    return chooseTile(space, facts);
}

/// True where the pixels of one tile cannot all stay in the first-level cache, because the lines of
/// channels that lie a multiple of many lines apart share few of its places (64 channels of 32 x 32
/// pixels: 48 % of the peak on Zen 4, copied 72 %).
bool channelsCollide(int64_t channels, int64_t channelBytes, int64_t tileBytes,
                     const TargetFacts& facts)
{
    constexpr int64_t kWays = 8;
    if (channelBytes % kLineBytes != 0) return false;
    const int64_t sets = std::max<int64_t>(1, facts.l1Bytes / kWays / kLineBytes);
    const int64_t places = kWays * (sets / std::gcd(channelBytes / kLineBytes, sets));
    const int64_t lines = (tileBytes + kLineBytes - 1) / kLineBytes;
    return channels > places && lines * kLineBytes * channels <= facts.l1Bytes / 2;
}

/// All filters pass over the pixels of one register tile, which stay in the first-level cache.
void schedulePointwise(Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    inlineElementwise(schedule, {conv});
    accumulateInRegisters(schedule, conv);
    flattenImage(schedule, conv);
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    const int64_t lanes = lanesOf(schedule, conv, facts);
    const int64_t pixels = axes[2].extent, vector = std::min(pixels, lanes);
    const PlainSums sums{axes[1].extent, pixels, vector,
                         axes[3].extent * vector * inputsOf(schedule, conv)[0]->dtype.bytes()};
    RegisterTile tile = tileOf(sums, true, facts);
    // Threads cannot share runs of which the last overlaps the one before.
    const bool sharesFilters = facts.threads > 1 && pixels % (tile.positions * vector) != 0;
    if (sharesFilters) tile = tileOf(sums, false, facts);
    const auto filters = splitEvenly(schedule, axes[1].loop, tile.vectors);
    const int64_t run = tile.positions * vector;
    const tir::Buffer image = inputsOf(schedule, conv)[0];
    const int64_t bytes = image->dtype.bytes();
    const bool isCopied = !sharesFilters && axes[1].extent > tile.vectors &&
                          image->shape[3]->integer % run == 0 &&
                          channelsCollide(axes[3].extent, pixels * bytes, run * bytes, facts);
    const std::string copy =
        isCopied ? schedule.cacheRead(conv, image->name, tir::Scope::Global) : std::string();
    const auto runs = schedule.splitOverlap(axes[2].loop, run);
    const auto lane = schedule.split(runs[1], {-1, vector});
    std::vector<std::string> outer{axes[0].loop, runs[0], filters[0]};
    if (sharesFilters) std::swap(outer[1], outer[2]);
    std::vector<std::string> order = outer;
    order.insert(order.end(),
                 {axes[3].loop, axes[4].loop, axes[5].loop, lane[0], filters[1], lane[1]});
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, conv, outer[2], lanes);
    initialiseTile(schedule, conv, axes[3].loop, 3, lanes);
    unrollTile(schedule, conv, 3, lanes);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    if (isCopied) {
        schedule.computeAt(copy, runs[0]);
        const std::string last = schedule.loopsOf(copy).back();
        schedule.vectorize(schedule.split(last, {-1, lanes})[1]);
    }
    return parallelise(schedule, {outer[0], outer[1]}, facts);
}

/// Convolutions of one pixel, or of one channel, for each result; false where it is another.
bool scheduleSpecialKind(Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    if (!isPointwise(schedule, conv)) return scheduleDepthwisePlain(schedule, conv, facts);
    schedulePointwise(schedule, conv, facts);
    return true;
}

/// Each channel of a grouped convolution reads only its own input: padding it there takes the
/// memory of one channel instead of all. Machines with vectors would rather pad at once.
bool padsEachChannel(const Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    return lanesOf(schedule, conv, facts) == 1 &&
           blockOf(schedule, conv)->block.annotations.integer("groups", 1) > 1;
}

/// Rows of the result whose padded input fits half of the second-level cache, which then need not
/// be written to memory and read again; 0 where all of it fits, or not even two do.
int64_t rowsPerPad(const Schedule& schedule, const std::vector<std::string>& pads,
                   const std::string& conv, const TargetFacts& facts)
{
    const tir::Stmt block = blockOf(schedule, conv);
    if (pads.size() != 1 || schedule.function().attrs.string("kind", "") != "conv2d" ||
        padsEachChannel(schedule, conv, facts))
        return 0;
    const tir::Buffer padded = bufferNamed(schedule.function(), outputOf(schedule, pads[0]));
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    if (bytesOf(padded) == 0) return 0; // of unknown size
    const int64_t image = bytesOf(padded) / padded->shape[0]->integer;
    if (image <= facts.l2Bytes / 2) return 0;
    const int64_t held = facts.l2Bytes / 2 / (image / padded->shape[2]->integer);
    const int64_t window =
        (axes[5].extent - 1) * block->block.annotations.integers("dilation", {1, 1})[0];
    const int64_t rows =
        (held - window - 1) / block->block.annotations.integers("strides", {1, 1})[0] + 1;
    const int64_t even = evenDivisorUpTo(axes[2].extent, rows, facts);
    return rows > window && even > window ? even : 0;
}

/// Loops around the sums of one row, from outside to inside.
struct RowLoops
{
    std::vector<std::string> order;
    std::vector<std::string> outer; ///< that threads may share
    std::string padAt;              ///< where a strip of rows is padded, or ""
};

/// `loops`: over images, tiles of filters and rows.
RowLoops loopsAroundRows(Schedule& schedule, const std::string& conv,
                         const std::vector<std::string>& pads,
                         const std::array<std::string, 3>& loops, const TargetFacts& facts)
{
    const auto& [images, filters, row] = loops;
    const int64_t padRows = rowsPerPad(schedule, pads, conv, facts);
    if (padRows == 0) return {{images, filters, row}, {images, filters}, ""};
    const auto strips = schedule.split(row, {-1, padRows});
    return {{images, strips[0], filters, strips[1]}, {images, strips[0]}, strips[0]};
}

/// What is elementwise in front of the convolution, but what pads for it.
void inlineBeside(Schedule& schedule, const std::string& conv, std::vector<std::string> pads)
{
    pads.push_back(conv);
    return inlineElementwise(schedule, pads);
}

} // namespace

void scheduleConv2dPlain(Schedule& schedule, const TargetFacts& facts)
{
    const std::string conv = anchorOf(schedule);
    if (scheduleSpecialKind(schedule, conv, facts)) return;
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    inlineBeside(schedule, conv, pads);
    const std::array phases{phasesOf(schedule, conv, 0), phasesOf(schedule, conv, 1)};
    accumulateInRegisters(schedule, conv);
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    const int64_t lanes = lanesOf(schedule, conv, facts);
    const auto rows = splitPhases(schedule, axes[2].loop, phases[0]);
    const auto columns = splitPhases(schedule, axes[3].loop, phases[1]);
    const PlainSums sums = sumsOfRow(schedule, conv, schedule.extentOf(columns.first), facts);
    // Threads share filters.
    const bool mayOverlap = facts.threads == 1 && sums.filters == axes[1].extent;
    const RegisterTile tile = tileOf(sums, mayOverlap, facts);
    const auto channels = splitEvenly(schedule, axes[1].loop, tile.vectors);
    const auto runs = schedule.splitOverlap(columns.first, tile.positions * sums.vector);
    const auto lane = schedule.split(runs[1], {-1, sums.vector});

    RowLoops around =
        loopsAroundRows(schedule, conv, pads, {axes[0].loop, channels[0], rows.first}, facts);
    std::vector<std::string>& order = around.order;
    for (const std::string& phase : {rows.second, columns.second})
        if (!phase.empty()) order.push_back(phase);
    order.push_back(runs[0]);
    for (size_t i = 4; i < axes.size(); ++i) order.push_back(axes[i].loop);
    order.insert(order.end(), {channels[1], lane[0], lane[1]});
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, conv, runs[0], lanes);
    initialiseTile(schedule, conv, axes[4].loop, 3, lanes);
    unrollTile(schedule, conv, 3, lanes);

    if (padsEachChannel(schedule, conv, facts)) around.padAt = channels[0];
    for (const std::string& pad : pads) schedulePad(schedule, pad, around.padAt, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    // Else padding is beside the rows.
    if (pads.empty() || around.padAt.empty()) around.outer.push_back(rows.first);
    return parallelise(schedule, around.outer, facts);
}

} // namespace tenon::compiler
