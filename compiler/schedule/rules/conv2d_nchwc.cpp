// SPDX-License-Identifier: Apache-2.0
// conv2d_nchwc: blocked convolution with a register tile of output vectors x positions, weights
// read contiguously, everything after it computed on the tile.
#include "compiler/schedule/rules/conv_parts.h"
#include "compiler/schedule/rules/conv_rows.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/flat_image.h"
#include "compiler/schedule/rules/kernel_form.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

bool sharesEvenly(const Schedule& schedule, const std::vector<std::string>& loops,
                  const TargetFacts& facts)
{
    int64_t steps = 1;
    for (const std::string& loop : loops) steps *= schedule.extentOf(loop);
    return steps % std::max<int64_t>(1, facts.threads) == 0;
}

/// Where one instruction multiplies a word of bytes and there are no vectors.
bool multipliesWords(const ConvShape& shape, const TargetFacts& facts)
{
    return facts.vectorBytes <= 4 && shape.weights->dtype == kInt32;
}

/// Two filters x two positions: each word of either side is widened once for both of the other, and
/// the sums, the widened words and the addresses are as many as Cortex-M has registers. Rows are
/// padded as they are needed, for all filters at once.
void scheduleWords(Schedule& schedule, const std::string& conv, const ConvSite& site, bool flat,
                   const TargetFacts& facts)
{
    constexpr int64_t kFilters = 2, kPositions = 2, kPaddedRows = 2;
    const auto& [shape, loops] = site;
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    const auto filters = schedule.split(loops.lane, {-1, divisorUpTo(shape.lanes, kFilters)});
    const int64_t positions = std::min(kPositions, schedule.extentOf(loops.column));
    const auto columns = schedule.splitOverlap(loops.column, positions);
    std::vector<std::string> order{loops.n};
    std::string padLoop;
    if (!flat) {
        const auto rows = schedule.split(loops.row, {-1, divisorUpTo(shape.rows, kPaddedRows)});
        padLoop = pads.size() == 1 ? rows[0] : "";
        order.insert(order.end(), {rows[0], loops.outBlock, filters[0], rows[1]});
    } else {
        order.insert(order.end(), {loops.outBlock, filters[0]});
    }
    order.insert(order.end(), {columns[0], loops.inBlock, loops.kernelRow, loops.kernelColumn,
                               loops.inLane, columns[1], filters[1]});
    schedule.reorder(order);
    initialiseTile(schedule, conv, loops.inBlock, 2, 1);
    const auto left = attachEpilogue(schedule, conv, columns[0], 1);
    unrollTile(schedule, conv, 2, 1);
    if (shape.inLanes > 1 && shape.inLanes <= 4) schedule.unroll(loops.inLane);
    for (const std::string& pad : pads) schedulePad(schedule, pad, padLoop, facts);
    for (const std::string& block : left) scheduleElementwise(schedule, block, facts);
}

} // namespace

void scheduleConv2dNchwc(Schedule& schedule, const TargetFacts& facts)
{
    const std::string conv = anchorOf(schedule);
    if (!isBlockedConv(blockOf(schedule, conv)))
        return schedule.fail(
            badSchedule("conv2d_nchwc",
                        "of block " + quoted(conv) + ": it reads no data and weights in blocks"));
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    std::vector<std::string> keep = pads;
    keep.push_back(conv);
    inlineElementwise(schedule, keep);
    accumulateInRegisters(schedule, conv);
    ConvSite site{shapeOfConv(schedule, conv), loopsOfConv(schedule, conv)};
    const bool flat = pads.empty() && site.shape.isPointwise && canFlatten(schedule, conv, 5);
    if (flat) {
        flattenImage(schedule, conv);
        site.loops.column = axesOf(schedule, conv)[2].loop;
    }
    if (multipliesWords(site.shape, facts)) return scheduleWords(schedule, conv, site, flat, facts);
    const Walk walk = flat ? Walk::Image : Walk::Steps;
    if (weightParts(schedule, site, walk, facts) > 1)
        return scheduleByParts(schedule, conv, site, flat ? Walk::Image : Walk::Rows, facts);
    auto nest = tileConvolution(schedule, conv, site, walk, facts);
    if (!nest.rereadsWeights) streamWeights(schedule, site.shape.weights, facts);

    if (pads.size() == 1 && nest.padLoop.empty() && nest.outer.size() > 2) {
        const auto blocks = stepPerThread(schedule, nest.outer[1], facts);
        nest.padLoop = blocks[0];
        if (!nest.padLoop.empty()) nest.outer = {nest.outer[0], nest.padLoop};
    }
    const std::string padLoop = pads.size() == 1 ? nest.padLoop : "";
    for (const std::string& pad : pads) schedulePad(schedule, pad, padLoop, facts);
    for (const std::string& block : nest.left) scheduleElementwise(schedule, block, facts);
    std::vector<std::string> shared = nest.outer;
    if (!sharesEvenly(schedule, shared, facts) && padLoop.empty() && !nest.blocks.empty())
        shared.push_back(nest.blocks);
    return parallelise(schedule, shared, facts);
}

std::vector<std::string> tileConv2dRows(Schedule& schedule, const std::string& conv,
                                        const TargetFacts& facts)
{
    const ConvSite site{shapeOfConv(schedule, conv), loopsOfConv(schedule, conv)};
    const auto nest = tileConvolution(schedule, conv, site, Walk::Rows, facts);
    return nest.left;
}

} // namespace tenon::compiler
