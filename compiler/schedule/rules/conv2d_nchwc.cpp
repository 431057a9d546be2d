// SPDX-License-Identifier: Apache-2.0
// conv2d_nchwc: blocked convolution with a register tile of output vectors x positions, weights
// read contiguously, everything after it computed on the tile.
#include "compiler/schedule/rules/conv_rows.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Steps of the reduction in the body of the innermost loop.
constexpr int64_t kUnrolledLanes = 4;
/// So few columns leave small tiles, which cost more than moving sums: dot products of bytes with
/// 512 channels at 7 x 7 took 1.17 of the time.
constexpr int64_t kFewColumns = 8;

/// Loops of the convolution block by meaning.
struct ConvLoops
{
    std::string n, outBlock, row, column, lane, inBlock, kernelRow, kernelColumn, inLane;
};

struct ConvShape
{
    int64_t lanes, outBlocks, rows, columns, inLanes, kernelRows, kernelColumns;
    int64_t vectors; ///< output vectors per weight block
    tir::Buffer weights;
    int64_t weightBytes; ///< all weights
    int64_t inputRowBytes;
    bool isPointwise; ///< height and width can be walked as one axis
};

ConvLoops loopsOf(const Schedule& schedule, const std::string& conv)
{
    const std::vector<std::string> l = ownLoopsOf(schedule, conv);
    return {l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8]};
}

ConvShape shapeOf(const Schedule& schedule, const std::string& conv)
{
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    ConvShape shape{.lanes = axes[4].extent,
                    .outBlocks = axes[1].extent,
                    .rows = axes[2].extent,
                    .columns = axes[3].extent,
                    .inLanes = axes[8].extent,
                    .kernelRows = axes[6].extent,
                    .kernelColumns = axes[7].extent};
    tir::Buffer data, weight;
    for (const tir::Buffer& buffer : inputsOf(schedule, conv))
        (buffer->shape.size() == 6 ? weight : data) = buffer;
    shape.weights = weight;
    shape.vectors = weight->shape[5]->integer / shape.lanes;
    shape.weightBytes = bytesOf(weight);
    shape.inputRowBytes = bytesOf(data) / std::max<int64_t>(1, data->shape[2]->integer);
    shape.isPointwise = shape.kernelRows == 1 && shape.kernelColumns == 1 &&
                        data->shape[2]->integer == shape.rows &&
                        data->shape[3]->integer == shape.columns;
    return shape;
}

/// Walks height and width of the convolution and of everything after it as one axis.
Status flattenImage(Schedule& schedule, const std::string& conv)
{
    std::vector<std::string> blocks = blocksAfter(schedule, conv);
    blocks.insert(blocks.begin(), conv);
    std::vector<std::string> buffers;
    for (const std::string& block : blocks) {
        const std::string buffer = outputOf(schedule, block);
        if (!isOutput(schedule, buffer)) buffers.push_back(buffer);
        if (const auto loop = schedule.fuseAxes(block, 2); !loop) return loop.error();
    }
    for (const std::string& buffer : buffers)
        if (Status status = schedule.fuseDims(buffer, 2); !status) return status;
    return kDone;
}

bool canFlatten(const Schedule& schedule, const std::string& conv)
{
    for (const std::string& block : blocksAfter(schedule, conv)) {
        const std::vector<AxisView> axes = axesOf(schedule, block);
        if (axes.size() != 5) return false;
        for (const AxisView& axis : axes)
            if (axis.isReduce || axis.loop.empty()) return false;
    }
    return true;
}

/// Rows one outer iteration takes: few enough to leave work for every thread and to keep the input
/// rows in the second-level cache.
int64_t rowsPerStep(const ConvShape& shape, const TargetFacts& facts)
{
    const int64_t cached =
        std::max<int64_t>(1, facts.l2Bytes / 4 / std::max<int64_t>(1, shape.inputRowBytes));
    const int64_t perThread = std::max<int64_t>(1, shape.rows / (2 * int64_t{facts.threads}));
    return divisorUpTo(shape.rows, std::min<int64_t>({cached, perThread, 16}));
}

/// The loops that tiling made, by meaning; "" where there is none.
struct ConvTiles
{
    std::string step;      ///< rows or runs of positions that one thread takes
    std::string row;       ///< rows inside a step
    std::string tiles;     ///< register tiles inside a row or step
    std::string positions; ///< inside a register tile
};

/// Weights that do not stay in the second-level cache are read once, for all rows.
bool readsWeightsOnce(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.weightBytes > facts.l2Bytes / 2;
}

/// Runs of register tiles along the joined image: several per step, the same number for each.
Result<ConvTiles> tilePositions(Schedule& schedule, const std::string& loop, int64_t positions,
                                const TargetFacts& facts)
{
    const int64_t extent = schedule.extentOf(loop);
    if (extent % positions != 0) {
        const auto parts = schedule.splitOverlap(loop, positions);
        if (!parts) return parts.error();
        return ConvTiles{.tiles = (*parts)[0], .positions = (*parts)[1]};
    }
    const int64_t count = extent / positions;
    const int64_t wanted = std::clamp<int64_t>(count / (2 * int64_t{facts.threads}), 1, 8);
    const auto parts = schedule.split(loop, {-1, divisorUpTo(count, wanted), positions});
    if (!parts) return parts.error();
    return ConvTiles{.step = (*parts)[0], .tiles = (*parts)[1], .positions = (*parts)[2]};
}

Result<ConvTiles> tileRows(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                           int64_t positions, const TargetFacts& facts)
{
    const auto rows = schedule.split(loops.row, {-1, rowsPerStep(shape, facts)});
    if (!rows) return rows.error();
    const auto columns = schedule.splitOverlap(loops.column, positions);
    if (!columns) return columns.error();
    return ConvTiles{(*rows)[0], (*rows)[1], (*columns)[0], (*columns)[1]};
}

/// Products of bytes where lanes are operands.
bool hasByteLanes(const ConvShape& shape, const TargetFacts& facts)
{
    return facts.hasLaneOperand && shape.weights->dtype == kInt32;
}

/// Such products want inputs four at a time, and registers for pairs of weights and of products
/// where there is no dot product.
TargetFacts tileFacts(const ConvShape& shape, TargetFacts facts)
{
    constexpr int kTaken = 8;
    if (hasByteLanes(shape, facts)) facts.vectorRegisters -= kTaken;
    return facts;
}

/// Reduction loops from outside to inside; the last one is unrolled unless it is the only step.
struct ConvReduction
{
    std::vector<std::string> loops;
    std::string unrolled;
};

Result<ConvReduction> splitReduction(Schedule& schedule, const ConvLoops& loops,
                                     const ConvShape& shape, bool hasByteLanes)
{
    ConvReduction out{{loops.inBlock, loops.kernelRow, loops.kernelColumn}, ""};
    if (shape.inLanes == 1 && hasByteLanes && schedule.extentOf(loops.inBlock) % 2 == 0) {
        // A quad of channels is a short step; two of them are what a product of matrices takes.
        const auto pairs = schedule.split(loops.inBlock, {-1, 2});
        if (!pairs) return pairs.error();
        out.loops = {(*pairs)[0], loops.kernelRow, loops.kernelColumn, (*pairs)[1], loops.inLane};
        out.unrolled = (*pairs)[1];
        return out;
    }
    if (shape.inLanes == 1) {
        // Unrolled kernel columns share inputs; keeping those in registers would spill the sums
        // (first layer of ResNet: 109 against 150 GFLOP/s).
        out.loops.push_back(loops.inLane);
        return out;
    }
    const auto parts =
        schedule.split(loops.inLane, {-1, divisorUpTo(shape.inLanes, kUnrolledLanes)});
    if (!parts) return parts.error();
    out.loops.push_back((*parts)[0]);
    out.loops.push_back((*parts)[1]);
    out.unrolled = (*parts)[1];
    return out;
}

/// What the tiles of a convolution walk.
enum class Walk : uint8_t
{
    Image, ///< height and width as one axis
    Steps, ///< a few rows at a time
    Rows   ///< all rows there are
};

Result<ConvTiles> tilesOf(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                          std::pair<Walk, int64_t> walk, const TargetFacts& facts)
{
    const int64_t positions = walk.second;
    if (walk.first == Walk::Image) return tilePositions(schedule, loops.column, positions, facts);
    if (walk.first == Walk::Steps) return tileRows(schedule, loops, shape, positions, facts);
    const auto columns = schedule.splitOverlap(loops.column, positions);
    if (!columns) return columns.error();
    return ConvTiles{.row = loops.row, .tiles = (*columns)[0], .positions = (*columns)[1]};
}

/// Runs of tiles that overlap would write the same elements on two threads, so one thread takes
/// them all: where positions are to be shared, a tile that divides them is faster, unless small.
RegisterTile tileOf(TileSpace space, bool sharesPositions, const TargetFacts& facts)
{
    constexpr int64_t kEnoughSums = 8;
    const RegisterTile tile = chooseTile(space, facts);
    if (!sharesPositions || facts.threads < 2 || space.positions % tile.positions == 0) return tile;
    space.isDivided = true;
    const RegisterTile divided = chooseTile(space, facts);
    return divided.vectors * divided.positions >= kEnoughSums ? divided : tile;
}

struct ConvSite
{
    ConvShape shape;
    ConvLoops loops;
};

struct ConvNest
{
    std::vector<std::string> outer; ///< loops that threads may share
    std::string blocks;             ///< the loop right inside these, or ""
    std::vector<std::string> left;  ///< blocks that cannot follow on its tiles
    std::string padLoop;            ///< where rows may be padded, or ""
};

/// Register tiles for the convolution and for what follows it.
Result<ConvNest> tileConvolution(Schedule& schedule, const std::string& conv, const ConvSite& site,
                                 Walk walk, const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    const int64_t columns = schedule.extentOf(loops.column);
    const bool endsOften = shape.inLanes <= kUnrolledLanes && columns > kFewColumns;
    const RegisterTile tile =
        tileOf({.vectors = shape.vectors, .positions = columns, .endsOften = endsOften},
               walk == Walk::Image && !readsWeightsOnce(shape, facts), tileFacts(shape, facts));
    const auto blocks = schedule.split(loops.outBlock, {-1, tile.vectors});
    if (!blocks) return blocks.error();
    const auto tiles = tilesOf(schedule, loops, shape, {walk, tile.positions}, facts);
    if (!tiles) return tiles.error();
    const auto reduction = splitReduction(schedule, loops, shape, hasByteLanes(shape, facts));
    if (!reduction) return reduction.error();

    const bool weightsFirst = readsWeightsOnce(shape, facts);
    std::vector<std::string> outer{loops.n, tiles->step};
    outer.insert(weightsFirst || tiles->step.empty() ? outer.begin() + 1 : outer.end(),
                 (*blocks)[0]);
    std::vector<std::string> order = outer;
    order.insert(order.end(), {tiles->row, tiles->tiles});
    order.insert(order.end(), reduction->loops.begin(), reduction->loops.end());
    order.insert(order.end(), {tiles->positions, (*blocks)[1], loops.lane});
    std::erase(order, "");
    std::erase(outer, "");
    const bool readsWeightsOften = !weightsFirst && !tiles->step.empty();
    if (readsWeightsOften) outer.pop_back();
    if (Status status = schedule.reorder(order); !status) return status.error();

    const auto left = attachEpilogue(schedule, conv, tiles->tiles, shape.lanes);
    if (!left) return left.error();
    if (Status status = initialiseTile(schedule, conv, reduction->loops[0], 3, shape.lanes);
        !status)
        return status.error();
    if (!reduction->unrolled.empty())
        if (Status status = schedule.unroll(reduction->unrolled); !status) return status.error();
    if (Status status = unrollTile(schedule, conv, 3, shape.lanes); !status) return status.error();
    return ConvNest{.outer = outer,
                    .blocks = readsWeightsOften ? (*blocks)[0] : "",
                    .left = *left,
                    .padLoop = weightsFirst ? "" : tiles->step};
}

bool sharesEvenly(const Schedule& schedule, const std::vector<std::string>& loops,
                  const TargetFacts& facts)
{
    int64_t steps = 1;
    for (const std::string& loop : loops) steps *= schedule.extentOf(loop);
    return steps % std::max<int64_t>(1, facts.threads) == 0;
}

} // namespace

Status scheduleConv2dNchwc(Schedule& schedule, const TargetFacts& facts)
{
    const std::string conv = anchorOf(schedule);
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    std::vector<std::string> keep = pads;
    keep.push_back(conv);
    inlineElementwise(schedule, keep);
    if (Status status = accumulateInRegisters(schedule, conv); !status) return status;
    ConvSite site{shapeOf(schedule, conv), loopsOf(schedule, conv)};
    const bool flat = pads.empty() && site.shape.isPointwise && canFlatten(schedule, conv);
    if (flat) {
        if (Status status = flattenImage(schedule, conv); !status) return status;
        site.loops.column = axesOf(schedule, conv)[2].loop;
    }
    const auto nest =
        tileConvolution(schedule, conv, site, flat ? Walk::Image : Walk::Steps, facts);
    if (!nest) return nest.error();
    if (Status status = streamWeights(schedule, site.shape.weights, facts); !status) return status;

    const std::string padLoop = pads.size() == 1 ? nest->padLoop : "";
    for (const std::string& pad : pads)
        if (Status status = schedulePad(schedule, pad, padLoop, facts); !status) return status;
    for (const std::string& block : nest->left)
        if (Status status = scheduleElementwise(schedule, block, facts); !status) return status;
    std::vector<std::string> shared = nest->outer;
    if (!sharesEvenly(schedule, shared, facts) && padLoop.empty() && !nest->blocks.empty())
        shared.push_back(nest->blocks);
    return parallelise(schedule, shared, facts);
}

Result<std::vector<std::string>> tileConv2dRows(Schedule& schedule, const std::string& conv,
                                                const TargetFacts& facts)
{
    const ConvSite site{shapeOf(schedule, conv), loopsOf(schedule, conv)};
    const auto nest = tileConvolution(schedule, conv, site, Walk::Rows, facts);
    if (!nest) return nest.error();
    return nest->left;
}

} // namespace tenon::compiler
