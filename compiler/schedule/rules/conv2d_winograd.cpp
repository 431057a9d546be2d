// SPDX-License-Identifier: Apache-2.0
// conv2d_winograd: whole rows of tiles at a time, so that their transformed data, one block of
// products and one block of filters stay in the second-level cache; each tile position is a product
// of matrices with its sums in registers. Filters that come as they are are transformed in
// registers for a few tiles at a time.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The blocks of one kernel by meaning; each is named like the buffer it writes.
struct WinogradBlocks
{
    std::string pad; ///< "" when the data needs none
    std::string dataRows, dataTiles, products, resultRows, resultTiles;
    std::string filterRows, filterPoints; ///< "" when filters come transformed
    std::string last;                     ///< writes the result by pixels
};

struct WinogradShape
{
    int64_t tile;       ///< m
    int64_t rows;       ///< of tiles
    int64_t columns;    ///< tiles per row
    int64_t points;     ///< (m + 2)^2
    int64_t lanes;      ///< output channels per vector
    int64_t outBlocks;  ///< vectors of output channels
    int64_t vectors;    ///< output vectors per block of filters
    int64_t inChannels; ///< all of them
    int64_t inLanes;
    bool unrollsRows;  ///< of points, where the kernel transforms filters
    bool skipsColumns; ///< which points a product needs depends on a tile's column
    tir::Buffer filters;
};

/// The block that writes `buffer`, or "".
std::string writerOf(const Schedule& schedule, const std::string& reader, const tir::Buffer& buffer)
{
    for (const std::string& other : blocksBefore(schedule, reader))
        if (outputOf(schedule, other) == buffer->name) return other;
    return "";
}

/// The block that writes the first buffer which `block` reads, or "".
std::string producerOf(const Schedule& schedule, const std::string& block)
{
    return writerOf(schedule, block, inputsOf(schedule, block).front());
}

/// The only reader of what `block` writes, or "".
std::string readerOf(const Schedule& schedule, const std::string& block)
{
    std::string found;
    for (const std::string& other : blocksAfter(schedule, block))
        for (const tir::Buffer& buffer : inputsOf(schedule, other)) {
            if (buffer->name != outputOf(schedule, block)) continue;
            if (!found.empty()) return "";
            found = other;
        }
    return found;
}

WinogradBlocks blocksOf(const Schedule& schedule)
{
    WinogradBlocks blocks{.products = anchorOf(schedule)};
    blocks.dataTiles = producerOf(schedule, blocks.products);
    blocks.dataRows = producerOf(schedule, blocks.dataTiles);
    blocks.pad = producerOf(schedule, blocks.dataRows);
    blocks.filterPoints =
        writerOf(schedule, blocks.products, inputsOf(schedule, blocks.products).back());
    if (!blocks.filterPoints.empty()) blocks.filterRows = producerOf(schedule, blocks.filterPoints);
    blocks.resultRows = readerOf(schedule, blocks.products);
    blocks.resultTiles = readerOf(schedule, blocks.resultRows);
    return blocks;
}

WinogradShape shapeOf(const Schedule& schedule, const WinogradBlocks& blocks)
{
    const std::vector<AxisView> axes = axesOf(schedule, blocks.products);
    const core::Attrs& facts = blockOf(schedule, blocks.products)->block.annotations;
    const std::string& reader = blocks.filterRows.empty() ? blocks.products : blocks.filterRows;
    WinogradShape shape{.tile = facts.integer("tile_size", 2),
                        .rows = 0,
                        .columns = facts.integer("tile_columns", 1),
                        .points = axes[1].extent * axes[2].extent,
                        .lanes = axes[5].extent,
                        .outBlocks = axes[3].extent,
                        .vectors = 1,
                        .inChannels = axes[6].extent * axes[7].extent,
                        .inLanes = axes[7].extent,
                        .unrollsRows = facts.integer("unrolls_rows", 0) != 0,
                        .skipsColumns = facts.integer("skips_columns", 0) != 0,
                        .filters = inputsOf(schedule, reader).back()};
    shape.rows = axes[4].extent / shape.columns;
    shape.vectors = shape.filters->shape[5]->integer / shape.lanes;
    return shape;
}

/// Bytes that come from beyond the second-level cache when a step takes `rows` rows of tiles.
double outerTraffic(const WinogradShape& shape, int64_t rows, const TargetFacts& facts)
{
    const auto steps = static_cast<double>(shape.rows / rows);
    const auto cache = static_cast<double>(facts.l2Bytes) * 0.75;
    const auto filters =
        static_cast<double>(4 * shape.points * shape.inChannels * shape.outBlocks * shape.lanes);
    const auto held = static_cast<double>(4 * shape.points * rows * shape.columns *
                                          (shape.inChannels + shape.vectors * shape.lanes));
    const double spilled = held > cache ? 2 * held * steps : 0;
    return spilled + (filters + held > cache ? filters * steps : filters);
}

/// Rows of tiles per step: the fewest that cause the least traffic, and few enough that every
/// thread has a step unless blocks of channels can be shared out instead.
int64_t rowsPerStep(const WinogradShape& shape, const TargetFacts& facts)
{
    const int64_t threads = facts.threads;
    const bool sharesFilters = shape.outBlocks / shape.vectors % threads == 0;
    int64_t best = 1;
    for (int64_t rows = 2; rows <= shape.rows; ++rows) {
        if (shape.rows % rows != 0 || (!sharesFilters && shape.rows / rows < threads)) continue;
        if (sharesFilters && rows < shape.rows && shape.rows / rows < threads) continue;
        if (outerTraffic(shape, rows, facts) < outerTraffic(shape, best, facts)) best = rows;
    }
    return best;
}

/// Loops of the last block: rows of tiles, filter blocks, tiles; a tile's pixels stay inside.
struct ResultLoops
{
    std::string n, step, filters, tile;
};

Result<ResultLoops> tileResult(Schedule& schedule, const std::string& last,
                               const WinogradShape& shape, int64_t rows)
{
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const auto blocks = schedule.split(axes[1].loop, {-1, shape.vectors});
    if (!blocks) return blocks.error();
    const auto y = schedule.split(axes[2].loop, {-1, rows, shape.tile});
    if (!y) return y.error();
    const auto x = schedule.split(axes[3].loop, {-1, shape.tile});
    if (!x) return x.error();
    if (Status status = schedule.reorder({axes[0].loop, (*y)[0], (*blocks)[0], (*blocks)[1],
                                          (*y)[1], (*x)[0], (*y)[2], (*x)[1], axes[4].loop});
        !status)
        return status.error();
    return ResultLoops{axes[0].loop, (*y)[0], (*blocks)[0], (*x)[0]};
}

/// The last `count` loops around `block`.
std::vector<std::string> innerLoops(const Schedule& schedule, const std::string& block,
                                    size_t count)
{
    const std::vector<std::string> all = schedule.loopsOf(block);
    return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

/// Products of one filter block under `loop`: per tile position, register tiles of tiles x vectors.
Status scheduleProducts(Schedule& schedule, const WinogradBlocks& blocks,
                        const WinogradShape& shape, const std::string& loop,
                        const TargetFacts& facts)
{
    const auto copy = schedule.cacheWrite(blocks.products, tir::Scope::Register);
    if (!copy) return copy.error();
    if (Status status = schedule.computeAt(*copy, loop); !status) return status;
    const std::vector<std::string> out = innerLoops(schedule, *copy, 6);
    const RegisterTile tile = chooseTile({shape.vectors, schedule.extentOf(out[4])}, facts);
    const auto vectors = schedule.split(out[3], {-1, tile.vectors});
    if (!vectors) return vectors.error();
    const auto tiles = schedule.splitOverlap(out[4], tile.positions);
    if (!tiles) return tiles.error();
    if (Status status = schedule.reorder({out[0], out[1], out[2], (*vectors)[0], (*tiles)[0],
                                          (*tiles)[1], (*vectors)[1], out[5]});
        !status)
        return status;
    if (Status status = schedule.computeAt(blocks.products, (*tiles)[0]); !status) return status;

    const std::vector<std::string> own = innerLoops(schedule, blocks.products, 8);
    const auto depth = schedule.split(own[7], {-1, divisorUpTo(shape.inLanes, 4)});
    if (!depth) return depth.error();
    if (Status status = schedule.reorder(
            {own[0], own[1], own[2], own[6], (*depth)[0], (*depth)[1], own[4], own[3], own[5]});
        !status)
        return status;
    if (Status status = initialiseTile(schedule, blocks.products, own[6], 3, shape.lanes); !status)
        return status;
    if (Status status = schedule.unroll((*depth)[1]); !status) return status;
    if (Status status = unrollTile(schedule, blocks.products, 3, shape.lanes); !status)
        return status;
    return unrollTile(schedule, *copy, 3, shape.lanes);
}

/// Which sums one transform of a filter serves: of `points` in a row, for `tiles`.
struct TransformTile
{
    int64_t points = 1;
    int64_t tiles = 1;
};

/// The tile of fewest steps that fits the registers, beside the points of a filter.
TransformTile chooseTransformTile(const WinogradShape& shape, const TargetFacts& facts)
{
    const int64_t side = shape.tile + 2;
    // Columns are known in each copy of a tile when groups are whole rows of tiles.
    const int64_t together = shape.skipsColumns ? shape.columns : 1;
    const int64_t groups = shape.rows * shape.columns / together;
    const double rowSteps = shape.tile == 2 ? 3 : 5; // for the three elements of a row, on average
    const double pointSteps = shape.tile == 2 ? 4 : 7; // for a whole row of points
    TransformTile best;
    double bestCost = 1e300;
    for (const int64_t points : {side, side / 2}) {
        const int64_t most = std::max<int64_t>(1, (facts.vectorRegisters - 8) / points);
        const int64_t count = divisorUpTo(groups, std::max<int64_t>(1, most / together)) * together;
        const double transform =
            rowSteps + pointSteps * static_cast<double>(points) / static_cast<double>(side);
        const double cost = static_cast<double>(side / points * (groups * together / count)) *
                            (transform + static_cast<double>(points * count));
        if (cost >= bestCost) continue;
        best = {points, count};
        bestCost = cost;
    }
    return best;
}

/// Loops under which filters are transformed: along one axis, then along the other.
struct TransformLoops
{
    std::string rows, points;
};

Status transformFiltersAt(Schedule& schedule, const WinogradBlocks& blocks,
                          const TransformLoops& loops, int64_t lanes)
{
    const auto place = [&](const std::string& block, const std::string& loop) -> Status {
        if (Status status = schedule.computeAt(block, loop); !status) return status;
        if (Status status = schedule.setScope(outputOf(schedule, block), tir::Scope::Local);
            !status)
            return status;
        return unrollTile(schedule, block, 2, lanes);
    };
    if (Status status = place(blocks.filterPoints, loops.points); !status) return status;
    return place(blocks.filterRows, loops.rows);
}

/// Splits the sum over all channels: sums over some, whose filters stay in the first-level cache
/// while all points pass, are a block of their own; returns it.
Result<std::string> sumChannelsInSteps(Schedule& schedule, const WinogradBlocks& blocks,
                                       const WinogradShape& shape, const TargetFacts& facts)
{
    const std::string outer = axesOf(schedule, blocks.products)[6].loop;
    const int64_t filterBytes = 9 * 4 * shape.lanes * shape.inLanes;
    const int64_t most = std::max<int64_t>(1, facts.l1Bytes * 2 / 5 / filterBytes);
    const auto steps = schedule.split(outer, {-1, divisorUpTo(schedule.extentOf(outer), most)});
    if (!steps) return steps.error();
    return schedule.rfactor((*steps)[0], 6);
}

/// Products of one vector of output channels under `loop`, with filters transformed on the way:
/// per step of channels, row of points and group of tiles.
Status scheduleComputedFilters(Schedule& schedule, const WinogradBlocks& blocks,
                               const WinogradShape& shape, const std::string& loop,
                               const TargetFacts& facts)
{
    const std::string& products = blocks.products;
    // Points of a tile side by side: 36 lines that are apart by a power of two would share a set of
    // the first-level cache.
    for (const std::string& block : {blocks.dataTiles, products})
        if (Status status = schedule.permuteDims(outputOf(schedule, block), {0, 3, 4, 1, 2, 5});
            !status)
            return status;
    const auto partial = sumChannelsInSteps(schedule, blocks, shape, facts);
    if (!partial) return partial.error();
    if (Status status = schedule.computeAt(products, loop); !status) return status;
    // n, a, b, oc_outer, tile, oc_inner, step
    const std::vector<std::string> out = innerLoops(schedule, products, 7);
    const TransformTile tile = chooseTransformTile(shape, facts);
    const auto points = schedule.split(out[2], {-1, tile.points});
    if (!points) return points.error();
    const auto tiles = schedule.split(out[4], {-1, tile.tiles});
    if (!tiles) return tiles.error();
    if (Status status = schedule.reorder({out[0], out[3], out[6], out[1], (*points)[0], (*tiles)[0],
                                          (*points)[1], (*tiles)[1], out[5]});
        !status)
        return status;
    if (Status status = initialiseTile(schedule, products, out[6], 2, shape.lanes); !status)
        return status;
    // Which sums of a filter's rows the points need is known in each copy of this loop.
    if (Status status = schedule.unroll((*points)[0]); !status) return status;
    if (shape.unrollsRows)
        if (Status status = schedule.unroll(out[1]); !status) return status;
    if (Status status = unrollTile(schedule, products, 3, shape.lanes); !status) return status;

    if (Status status = schedule.computeAt(*partial, (*tiles)[0]); !status) return status;
    if (Status status = schedule.setScope(outputOf(schedule, *partial), tir::Scope::Register);
        !status)
        return status;
    // n, a, b, oc_outer, tile, oc_inner, step, ic_outer, ic_inner
    const std::vector<std::string> own = innerLoops(schedule, *partial, 9);
    if (Status status = schedule.reorder(
            {own[0], own[1], own[3], own[6], own[7], own[8], own[2], own[4], own[5]});
        !status)
        return status;
    if (Status status = initialiseTile(schedule, *partial, own[7], 3, shape.lanes); !status)
        return status;
    // Rows that several groups of points and tiles read are kept in the first-level cache.
    const bool keepsRows = schedule.extentOf((*points)[0]) * schedule.extentOf((*tiles)[0]) > 1;
    const TransformLoops transforms{keepsRows ? out[1] : own[8], own[8]};
    if (Status status = transformFiltersAt(schedule, blocks, transforms, shape.lanes); !status)
        return status;
    return unrollTile(schedule, *partial, 3, shape.lanes);
}

/// A tile writes a vector to each point. Where points are apart by a power of two, these would
/// share a set or two of the first-level cache; another line between them spreads them.
Status spreadPoints(Schedule& schedule, const std::string& dataTiles)
{
    constexpr int64_t kElementsPerLine = 16;
    constexpr int64_t kElementsPerWay = 4096 / 4; // of most processors
    const std::vector<AxisView> axes = axesOf(schedule, dataTiles);
    const int64_t apart = axes[3].extent * axes[4].extent * axes[5].extent;
    if (apart % (kElementsPerWay / 2) != 0) return kDone;
    return schedule.storageAlign(outputOf(schedule, dataTiles), 2, kElementsPerWay / 2,
                                 kElementsPerLine);
}

/// The transform of the data, under `loop` or, where that is "", before everything else.
Status scheduleData(Schedule& schedule, const WinogradBlocks& blocks, const std::string& loop,
                    const TargetFacts& facts)
{
    if (!loop.empty())
        if (Status status = schedule.computeAt(blocks.dataTiles, loop); !status) return status;
    if (loop.empty() && blocks.filterPoints.empty())
        if (Status status = spreadPoints(schedule, blocks.dataTiles); !status) return status;
    // n, a, b, ic_outer, tile, ic_inner: a tile of one vector of channels at a time.
    const std::vector<std::string> own = innerLoops(schedule, blocks.dataTiles, 6);
    const int64_t lanes = schedule.extentOf(own[5]);
    if (Status status = schedule.reorder({own[0], own[3], own[4], own[1], own[2], own[5]}); !status)
        return status;
    if (Status status = schedule.computeAt(blocks.dataRows, own[4]); !status) return status;
    if (Status status = schedule.setScope(outputOf(schedule, blocks.dataRows), tir::Scope::Local);
        !status)
        return status;
    for (const std::string& block : {blocks.dataRows, blocks.dataTiles})
        if (Status status = unrollTile(schedule, block, 3, lanes); !status) return status;
    if (!blocks.pad.empty())
        if (Status status = schedulePad(schedule, blocks.pad, own[3], facts); !status)
            return status;
    return loop.empty() ? parallelise(schedule, {own[0], own[3]}, facts) : kDone;
}

Status scheduleEach(Schedule& schedule, const TargetFacts& facts)
{
    for (const std::string& block : schedule.blocks())
        if (Status status = scheduleBlock(schedule, block, facts); !status) return status;
    return kDone;
}

} // namespace

Status scheduleConv2dWinograd(Schedule& schedule, const TargetFacts& facts)
{
    WinogradBlocks blocks = blocksOf(schedule);
    inlineElementwise(schedule, {blocks.pad, blocks.dataRows, blocks.dataTiles, blocks.products,
                                 blocks.resultRows, blocks.resultTiles, blocks.filterRows,
                                 blocks.filterPoints});
    blocks.last = readerOf(schedule, blocks.resultTiles);
    if (blocks.last.empty() || axesOf(schedule, blocks.last).size() != 5)
        return scheduleEach(schedule, facts);

    const WinogradShape shape = shapeOf(schedule, blocks);
    const bool computesFilters = !blocks.filterPoints.empty();
    const int64_t rows = computesFilters ? shape.rows : rowsPerStep(shape, facts);
    const std::vector<std::string> after = blocksAfter(schedule, blocks.last);
    const auto loops = tileResult(schedule, blocks.last, shape, rows);
    if (!loops) return loops.error();
    for (const std::string& block : {blocks.resultTiles, blocks.resultRows}) {
        if (Status status = schedule.computeAt(block, loops->tile); !status) return status;
        if (Status status = schedule.setScope(outputOf(schedule, block), tir::Scope::Local);
            !status)
            return status;
        if (Status status = unrollTile(schedule, block, 3, shape.lanes); !status) return status;
    }
    if (Status status = unrollTile(schedule, blocks.last, 3, shape.lanes); !status) return status;
    const auto products = computesFilters ? scheduleComputedFilters : scheduleProducts;
    if (Status status = products(schedule, blocks, shape, loops->filters, facts); !status)
        return status;
    if (Status status = streamWeights(schedule, shape.filters, facts); !status) return status;

    const bool hasSteps = rows < shape.rows;
    if (Status status = scheduleData(schedule, blocks, hasSteps ? loops->step : "", facts); !status)
        return status;
    for (const std::string& block : after)
        if (Status status = scheduleElementwise(schedule, block, facts); !status) return status;
    std::vector<std::string> outer{loops->n, loops->step};
    if (!hasSteps) outer.push_back(loops->filters);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
