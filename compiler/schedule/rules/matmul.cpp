// SPDX-License-Identifier: Apache-2.0
// dense, dense_pack and matmul: register tiles of rows x vectors of columns; a panel of the right
// side is copied to consecutive memory where several row tiles read it.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/matmul_tiles.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"
#include "core/target/byte_products.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Product
{
    std::string block;
    std::vector<std::string> batch;
    std::string m, n, k;
    int64_t rows, columns, depth;
};

Product productOf(const Schedule& schedule)
{
    Product p{.block = anchorOf(schedule)};
    const std::vector<AxisView> axes = axesOf(schedule, p.block);
    const size_t rank = axes.size();
    for (size_t i = 0; i + 3 < rank; ++i) p.batch.push_back(axes[i].loop);
    p.m = axes[rank - 3].loop;
    p.n = axes[rank - 2].loop;
    p.k = axes[rank - 1].loop;
    p.rows = axes[rank - 3].extent;
    p.columns = axes[rank - 2].extent;
    p.depth = axes[rank - 1].extent;
    return p;
}

/// The operand that is read along the columns; null when both are.
tir::Buffer bufferAlong(const Schedule& schedule, const Product& p, size_t columnAxis)
{
    const tir::Stmt block = blockOf(schedule, p.block);
    tir::Buffer right;
    for (const tir::Buffer& buffer : inputsOf(schedule, p.block)) {
        bool isRight = false;
        tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
            if (expr->kind != tir::ExprKind::Load || expr->buffer != buffer) return true;
            for (const tir::Expr& index : expr->args)
                isRight = isRight || usesVar(index, block->block.iters[columnAxis].var.get());
            return true;
        });
        if (isRight && right) return nullptr;
        if (isRight) right = buffer;
    }
    return right;
}

/// Columns per block of a packed right side [N/b, K, b]; 0 when it is not packed. One block of all
/// columns is a plain matrix [K, N].
int64_t packedColumns(const Schedule& schedule, const tir::Buffer& right)
{
    if (schedule.function().attrs.string("kind", "") != "dense_pack" || !right) return 0;
    return right->shape.back()->integer;
}

/// How the right side lies, and the vectors that follow from it.
struct RightSide
{
    tir::Buffer buffer; ///< null when both sides are read along the columns
    int64_t lanes;
    bool isPacked;     ///< in blocks of whole vectors
    int64_t perBlock;  ///< vectors of a packed block; a tile keeps to one where there are several
    bool isContiguous; ///< along the columns
};

RightSide rightSideOf(const Schedule& schedule, const Product& p, const TargetFacts& facts)
{
    const size_t columnAxis = p.batch.size() + 1;
    RightSide right{.buffer = bufferAlong(schedule, p, columnAxis)};
    const int64_t packed = packedColumns(schedule, right.buffer);
    const int64_t whole = std::min(lanesOf(schedule, p.block, facts), p.columns);
    right.isPacked = packed > 0 && (packed < p.columns || packed % whole == 0);
    // A block of weights holds one vector or several.
    right.lanes = right.isPacked && packed % whole != 0 ? packed : whole;
    right.perBlock = right.isPacked ? packed / right.lanes : 1;
    right.isContiguous =
        right.isPacked || isContiguousAlong(blockOf(schedule, p.block), columnAxis);
    return right;
}

/// The left side whose rows are copied side by side, [K, row of the tile], for each row of tiles;
/// null where they are read as they lie. Lanes then come from fewer registers, which leaves more to
/// the sums; columns enough must read the copy to pay for it.
tir::Buffer copiedLeftOf(const Schedule& schedule, const Product& p, const RightSide& right,
                         const TargetFacts& facts)
{
    constexpr int64_t kFewestRows = 48, kFewestColumns = 192;
    if (!facts.hasLaneOperand || !right.isPacked || !p.batch.empty() || p.rows < kFewestRows ||
        p.columns < kFewestColumns * facts.threads || p.depth % right.lanes != 0)
        return nullptr;
    const tir::Buffer left = bufferAlong(schedule, p, 0);
    const bool isPlain = left && left->shape.size() == 2 && left->dtype == kFloat32;
    return isPlain ? left : nullptr;
}

/// Threads share rows of one product whose columns fill no whole vectors: tiles of columns overlap,
/// and two threads would write the same elements.
bool sharesRows(const Product& p, const RightSide& right, const TargetFacts& facts)
{
    return p.batch.empty() && !right.isPacked && p.columns % right.lanes != 0 &&
           canShareRows(p.rows, facts);
}

/// Words of four bytes whose products several instructions add.
bool addsProductsOfBytes(const RightSide& right, const TargetFacts& facts)
{
    return right.isPacked && right.buffer->dtype == kInt32 && facts.vectorBytes >= 16 &&
           !hasByteDots(facts);
}

/// What a step of those holds beside sums, as in convolutions of bytes.
void holdProductsOfBytes(TileSpace& space, TargetFacts& facts)
{
    space.areQuads = addsPairsOfHalves(facts);
    if (space.areQuads) return;
    space.arePositionsTogether = true;
    space.weightRegisters = registersOfPairs(facts);
    space.positionsUpTo = mostPairs(facts);
    facts.vectorRegisters -= registersOfByteInputs(facts);
}

RegisterTile tileOf(const Schedule& schedule, const Product& p, const RightSide& right,
                    TargetFacts facts)
{
    const int64_t vectors = (p.columns + right.lanes - 1) / right.lanes;
    const int64_t whole = p.columns / right.lanes;
    // Four filters of words share the registers of a core without vectors with their weights.
    constexpr int64_t kWordFilters = 4;
    if (p.rows == 1 && facts.vectorBytes <= 4 && facts.byteMacs >= 1 && right.isPacked &&
        right.buffer->dtype == kInt32 && right.perBlock % kWordFilters == 0)
        return {kWordFilters, 1};
    // One row at a time only streams weights: more vectors hide the latency of the sums.
    constexpr int64_t kMostVectors = 8;
    if (p.rows == 1 && right.isPacked) return {divisorUpTo(vectors, kMostVectors), 1};
    if (p.rows == 1) {
        int64_t tiles = (vectors + kMostVectors - 1) / kMostVectors;
        if ((vectors + tiles - 1) / tiles > whole) ++tiles; // the last one overlaps
        return {(vectors + tiles - 1) / tiles, 1};
    }
    TileSpace space = spaceOfProduct(vectors, p.rows, p.depth, facts);
    if (!right.isPacked) space.overlapUpTo = whole;
    for (const std::string& loop : p.batch) space.products *= schedule.extentOf(loop);
    if (right.perBlock > 1) {
        space.products *= space.vectors / right.perBlock;
        space.vectors = right.perBlock;
    }
    space.arePositionsTogether = copiedLeftOf(schedule, p, right, facts) != nullptr;
    if (space.arePositionsTogether) space.positionsUpTo = 0;
    if (sharesRows(p, right, facts)) {
        space.positions = p.rows / facts.threads;
        space.isDivided = true;
    }
    if (addsProductsOfBytes(right, facts)) holdProductsOfBytes(space, facts);
    return chooseProductTile(space, facts);
}

/// The block that copies a panel of the right side to consecutive memory, [.., K, N]; empty where
/// it is read as it lies: few rows read it no more often than a copy would, and one lane has none
/// beside it.
std::string copiedPanel(Schedule& schedule, const Product& p, const RightSide& right)
{
    const bool isReadable = right.isContiguous || right.lanes == 1;
    if (!right.buffer || right.isPacked || (isReadable && !copiesPanels(p.rows)))
        return std::string();
    const auto copy = schedule.cacheRead(p.block, right.buffer->name, tir::Scope::Global);
    if (right.isContiguous) return copy;
    const size_t rank = right.buffer->shape.size();
    std::vector<int64_t> order;
    for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
    std::swap(order[rank - 1], order[rank - 2]);
    schedule.permuteDims(outputOf(schedule, copy), order);
    return copy;
}

/// The block that copies rows of the left side side by side; empty where it is read as it lies.
std::string copiedRows(Schedule& schedule, const Product& p, const tir::Buffer& left)
{
    if (!left) return std::string();
    const auto copy = schedule.cacheRead(p.block, left->name, tir::Scope::Global);
    schedule.permuteDims(outputOf(schedule, copy), {1, 0});
    return copy;
}

/// The loops around a register tile, and those of its depth.
struct TileLoops
{
    std::string shared; ///< by threads
    std::string tile;   ///< the innermost around a tile
    std::string columns, rows, depth, depthStep;
};

/// Shares of one product among threads; 0 of both: threads share panels of columns, each of which
/// stays in the cache for all rows.
struct Shares
{
    int64_t columns = 0; ///< for each of which rows stay in the cache
    int64_t rows = 0;
};

/// Steps of the depth that are written out.
struct Steps
{
    int64_t count = 4;
    bool isByRow = false; ///< all of them for one row, then for the next
};

/// Of pairs of products, two for a row at once: their inputs are loaded together, and leave the
/// registers before those of the next.
Steps depthStepsOf(const RightSide& right, const TargetFacts& facts)
{
    const bool arePairs = facts.hasHalfLanes && addsProductsOfBytes(right, facts);
    if (arePairs) return {2, true};
    const bool areFloats = right.isPacked && right.buffer->dtype == kFloat32;
    return areFloats ? Steps{stepsTogether(facts)} : Steps();
}

TileLoops splitIntoTiles(Schedule& schedule, const Product& p, const RegisterTile& tile,
                         int64_t lanes, const Steps& steps, const Shares& shares)
{
    const int64_t width = tile.vectors * lanes;
    const auto columns = p.columns % width == 0 ? schedule.split(p.n, {-1, width})
                                                : schedule.splitOverlap(p.n, width);
    const auto parts = schedule.split(columns[1], {-1, lanes});
    const auto rows = schedule.splitOverlap(p.m, tile.positions);
    const auto depth = schedule.split(p.k, {-1, divisorUpTo(p.depth, steps.count)});
    TileLoops loops{columns[0], rows[0], columns[0], rows[0], depth[0], depth[1]};
    std::vector<std::string> order = p.batch;
    if (shares.rows > 0) {
        const auto shared = schedule.split(loops.rows, {shares.rows, -1});
        loops.shared = shared[0];
        loops.rows = loops.tile = shared[1];
        order.insert(order.end(), {loops.shared, loops.columns, loops.rows});
    } else if (shares.columns > 0) {
        const int64_t tiles = schedule.extentOf(loops.columns);
        const auto shared = schedule.split(loops.columns, {divisorUpTo(tiles, shares.columns), -1});
        loops.shared = shared[0];
        loops.columns = loops.tile = shared[1];
        order.insert(order.end(), {loops.shared, loops.rows, loops.columns});
    } else {
        order.insert(order.end(), {loops.columns, loops.rows});
    }
    order.push_back(loops.depth);
    if (steps.isByRow)
        order.insert(order.end(), {rows[1], loops.depthStep, parts[0], parts[1]});
    else
        order.insert(order.end(), {loops.depthStep, rows[1], parts[0], parts[1]});
    schedule.reorder(order);
    return loops;
}

/// `columns` and `depth` of a copy, by squares of as many elements of as many columns, which are
/// transposed in registers.
void copySquares(Schedule& schedule, const std::string& columns, const std::string& depth,
                 int64_t lanes)
{
    const auto across = schedule.splitOverlap(columns, lanes);
    const auto along = schedule.split(depth, {-1, lanes});
    schedule.reorder({across[0], along[0], along[1], across[1]});
    schedule.unroll(along[1]);
    return schedule.vectorize(across[1]);
}

/// Copies under the loop that reads the panel, in vectors along what is consecutive there.
void schedulePanel(Schedule& schedule, const std::string& panel, const std::string& loop,
                   const RightSide& right)
{
    schedule.computeAt(panel, loop);
    std::vector<std::string> loops = schedule.loopsOf(panel);
    if (!right.isContiguous) {
        const size_t last = loops.size() - 1;
        if (schedule.extentOf(loops[last]) % right.lanes == 0 &&
            schedule.extentOf(loops[last - 1]) >= right.lanes)
            return copySquares(schedule, loops[last - 1], loops[last], right.lanes);
        schedule.reorder({loops[last], loops[last - 1]});
        std::swap(loops[last], loops[last - 1]);
    }
    if (schedule.extentOf(loops.back()) > right.lanes) {
        const auto split = schedule.split(loops.back(), {-1, right.lanes});
        loops.back() = split[1];
    }
    return schedule.vectorize(loops.back());
}

/// Copies the rows of a tile.
void scheduleRows(Schedule& schedule, const std::string& copy, const std::string& loop,
                  int64_t lanes)
{
    schedule.computeAt(copy, loop);
    const std::vector<std::string> loops = schedule.loopsOf(copy);
    const std::string& row = loops[loops.size() - 2];
    if (schedule.extentOf(row) >= lanes) copySquares(schedule, row, loops.back(), lanes);
}

/// Packed weights of single rows: one instruction multiplies a run of bytes.
bool multipliesRuns(const Schedule& schedule, const Product& p)
{
    const tir::Buffer right = bufferAlong(schedule, p, p.batch.size() + 1);
    return p.batch.empty() && packedColumns(schedule, right) == 1 && right->dtype == kInt32;
}

/// Rows with a single column, or too few rows for a copy of the columns to be worth it: vectors run
/// along the depth, where both sides lie side by side.
bool multipliesRows(const Schedule& schedule, const Product& p, const TargetFacts& facts)
{
    constexpr int64_t kFewRows = 2;
    const tir::Stmt block = blockOf(schedule, p.block);
    const AxisSteps steps = stepsOf(block);
    const int64_t lanes = lanesOf(schedule, p.block, facts);
    const bool areFew = p.rows > 0 && p.rows <= kFewRows && lanes > 1;
    return (p.columns == 1 || areFew) && block->body->buffer->dtype == kFloat32 &&
           !hasOrderedSums(schedule.function()) && p.depth >= 2 * lanes && steps.isKnown &&
           std::all_of(steps.access.begin(), steps.access.end(), [](const auto& access) {
               return access.back() == 0 || access.back() == 1; // 0: of the sum
           });
}

void scheduleRowProducts(Schedule& schedule, const Product& p, const TargetFacts& facts)
{
    std::vector<std::string> others = schedule.blocks();
    std::erase(others, p.block);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    if (!reduceRows(schedule, p.block, facts)) scheduleBlock(schedule, p.block, facts);
}

} // namespace

void scheduleMatmul(Schedule& schedule, const TargetFacts& facts)
{
    const Product p = productOf(schedule);
    if (multipliesRuns(schedule, p)) return scheduleDenseRuns(schedule, facts);
    const std::vector<std::string> others = blocksBefore(schedule, p.block);
    std::vector<std::string> keep = others;
    keep.push_back(p.block);
    inlineElementwise(schedule, keep);
    if (multipliesRows(schedule, p, facts)) return scheduleRowProducts(schedule, p, facts);
    accumulateInRegisters(schedule, p.block);

    const RightSide right = rightSideOf(schedule, p, facts);
    const auto panel = copiedPanel(schedule, p, right);
    const RegisterTile tile = tileOf(schedule, p, right, facts);
    const tir::Buffer copied = copiedLeftOf(schedule, p, right, facts);
    const bool mayBeCut = right.isPacked && p.batch.empty() && !copied;
    const PackedProduct packed{
        p.block, p.rows, p.columns, p.depth, right.lanes, tile, mayBeCut ? right.buffer : nullptr};
    if (scheduleByTilesOrParts(schedule, packed, facts)) return;
    const auto rows = copiedRows(schedule, p, copied);
    const bool areRowsShared = sharesRows(p, right, facts);
    const int64_t threads = facts.threads;
    const Steps steps = depthStepsOf(right, facts);
    const auto loops =
        splitIntoTiles(schedule, p, tile, right.lanes, steps,
                       {.columns = copied ? threads : 0, .rows = areRowsShared ? threads : 0});
    const auto left = attachEpilogue(schedule, p.block, loops.tile, right.lanes);
    initialiseTile(schedule, p.block, loops.depth, 3, right.lanes);
    if (!steps.isByRow) schedule.unroll(loops.depthStep);
    unrollTile(schedule, p.block, steps.isByRow ? 4 : 3, right.lanes);
    if (!panel.empty()) schedulePanel(schedule, panel, loops.columns, right);
    if (!rows.empty()) scheduleRows(schedule, rows, loops.rows, right.lanes);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    if (right.isPacked)
        streamWeights(schedule, right.buffer, facts, p.rows > 0 ? p.rows : kUnknownExtent);
    std::vector<std::string> outer = p.batch;
    if (areRowsShared || p.columns % (tile.vectors * right.lanes) == 0)
        outer.push_back(loops.shared);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
