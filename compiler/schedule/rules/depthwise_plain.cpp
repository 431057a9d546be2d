// SPDX-License-Identifier: Apache-2.0
// Vectors along columns, tiles of several rows: the rows of a window are rows of its neighbours'
// windows too, which are then loaded once, and as many sums grow side by side as hide their
// latency. Padding is written for a few channels at a time and is read from the first-level cache.
#include "compiler/schedule/rules/depthwise_plain.h"

#include "compiler/schedule/tree.h"

#include <algorithm>
#include <bit>

namespace tenon::compiler {
namespace {

constexpr int64_t kShortestVector = 4;
/// Windows of so many elements are unrolled whole, and wider rows are not unrolled.
constexpr int64_t kFewTaps = 9, kWidestUnrolled = 7;

/// Rows and vectors of sums that grow side by side.
struct ImageTile
{
    int64_t rows = 1;
    int64_t vectors = 1;
};

/// Lanes along `columns`: masks fill a part of a vector, elsewhere two overlap.
int64_t lanesAlong(int64_t columns, int64_t lanes, const TargetFacts& facts)
{
    const int64_t most = std::min(columns, lanes);
    if (facts.hasEmbeddedBroadcast) return most; // AVX-512
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

/// Cycles of all tiles; half a cycle of each step is of what no tile hides.
double cyclesOf(const ImageTile& tile, int64_t rows, int64_t vectors, const TargetFacts& facts)
{
    const int64_t tiles =
        ((rows + tile.rows - 1) / tile.rows) * ((vectors + tile.vectors - 1) / tile.vectors);
    const double sums = static_cast<double>(tile.rows * tile.vectors) / facts.vectorMacs();
    return static_cast<double>(tiles) * (sums + 0.5);
}

/// The cheapest tile whose sums leave registers for the weights and inputs of a step.
ImageTile tileOf(int64_t rows, int64_t vectors, int64_t taps, const TargetFacts& facts)
{
    const int64_t held = std::min(taps, kFewTaps);
    const int64_t room = std::max<int64_t>(1, (facts.vectorRegisters - held) / 2);
    ImageTile best;
    double bestCycles = 1e300;
    for (int64_t r = 1; r <= std::min(rows, room); ++r) {
        for (int64_t v = 1; v <= std::min(vectors, room / r); ++v) {
            const double cycles = cyclesOf({r, v}, rows, vectors, facts);
            if (cycles >= bestCycles) continue;
            best = {r, v};
            bestCycles = cycles;
        }
    }
    return best;
}

/// Loops that compute padding for what is inside: some channels, or some rows of one channel.
struct PadSteps
{
    int64_t channels = 1;
    int64_t rows; ///< of results
};

PadSteps padStepsOf(const std::vector<AxisView>& axes, const tir::Buffer& padded, int64_t stride,
                    const TargetFacts& facts)
{
    const int64_t rowBytes = padded->shape[3]->integer * padded->dtype.bytes();
    const int64_t plane = rowBytes * padded->shape[2]->integer;
    PadSteps steps{.rows = axes[2].extent};
    if (plane <= facts.l2Bytes / 8) {
        steps.channels =
            divisorUpTo(axes[1].extent, std::max<int64_t>(1, facts.l1Bytes / 4 / plane));
        return steps;
    }
    const int64_t held = facts.l2Bytes / 8 / std::max<int64_t>(1, rowBytes);
    steps.rows =
        divisorUpTo(steps.rows, std::max<int64_t>(1, (held - axes[5].extent) / stride + 1));
    return steps;
}

bool isDepthwise(const Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    return schedule.function().attrs.string("kind", "") == "conv2d" && axes.size() == 7 &&
           axes[4].extent == 1 && blocksBefore(schedule, conv).size() <= 1 &&
           blockOf(schedule, conv)->block.annotations.integer("groups", 1) > 1 &&
           axes[3].extent >= kShortestVector && lanesOf(schedule, conv, facts) >= kShortestVector;
}

/// Sums of a tile below `outer`; the blocks that cannot follow.
std::vector<std::string> tileImage(Schedule& schedule, const std::string& conv,
                                   std::vector<std::string> order, const std::string& row,
                                   const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    const int64_t lanes = lanesAlong(axes[3].extent, lanesOf(schedule, conv, facts), facts);
    const int64_t taps = axes[5].extent * axes[6].extent;
    const ImageTile tile = tileOf(schedule.extentOf(row), axes[3].extent / lanes, taps, facts);
    const auto rows = schedule.splitOverlap(row, tile.rows);
    const auto runs = schedule.splitOverlap(axes[3].loop, tile.vectors * lanes);
    const auto lane = schedule.split(runs[1], {-1, lanes});
    const std::string &reduced = axes[4].loop, &kernelRow = axes[5].loop,
                      &kernelColumn = axes[6].loop;
    order.insert(order.end(), {rows[0], runs[0], reduced});
    const bool isSmall = taps <= kFewTaps, isWide = axes[6].extent > kWidestUnrolled;
    // A row's sums follow one another: what the next row reads again is not far away.
    if (isSmall)
        order.insert(order.end(), {rows[1], kernelRow, kernelColumn, lane[0], lane[1]});
    else if (isWide)
        order.insert(order.end(), {kernelRow, kernelColumn, rows[1], lane[0], lane[1]});
    else
        order.insert(order.end(), {kernelRow, rows[1], kernelColumn, lane[0], lane[1]});
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, conv, runs[0], lanes);
    initialiseTile(schedule, conv, reduced, 3, lanes);
    unrollTile(schedule, conv, isSmall ? 5 : isWide ? 3 : 4, lanes);
    return left;
}

} // namespace

bool scheduleDepthwisePlain(Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    if (!isDepthwise(schedule, conv, facts)) return false;
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    std::vector<std::string> keep = pads;
    keep.push_back(conv);
    inlineElementwise(schedule, keep);
    accumulateInRegisters(schedule, conv);
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    const int64_t stride =
        blockOf(schedule, conv)->block.annotations.integers("strides", {1, 1}).front();
    PadSteps steps{.rows = axes[2].extent};
    if (!pads.empty())
        steps = padStepsOf(axes, bufferNamed(schedule.function(), outputOf(schedule, pads[0])),
                           stride, facts);
    const auto channels = schedule.split(axes[1].loop, {-1, steps.channels});
    const auto rows = schedule.split(axes[2].loop, {-1, steps.rows});
    const std::vector<std::string> outer{axes[0].loop, channels[0], rows[0]};
    std::vector<std::string> order = outer;
    order.push_back(channels[1]);
    const auto left = tileImage(schedule, conv, order, rows[1], facts);
    for (const std::string& pad : pads) schedulePad(schedule, pad, rows[0], facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    parallelise(schedule, outer, facts);
    return true;
}

} // namespace tenon::compiler
