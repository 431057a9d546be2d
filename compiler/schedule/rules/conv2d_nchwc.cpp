// SPDX-License-Identifier: Apache-2.0
// conv2d_nchwc: blocked convolution with a register tile of output vectors x positions, weights
// read contiguously, everything after it computed on the tile.
#include "compiler/schedule/rules/byte_runs.h"
#include "compiler/schedule/rules/byte_tiles.h"
#include "compiler/schedule/rules/byte_words.h"
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

/// Shares the loops around tiles among threads. Where the weights of a block are asked for during
/// all steps of the one before it, the steps stay inside of it.
void shareLoops(Schedule& schedule, const ConvNest& nest, bool mayShareBlocks, bool isAskedFor,
                const TargetFacts& facts)
{
    std::vector<std::string> shared = nest.outer;
    if (!sharesEvenly(schedule, shared, facts) && mayShareBlocks && !nest.blocks.empty())
        shared.push_back(nest.blocks);
    if (isAskedFor && shared.size() > 2 && sharesEvenly(schedule, {shared[0], shared[1]}, facts))
        shared.pop_back();
    return parallelise(schedule, shared, facts);
}

/// True where rows may be walked as one axis: no block pads the image. The one before a strided
/// 1 x 1 window takes its points, and pads nothing.
bool canJoinRows(const Schedule& schedule, const std::vector<std::string>& pads,
                 const ConvShape& shape)
{
    if (!shape.isPointwise) return false;
    if (pads.size() != 1) return pads.empty();
    const tir::Stmt body = blockOf(schedule, pads[0])->body;
    return body->kind == tir::StmtKind::Store && body->value->kind == tir::ExprKind::Load;
}

/// Bytes that are not multiplied in a tile of registers; false for all other numbers.
bool scheduleBytes(Schedule& schedule, const std::string& conv, const ConvSite& site, bool isFlat,
                   const TargetFacts& facts)
{
    const bool areRuns = multipliesRuns(schedule, conv, site.shape);
    const bool areWords = !areRuns && multipliesWords(site.shape, facts);
    const bool areTiles = !areRuns && !areWords && multipliesTiles(schedule, conv, site, facts);
    if (areRuns) scheduleConvRuns(schedule, conv, site, isFlat, facts);
    if (areWords) scheduleConvWords(schedule, conv, site, isFlat, facts);
    if (areTiles) scheduleConvTiles(schedule, conv, site, isFlat, facts);
    return areRuns || areWords || areTiles;
}

} // namespace

void scheduleConv2dNchwc(Schedule& schedule, const TargetFacts& facts)
{
    const std::string conv = anchorOf(schedule);
    if (!isBlockedConv(blockOf(schedule, conv)))
        return schedule.fail(
            badSchedule("conv2d_nchwc",
                        "of block " + quoted(conv) + ": it reads no data and weights in blocks"));
    std::vector<std::string> pads = blocksBefore(schedule, conv);
    std::vector<std::string> keep = pads;
    if (pads.size() > 1) keep = {pads.back()}; // the others make what is padded
    keep.push_back(conv);
    inlineElementwise(schedule, keep);
    pads = blocksBefore(schedule, conv);
    accumulateInRegisters(schedule, conv);
    ConvSite site{shapeOfConv(schedule, conv), loopsOfConv(schedule, conv)};
    const bool flat = canJoinRows(schedule, pads, site.shape) && canFlatten(schedule, conv, 5);
    if (flat) {
        flattenImage(schedule, conv);
        site.loops.column = axesOf(schedule, conv)[2].loop;
    }
    if (scheduleBytes(schedule, conv, site, flat, facts)) return;
    const Walk walk = flat ? Walk::Image : Walk::Steps;
    if (weightParts(schedule, site, walk, facts) > 1)
        return scheduleByParts(schedule, conv, site, flat ? Walk::Image : Walk::Rows, facts);
    auto nest = tileConvolution(schedule, conv, site, walk, facts);
    const bool isAskedFor =
        !nest.rereadsWeights && streamWeights(schedule, site.shape.weights, facts);

    if (pads.size() == 1 && !flat && nest.padLoop.empty() && nest.outer.size() > 2) {
        const auto blocks = stepPerThread(schedule, nest.outer[1], facts);
        nest.padLoop = blocks[0];
        if (!nest.padLoop.empty()) nest.outer = {nest.outer[0], nest.padLoop};
    }
    const std::string padLoop = pads.size() == 1 ? nest.padLoop : "";
    for (const std::string& pad : pads) schedulePad(schedule, pad, padLoop, facts);
    for (const std::string& block : nest.left) scheduleElementwise(schedule, block, facts);
    return shareLoops(schedule, nest, padLoop.empty(), isAskedFor, facts);
}

std::vector<std::string> tileConv2dRows(Schedule& schedule, const std::string& conv,
                                        const TargetFacts& facts)
{
    ConvSite site{shapeOfConv(schedule, conv), loopsOfConv(schedule, conv)};
    // Where a window reads group by group, a tile has that group's blocks alone.
    const int64_t blocks = schedule.extentOf(site.loops.outBlock);
    site.shape.weightBytes = site.shape.weightBytes / site.shape.outBlocks * blocks;
    site.shape.outBlocks = blocks;
    if (multipliesRuns(schedule, conv, site.shape))
        return tileConvRuns(schedule, conv, site, facts);
    if (multipliesWords(site.shape, facts)) return tileConvWords(schedule, conv, site, facts);
    const auto nest = tileConvolution(schedule, conv, site, Walk::Rows, facts);
    return nest.left;
}

} // namespace tenon::compiler
