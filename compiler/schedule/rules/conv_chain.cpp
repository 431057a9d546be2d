// SPDX-License-Identifier: Apache-2.0
// conv_chain: convolutions and pools one behind the other, a strip of rows at a time, so that what
// is between them stays in the second-level cache.
#include "compiler/schedule/row_strips.h"
#include "compiler/schedule/rules/conv_rows.h"
#include "compiler/schedule/rules/conv_tiles.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/kernel_form.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kPlainTag = "conv2d_nchwc";
constexpr const char* kDepthwiseTag = "depthwise_conv2d_nchwc";
constexpr const char* kPoolTag = "pool";

std::string tagOf(const tir::Stmt& block) { return block->block.annotations.string("tag", ""); }

/// Each channel by itself.
bool isSliding(const std::string& tag) { return tag == kDepthwiseTag || tag == kPoolTag; }

bool isPart(const std::string& tag) { return tag == kPlainTag || isSliding(tag); }

/// The chain's blocks by meaning.
struct Chain
{
    std::vector<std::string> convs;   ///< and pools, in order
    std::vector<std::string> pads;    ///< "" for one without padding
    std::vector<std::string> between; ///< last block of each but the last
};

Chain chainOf(const Schedule& schedule)
{
    Chain chain;
    std::string last, pad;
    for (const std::string& name : schedule.blocks()) {
        const std::string tag = tagOf(blockOf(schedule, name));
        if (isPart(tag)) {
            if (!chain.convs.empty()) chain.between.push_back(last);
            chain.convs.push_back(name);
            chain.pads.push_back(pad);
            pad.clear();
        }
        if (tag == "pad")
            pad = name;
        else
            last = name;
    }
    return chain;
}

/// True for the padding before a first convolution over all channels.
bool isFirstPad(const Schedule& schedule, const Chain& chain, const std::string& block)
{
    return block == chain.pads[0] && !isSliding(tagOf(blockOf(schedule, chain.convs[0])));
}

/// Elementwise blocks into one behind each convolution; padding into the windows and the image, but
/// not into blocks of channels that a convolution reads.
void simplifyChain(Schedule& schedule, const Chain& chain, const TargetFacts& facts)
{
    std::vector<std::string> keep = chain.convs;
    keep.insert(keep.end(), chain.pads.begin(), chain.pads.end());
    keep.insert(keep.end(), chain.between.begin(), chain.between.end());
    inlineElementwise(schedule, keep);
    for (size_t i = 0; i < chain.convs.size(); ++i) {
        const std::string &pad = chain.pads[i], &conv = chain.convs[i];
        if (pad.empty()) continue;
        if (isFirstPad(schedule, chain, pad))
            (void)inlinePlanePad(schedule, pad, conv);
        else if (!inlineWindowPad(schedule, pad, conv, facts) &&
                 !schedule.tries().computeInline(pad)) // strips have no room for a copy
            return schedule.fail(badSchedule("conv_chain", "cannot take the padding into " + conv));
    }
    for (const std::string& conv : chain.convs) {
        const bool isResult =
            conv != chain.convs.back() &&
            std::find(chain.between.begin(), chain.between.end(), conv) != chain.between.end();
        if (isResult)
            return schedule.fail(
                badSchedule("conv_chain", "nothing follows " + conv + " elementwise"));
        accumulateInRegisters(schedule, conv);
    }
}

/// Blocks of channels that a pointwise convolution computes together: those of a block of weights,
/// or of a tile that takes vectors from several.
int64_t groupOf(const Schedule& schedule, const std::string& conv, const TargetFacts& facts)
{
    const tir::Stmt block = blockOf(schedule, conv);
    const Attrs& sizes = block->block.annotations;
    const int64_t together = sizes.integer("kernel_block", 1) / sizes.integer("out_block", 1);
    if (together > 1 || isSliding(tagOf(block))) return std::max<int64_t>(1, together);
    const ConvShape shape = shapeOfConv(schedule, conv);
    return mayLeaveRest(shape, facts)
               ? blocksPerGroup(shape.outBlocks, shape.columns, shape.weightBytes, facts)
               : 1;
}

/// Bytes between the convolutions while a strip of all rows of one image is computed: a window
/// needs no more channels than are computed together.
int64_t heldBytes(const Schedule& schedule, const Chain& chain, const TargetFacts& facts)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < chain.between.size(); ++i) {
        const tir::Buffer buffer =
            bufferNamed(schedule.function(), outputOf(schedule, chain.between[i]));
        int64_t ofImage = buffer->dtype.bytes();
        for (size_t axis = 1; axis < buffer->shape.size(); ++axis)
            ofImage *= buffer->shape[axis]->integer;
        const bool isGrouped = tagOf(blockOf(schedule, chain.convs[i])) == kPlainTag;
        bytes += isGrouped ? ofImage * groupOf(schedule, chain.convs[i], facts) /
                                 buffer->shape[1]->integer
                           : ofImage;
    }
    return bytes;
}

/// True for chains of bytes, which exist to save memory.
bool isOfBytes(const Schedule& schedule, const Chain& chain)
{
    return bufferNamed(schedule.function(), outputOf(schedule, chain.between[0]))->dtype.bits == 8;
}

/// Rows of the result that are computed at a time.
int64_t stripOf(const Schedule& schedule, const Chain& chain, int64_t rows,
                const TargetFacts& facts)
{
    if (!isOfBytes(schedule, chain))
        return rowsPerStrip(rows, heldBytes(schedule, chain, facts) / rows, facts);
    int64_t window = 1, stride = 1;
    for (size_t i = 1; i < chain.convs.size(); ++i) {
        const tir::Stmt block = blockOf(schedule, chain.convs[i]);
        if (!isSliding(tagOf(block))) continue;
        window = axesOf(schedule, chain.convs[i])[5].extent;
        stride = block->block.annotations.integers("strides", {1, 1})[0];
    }
    return rowsPerShortStrip(rows, window, stride);
}

/// Strips of the result, with everything before it computed inside, and what a window reads group
/// by group of channels; the result are the loops around them that threads may share.
std::vector<std::string> cutStrips(Schedule& schedule, const Chain& chain, const TargetFacts& facts)
{
    const std::vector<std::string> blocks = schedule.blocks();
    const std::vector<std::string> loops = ownLoopsOf(schedule, blocks.back());
    const int64_t rows = schedule.extentOf(loops[2]);
    const int64_t height = stripOf(schedule, chain, rows, facts);
    const auto strips = schedule.split(loops[2], {-1, height});
    schedule.reorder({loops[0], strips[0], loops[1], strips[1], loops[3], loops[4]});
    std::vector<std::string> outer{loops[0], strips[0]};
    std::string around = strips[0];
    for (size_t i = blocks.size() - 1; i-- > 0;) {
        if (isFirstPad(schedule, chain, blocks[i])) {
            schedulePad(schedule, blocks[i], around, facts);
            continue;
        }
        schedule.computeAt(blocks[i], around);
        if (!isSliding(tagOf(blockOf(schedule, blocks[i]))) || blocks[i] == chain.convs[0])
            continue;
        const std::vector<std::string> own = ownLoopsOf(schedule, blocks[i]);
        const auto groups = schedule.split(own[1], {-1, groupOf(schedule, chain.convs[0], facts)});
        around = groups[0];
        if (blocks[i] == chain.convs.back()) outer.insert(outer.end(), {own[0], around});
    }
    return outer;
}

} // namespace

bool isConvChain(const tir::PrimFunc& function)
{
    int64_t convs = 0;
    for (const tir::Stmt& block : blocksIn(function.body)) {
        const std::string tag = tagOf(block);
        if (tag == kPlainTag && !isBlockedConv(block)) return false;
        if (isSliding(tag) && block->block.iters.size() != 7) return false;
        convs += isPart(tag);
    }
    return convs > 1;
}

void scheduleConvChain(Schedule& schedule, const TargetFacts& facts)
{
    const Chain chain = chainOf(schedule);
    simplifyChain(schedule, chain, facts);
    if (schedule.hasFailed()) return; // the blocks are not those of a chain
    const auto outer = cutStrips(schedule, chain, facts);
    for (size_t i = 0; i < chain.convs.size(); ++i) {
        const std::string& conv = chain.convs[i];
        const auto left = isSliding(tagOf(blockOf(schedule, conv)))
                              ? tileWindowRows(schedule, conv, facts)
                              : tileConv2dRows(schedule, conv, facts);
        // Only what belongs to the next convolution may wait for it.
        const bool isLast = i + 1 == chain.convs.size();
        const std::string next = left.empty() ? "nothing" : left.front();
        if (isLast ? !left.empty() : next != chain.convs[i + 1])
            return schedule.fail(badSchedule("conv_chain", "of " + conv + ": " + next +
                                                               " cannot follow on its tiles"));
    }
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
