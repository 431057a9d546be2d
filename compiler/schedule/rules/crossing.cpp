// SPDX-License-Identifier: Apache-2.0
// Squares of 8 to 32-bit elements and quads of bytes go through registers, see emit_transposed.cpp;
// others are gathered.
#include "compiler/schedule/rules/crossing.h"

#include "compiler/schedule/rules/crossing_read.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// An axis other than the last along which neighbours are read, in blocks of `block`.
struct CrossAxis
{
    size_t axis;
    int64_t block;
    bool isPlain; ///< the axis itself is walked, not the remainder of a blocked layout
};

/// Found by a load that is contiguous along the axis, or along its remainder as in blocked layouts.
std::optional<CrossAxis> crossAxisOf(const tir::Stmt& block, int64_t lanes)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    std::optional<CrossAxis> found;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load || expr->args.empty()) return true;
        const tir::Expr& index = expr->args.back();
        const bool isRest = isInsideOfBlock(index);
        const tir::Expr& walked = walkedBy(index);
        for (size_t axis = 0; axis + 1 < iters.size(); ++axis)
            if (walked->kind == tir::ExprKind::VarRef && walked->var == iters[axis].var)
                found = {axis, isRest ? index->args[1]->integer : lanes, !isRest};
        return true;
    });
    return found;
}

/// A loop over vectors of such a block may be one that the back end transposes in registers.
bool isCopy(const tir::Stmt& block)
{
    const tir::Stmt& store = block->body;
    return store->kind == tir::StmtKind::Store && store->value->kind == tir::ExprKind::Load &&
           store->value->dtype == store->buffer->dtype;
}

/// Elements of a side of the squares that the back end transposes in registers; 0: no room for one.
int64_t sideOfSquare(int64_t rows, int64_t columns, int64_t lanes, int64_t bytes)
{
    constexpr int64_t kMost = 16, kVectorOfHalves = 8, kFewestOfBytes = 8, kFewestOfWords = 4;
    if (!isOfSquares(bytes) && bytes != 2) return 0;
    const int64_t most = bytes == 2 ? kVectorOfHalves : kMost;
    const int64_t fewest = bytes == 4 ? kFewestOfWords : bytes == 2 ? most : kFewestOfBytes;
    for (int64_t side = std::min(lanes, most); side >= fewest; side /= 2)
        if (side <= rows && side <= columns) return side;
    return 0;
}

/// Rows and columns of a tile.
struct Tile
{
    int64_t rows, columns;
};

/// Bytes of blocks of four channels that become planes, or the other way round: four vectors of
/// neighbours at once.
std::optional<Tile> tileOfBytes(const tir::Stmt& block, const CrossAxis& cross, int64_t rows,
                                int64_t columns, int64_t lanes)
{
    constexpr int64_t kQuad = 4, kMostLanes = 16, kFewestLanes = 8;
    if (!isCopy(block) || block->body->buffer->dtype.bytes() != 1) return std::nullopt;
    const bool toPlanes = !cross.isPlain && cross.block == kQuad && rows % kQuad == 0;
    const bool toBlocks = cross.isPlain && columns == kQuad;
    for (int64_t run = std::min(lanes, kMostLanes); run >= kFewestLanes; run /= 2) {
        if (toPlanes && run <= columns) return Tile{kQuad, run};
        if (toBlocks && run <= rows) return Tile{run, kQuad};
    }
    return std::nullopt;
}

/// A square that rows and columns have room for.
std::optional<Tile> squareOf(const CrossAxis& cross, int64_t rows, int64_t columns, int64_t lanes,
                             int64_t bytes)
{
    const int64_t side = sideOfSquare(std::min(rows, cross.block), columns, lanes, bytes);
    if (side == 0 || (!cross.isPlain && (cross.block % side != 0 || rows % side != 0)))
        return std::nullopt;
    return Tile{side, side};
}

/// What goes through registers; nothing where lanes are gathered.
std::optional<Tile> tileInRegisters(const tir::Stmt& block, const CrossAxis& cross, int64_t rows,
                                    int64_t columns, int64_t lanes)
{
    if (!isCopy(block)) return std::nullopt;
    if (const auto quads = tileOfBytes(block, cross, rows, columns, lanes)) return quads;
    return squareOf(cross, rows, columns, lanes, block->body->buffer->dtype.bytes());
}

/// One that suits all tensors that are read across; nothing where one of them has none.
std::optional<Tile> squareOfReads(const std::vector<CrossingRead>& reads, const CrossAxis& cross,
                                  int64_t rows, int64_t columns, int64_t lanes)
{
    std::optional<Tile> out;
    for (const CrossingRead& read : reads) {
        const auto square = squareOf(cross, rows, columns, lanes, read.buffer->dtype.bytes());
        if (!square) return std::nullopt;
        if (!out || square->rows < out->rows) out = square;
    }
    return out;
}

/// Of blocks of channels of which the last is not whole, the others by squares: all of them for
/// one vector of columns, then what is left.
std::vector<std::string> tileWholeBlocks(Schedule& schedule, const std::string& block,
                                         const CrossAxis& cross, const Tile& tile)
{
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const AxisView& channels = axes[cross.axis];
    const auto columns = splitEvenly(schedule, axes.back().loop, tile.columns);
    std::vector<std::string> shared;
    for (size_t i = 0; i + 1 < axes.size(); ++i)
        if (i != cross.axis) shared.push_back(axes[i].loop);
    std::vector<std::string> order = shared;
    order.insert(order.end(), {columns[0], channels.loop, columns[1]});
    schedule.reorder(order);
    const std::vector<std::string> before = schedule.blocks();
    schedule.peel(channels.loop, channels.extent / tile.rows * tile.rows);
    for (const std::string& name : blocksSince(schedule, before)) {
        const std::vector<std::string> rest = schedule.loopsOf(name);
        schedule.unroll(rest[rest.size() - 2]);
        schedule.vectorize(rest.back());
    }
    const auto strips = schedule.split(channels.loop, {-1, tile.rows});
    schedule.unroll(strips[1]);
    schedule.vectorize(columns[1]);
    return shared;
}

/// As splitEvenly; what is left of an open axis has a guard.
std::vector<std::string> splitAxis(Schedule& schedule, const AxisView& axis, int64_t size)
{
    if (axis.extent < 0) return schedule.split(axis.loop, {-1, size});
    return splitEvenly(schedule, axis.loop, size);
}

/// Loops over the tiles of a block, and those of one.
struct TileLoops
{
    std::vector<std::string> shared; ///< that threads may share
    std::string around;              ///< the innermost loop over tiles
    std::string row, vector;         ///< of a tile
};

/// Strips of `rows` along the axis that is read contiguously, vectors of `lanes` along the last.
TileLoops tileLoops(Schedule& schedule, const std::string& block, size_t axis, int64_t rows,
                    int64_t lanes)
{
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const auto strips = splitAxis(schedule, axes[axis], rows);
    // Strips that overlap stay within one thread, inside of the loops that are shared.
    const bool overlaps = axes[axis].extent > 0 && axes[axis].extent % rows != 0;
    std::vector<std::string> shared;
    for (size_t i = 0; i + 1 < axes.size(); ++i)
        if (i != axis)
            shared.push_back(axes[i].loop);
        else if (!overlaps)
            shared.push_back(strips[0]);
    std::vector<std::string> order = shared;
    if (overlaps) order.push_back(strips[0]);
    std::string vector = axes.back().loop;
    if (axes.back().extent < 0 || axes.back().extent > lanes) {
        const auto parts = splitAxis(schedule, axes.back(), lanes);
        order.push_back(parts[0]);
        vector = parts[1];
    }
    const std::string around = order.back();
    order.insert(order.end(), {strips[1], vector});
    schedule.reorder(order);
    return {shared, around, strips[1], vector};
}

/// Rows of bytes that are shorter than a vector become one with the rows around them, where those
/// follow one another in memory on both sides: 16 pixels of 4 x 4 in place of 4.
void joinShortRows(Schedule& schedule, const std::string& block, int64_t lanes)
{
    constexpr int64_t kVector = 16;
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const auto cross = crossAxisOf(stmt, lanes);
    const size_t last = axes.size() - 1;
    if (!cross || cross->axis + 1 >= last || axes[last].extent >= kVector) return;
    const int64_t joined = axes[last - 1].extent * axes[last].extent;
    if (!tileOfBytes(stmt, *cross, axes[cross->axis].extent, joined, lanes)) return;
    const AxisSteps steps = stepsOf(stmt);
    const auto follows = [&](const std::vector<int64_t>& access) {
        return access[last] > 0 && access[last - 1] == access[last] * axes[last].extent;
    };
    if (steps.isKnown && std::all_of(steps.access.begin(), steps.access.end(), follows))
        (void)schedule.tries().fuseAxes(block, static_cast<int64_t>(last - 1));
}

/// Elements of an axis, or as many as an open one may have.
int64_t roomAlong(const AxisView& axis) { return axis.extent < 0 ? kUnknownExtent : axis.extent; }

/// Pixels of a few parts each, whose parts become planes: vectors of each part, read by shuffles.
bool takesTurns(const AxisSteps& steps, int64_t parts)
{
    constexpr int64_t kFewestParts = 2, kMostParts = 4;
    return parts >= kFewestParts && parts <= kMostParts &&
           std::all_of(steps.access.begin() + 1, steps.access.end(),
                       [&](const std::vector<int64_t>& load) { return load.back() == parts; });
}

} // namespace

std::optional<std::vector<std::string>> tileOpenCrossing(Schedule& schedule,
                                                         const std::string& block, int64_t lanes)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const AxisSteps steps = stepsOf(stmt);
    const auto cross = crossAxisOf(stmt, lanes);
    if (steps.isKnown || !cross || !cross->isPlain || steps.access[0].back() != 1)
        return std::nullopt;
    if (const int64_t parts = axes[cross->axis].extent; takesTurns(steps, parts)) {
        const TileLoops loops = tileLoops(schedule, block, cross->axis, parts, lanes);
        schedule.vectorize(loops.vector);
        return loops.shared;
    }
    if (!isCopy(stmt)) return std::nullopt;
    const auto tile =
        tileInRegisters(stmt, *cross, roomAlong(axes[cross->axis]), roomAlong(axes.back()), lanes);
    if (!tile) return std::nullopt;
    const TileLoops loops = tileLoops(schedule, block, cross->axis, tile->rows, tile->columns);
    schedule.unroll(loops.row);
    schedule.vectorize(loops.vector);
    return loops.shared;
}

std::optional<std::vector<std::string>> tileCrossing(Schedule& schedule, const std::string& block,
                                                     int64_t lanes, const TargetFacts& facts)
{
    joinShortRows(schedule, block, lanes);
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const auto cross = crossAxisOf(stmt, lanes);
    const int64_t extent = axes.back().extent;
    if (!cross || extent < 4) return std::nullopt;
    const AxisView& other = axes[cross->axis];
    // Inside of a block of channels only whole parts are walked contiguously.
    auto tile = tileInRegisters(stmt, *cross, other.extent, extent, lanes);
    if (!tile && !cross->isPlain && other.extent > cross->block) {
        const int64_t whole = other.extent / cross->block * cross->block;
        if (const auto some = tileInRegisters(stmt, *cross, whole, extent, lanes))
            return tileWholeBlocks(schedule, block, *cross, *some);
    }
    std::vector<CrossingRead> reads;
    // A word of bytes is not a vector of what they are made from.
    constexpr int64_t kLeastVector = 8;
    if (!tile && facts.vectorBytes >= kLeastVector) {
        reads = crossingReadsOf(stmt, cross->axis);
        tile = squareOfReads(reads, *cross, other.extent, extent, lanes);
        if (!tile) reads.clear(); // lanes are gathered
    }
    const int64_t rows =
        tile ? tile->rows : divisorUpTo(other.extent, std::max<int64_t>(1, cross->block));
    if (rows < 2) return std::nullopt;
    std::vector<std::string> squares;
    for (const CrossingRead& read : reads)
        squares.push_back(schedule.cacheRead(block, read.buffer->name, tir::Scope::Local));
    const TileLoops loops =
        tileLoops(schedule, block, cross->axis, rows, tile ? tile->columns : lanes);
    if (tile && squares.empty()) schedule.unroll(loops.row);
    schedule.vectorize(loops.vector);
    for (size_t i = 0; i < squares.size(); ++i)
        transposeSquare(schedule, squares[i], reads[i], loops.around);
    return loops.shared;
}

} // namespace tenon::compiler
