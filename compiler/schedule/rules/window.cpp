// SPDX-License-Identifier: Apache-2.0
// depthwise_conv2d_nchwc and blocked pools: a run of output columns per register tile, the window's
// columns unrolled inside, so that neighbours share their inputs. Small windows read the image
// itself: lowering takes the guards of the padding out of all tiles but those at the border.
#include "compiler/schedule/rules/conv_rows.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/plain_pool.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Registers of cores without vectors, which compute one channel at a time.
constexpr int kWordBytes = 4;
/// Columns of a window up to which all of them are written out.
constexpr int64_t kMostUnrolled = 7;

/// Columns per tile: the fewest wasted, then the most; the window's weights and a few inputs live
/// beside the sums.
int64_t columnsPerTile(int64_t columns, int64_t weights, const TargetFacts& facts)
{
    const int64_t room = std::max<int64_t>(
        2, facts.vectorRegisters - 3 - (weights <= facts.vectorRegisters / 3 ? weights : 0));
    int64_t best = 1, bestCost = INT64_MAX;
    const int64_t most = facts.vectorBytes <= kWordBytes ? 4 : 8;
    for (int64_t t = 1; t <= std::min<int64_t>({columns, room, most}); ++t) {
        // Short tiles wait for the latency of their own sums.
        const auto wait = static_cast<int64_t>(std::ceil(facts.sumLatency));
        const int64_t cost = (columns + t - 1) / t * std::max(t, wait);
        if (cost > bestCost) continue;
        best = t;
        bestCost = cost;
    }
    return best;
}

/// Columns per tile of a sum of integers, one channel at a time: the fewest instructions, of which
/// neighbours share the loads.
int64_t columnsPerWordTile(const std::vector<AxisView>& axes, int64_t stride)
{
    constexpr int64_t kRegisters = 10; // beside addresses and counters
    constexpr int64_t kOutput = 12;    // a sum's start, scale, rounding and store
    const int64_t columns = axes[3].extent, kernel = axes[6].extent;
    int64_t best = 1, bestCost = INT64_MAX;
    for (int64_t t = 1; t <= std::min(columns, std::max<int64_t>(1, kRegisters - kernel - 1));
         ++t) {
        const int64_t inputs = std::min(t * kernel, (t - 1) * stride + kernel);
        const int64_t row = kernel + inputs + t * kernel;
        const int64_t cost = (columns + t - 1) / t * (axes[5].extent * row + t * kOutput);
        if (cost >= bestCost) continue;
        best = t;
        bestCost = cost;
    }
    return best;
}

/// Rows of one plane that are computed after its rows were padded: what the first-level cache
/// holds.
int64_t rowsPerStep(int64_t rows, int64_t rowBytes, int64_t stride, int64_t kernelRows,
                    const TargetFacts& facts)
{
    const int64_t held = facts.l2Bytes / 8 / std::max<int64_t>(1, rowBytes);
    return divisorUpTo(rows, std::max<int64_t>(1, (held - kernelRows) / stride + 1));
}

/// Windows whose rows and columns are all unrolled.
bool isSmall(int64_t kernelRows, int64_t kernelColumns)
{
    return kernelColumns <= kMostUnrolled && kernelRows * kernelColumns <= 9;
}

/// True where the padding is no zero, as in bytes: sums of large windows leave out none of its
/// rows, and in border tiles each term asks for itself (576 windows of 5 x 5 at 7 x 7 pixels,
/// Cortex-A72: 923 thousand instructions, 450 with a copy).
bool keepsPad(const Schedule& schedule, const std::string& pad, const std::string& window)
{
    const std::vector<AxisView> axes = axesOf(schedule, window);
    return inputsOf(schedule, window).size() > 1 && !isSmall(axes[5].extent, axes[6].extent) &&
           isPlainPad(schedule, pad) &&
           !isNumber(blockOf(schedule, pad)->body->value->args.back(), 0);
}

/// True where threads share rows of a pool rather than planes: large images were computed row by
/// row, and are then read from the cache they are in (Sapphire Rapids, two threads, maxima of 128
/// channels at 55 x 55: 36 against 23 us).
bool sharesRows(const Schedule& schedule, const std::string& window, const TargetFacts& facts)
{
    constexpr int64_t kFewRows = 8;
    return inputsOf(schedule, window).size() == 1 &&
           axesOf(schedule, window)[2].extent > kFewRows &&
           blocksBefore(schedule, window).empty() && isWorthSharing(schedule, "", facts);
}

/// Rows per step without padding: all, unless threads share them or cannot share the planes evenly.
int64_t rowsPerThread(int64_t planes, int64_t rows, bool sharesRows, const TargetFacts& facts)
{
    const int64_t threads = facts.threads;
    if (!sharesRows && planes % threads == 0) return rows;
    return divisorUpTo(rows, std::max<int64_t>(1, rows / (2 * threads)));
}

/// Loops of the window's block by meaning.
struct WindowLoops
{
    std::string n, channels, row, column, lane, kernelRow, kernelColumn;
};

WindowLoops loopsOf(const Schedule& schedule, const std::string& window)
{
    const std::vector<std::string> l = ownLoopsOf(schedule, window);
    return {l[0], l[1], l[2], l[3], l[4], l[5], l[6]};
}

/// Columns that one tile computes.
int64_t tileColumnsOf(const Schedule& schedule, const std::string& window, const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, window);
    const int64_t weights =
        inputsOf(schedule, window).size() > 1 ? axes[5].extent * axes[6].extent : 0;
    const bool sumsWords =
        facts.vectorBytes <= kWordBytes && weights > 0 &&
        bufferNamed(schedule.function(), outputOf(schedule, window))->dtype == kInt32;
    if (!sumsWords) return columnsPerTile(axes[3].extent, weights, facts);
    return columnsPerWordTile(
        axes, blockOf(schedule, window)->block.annotations.integers("strides", {1, 1}).back());
}

/// One channel after the other, inside the loops `order`.
std::vector<std::string> tileByChannel(Schedule& schedule, const std::string& window,
                                       const WindowLoops& loops,
                                       const std::vector<std::string>& columns,
                                       std::vector<std::string> order)
{
    const int64_t kernelRows = schedule.extentOf(loops.kernelRow);
    const int64_t kernelColumns = schedule.extentOf(loops.kernelColumn);
    order.insert(order.end(), {loops.lane, loops.row, columns[0], loops.kernelRow, columns[1],
                               loops.kernelColumn});
    schedule.reorder(order);
    initialiseTile(schedule, window, loops.kernelRow, 1, 1);
    const auto left = attachEpilogue(schedule, window, columns[0], 1);
    if (isSmall(kernelRows, kernelColumns)) schedule.unroll(loops.kernelRow);
    if (schedule.extentOf(columns[1]) > 1) schedule.unroll(columns[1]);
    if (kernelColumns > 1 && kernelColumns <= kMostUnrolled) schedule.unroll(loops.kernelColumn);
    return left;
}

/// Data that is widened becomes part of what pads it, and of windows that read each element once;
/// others take widened rows as they would take padded ones.
void inlineWidening(Schedule& schedule, const std::string& window)
{
    std::vector<std::string> keep = blocksBefore(schedule, window);
    if (keep.empty() || !isWidening(schedule, keep[0])) return;
    keep.erase(keep.begin());
    keep.push_back(window);
    return inlineElementwise(schedule, keep);
}

/// Register tiles of columns for the window and for what follows it; `outer` goes around the rows.
/// The result names the blocks that cannot follow.
std::vector<std::string> tileColumns(Schedule& schedule, const std::string& window,
                                     const WindowLoops& loops,
                                     const std::vector<std::string>& outer,
                                     const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, window);
    const int64_t lanes = axes[4].extent;
    const int64_t vectorLanes = std::min<int64_t>(lanes, facts.lanes(kInt32.bytes()));
    const int64_t kernelRows = axes[5].extent, kernelColumns = axes[6].extent;
    const int64_t perTile = tileColumnsOf(schedule, window, facts);
    const auto columns = schedule.splitOverlap(loops.column, perTile);
    std::vector<std::string> order = outer;
    if (facts.vectorBytes <= kWordBytes)
        return tileByChannel(schedule, window, loops, columns, std::move(order));
    std::string lane = loops.lane;
    if (lanes > vectorLanes) {
        // Sums of one vector are computed for all rows before those of the next.
        const auto vectors = schedule.split(lane, {-1, vectorLanes});
        order.push_back(vectors[0]);
        lane = vectors[1];
    }
    // Long windows are walked tap by tap for all columns of a tile, whose sums stay in registers,
    // unless the weights of a row have room beside them: then each input is loaded once.
    const bool isLong =
        kernelColumns > kMostUnrolled && 2 * kernelColumns + perTile > facts.vectorRegisters;
    order.insert(order.end(), {loops.row, columns[0], loops.kernelRow});
    if (isLong) order.push_back(loops.kernelColumn);
    order.push_back(columns[1]);
    if (!isLong) order.push_back(loops.kernelColumn);
    order.push_back(lane);
    schedule.reorder(order);

    initialiseTile(schedule, window, loops.kernelRow, 2, vectorLanes);
    const auto left = attachEpilogue(schedule, window, columns[0], vectorLanes);
    if (!isSmall(kernelRows, kernelColumns))
        (void)schedule.tries().skipZeroTerms(window, 3); // refused where no row is padded
    // Microcontrollers have no room for a copy of the rows at each border.
    if (isSmall(kernelRows, kernelColumns) && lanes == vectorLanes)
        schedule.unroll(loops.kernelRow);
    unrollTile(schedule, window, isLong ? 2 : 3, vectorLanes);
    return left;
}

} // namespace

bool inlinePlanePad(Schedule& schedule, const std::string& pad, const std::string& conv)
{
    // Border tiles ask for each element; from so many sums of one on that takes longer than the
    // copy: 784 in the first layer of ResNet, 144 in those of SqueezeNet and YOLOX.
    constexpr int64_t kMostSums = 256;
    const std::vector<AxisView> axes = axesOf(schedule, pad);
    const bool hasPlanes = axes.size() == 5 && axes[4].extent == 1 && isPlainPad(schedule, pad);
    if (!hasPlanes || workOf(schedule, conv) / workOf(schedule, pad) > kMostSums) return false;
    return static_cast<bool>(schedule.tries().computeInline(pad));
}

bool inlineWindowPad(Schedule& schedule, const std::string& pad, const std::string& window,
                     const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, window);
    // Of unrolled columns each knows in a border tile whether it is padding; a branch leaves rows
    // out of sums (5 x 5 windows of 14 x 14 pixels on Zen 4: 87 us with a copy, 57 without).
    const bool isUnrolled = inputsOf(schedule, window).size() > 1 &&
                            axes[6].extent <= kMostUnrolled && facts.vectorBytes > kWordBytes;
    return (isUnrolled || isSmall(axes[5].extent, axes[6].extent)) && isPlainPad(schedule, pad) &&
           schedule.tries().computeInline(pad);
}

std::vector<std::string> tileWindowRows(Schedule& schedule, const std::string& window,
                                        const TargetFacts& facts)
{
    const WindowLoops loops = loopsOf(schedule, window);
    return tileColumns(schedule, window, loops, {loops.channels}, facts);
}

void scheduleWindow(Schedule& schedule, const TargetFacts& facts)
{
    const std::string window = anchorOf(schedule);
    inlineWidening(schedule, window);
    std::vector<std::string> pads = blocksBefore(schedule, window);
    const std::vector<AxisView> axes = axesOf(schedule, window);
    if (schedulePlainPool(schedule, window, facts)) return;
    if (axes.size() != 7) return scheduleEach(schedule, facts);
    std::vector<std::string> keep = pads;
    keep.push_back(window);
    inlineElementwise(schedule, keep);
    if (pads.size() == 1 && !keepsPad(schedule, pads[0], window) &&
        inlineWindowPad(schedule, pads[0], window, facts))
        pads.clear();
    accumulateInRegisters(schedule, window);

    const tir::Buffer input = inputsOf(schedule, window)[0];
    const std::vector<int64_t> strides =
        blockOf(schedule, window)->block.annotations.integers("strides", {1, 1});
    const int64_t rowBytes =
        input->shape[3]->integer * input->shape[4]->integer * input->dtype.bytes();
    const bool byRows = sharesRows(schedule, window, facts);
    const int64_t perStep =
        pads.empty() ? rowsPerThread(axes[0].extent * axes[1].extent, axes[2].extent, byRows, facts)
                     : rowsPerStep(axes[2].extent, rowBytes, strides[0], axes[5].extent, facts);
    WindowLoops loops = loopsOf(schedule, window);
    const auto rows = schedule.split(loops.row, {-1, perStep});
    loops.row = rows[1];
    std::vector<std::string> outer{loops.n, loops.channels, rows[0]};
    if (byRows) std::swap(outer[1], outer[2]);
    const auto left = tileColumns(schedule, window, loops, outer, facts);

    const std::string padLoop = pads.size() == 1 ? rows[0] : "";
    for (const std::string& pad : pads) schedulePad(schedule, pad, padLoop, facts);
    for (const std::string& block : left) scheduleBlock(schedule, block, facts);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
