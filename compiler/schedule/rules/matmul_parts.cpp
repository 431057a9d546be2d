// SPDX-License-Identifier: Apache-2.0
// Sums of parts of the depth; a strip of rows at a time, so that the sums of all parts stay in the
// cache until they are added up.
#include "compiler/schedule/rules/matmul_parts.h"

#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Passes over a part below which the wait for each is not made up for.
constexpr int64_t kFewestPasses = 8;

/// Rows of a strip, about.
constexpr int64_t kStripRows = 64;

/// Bytes of the columns of a tile, in so many rows of the result or of the weights.
int64_t bytesOfRows(const PackedProduct& product, int64_t rows)
{
    return rows * product.tile.vectors * product.lanes * product.weights->dtype.bytes();
}

/// Rows of each strip, a multiple of the tile's; 0: all rows are one.
int64_t rowsOfStrip(const PackedProduct& product, int64_t parts, const TargetFacts& facts)
{
    if (hasLargeTiles(facts) && parts * bytesOfRows(product, product.rows) <= facts.l2Bytes / 4)
        return 0;
    const int64_t tile = product.tile.positions;
    const int64_t strips = std::max<int64_t>(1, (product.rows + kStripRows / 2) / kStripRows);
    const int64_t tiles = (product.rows + strips * tile - 1) / (strips * tile);
    return strips == 1 ? 0 : tiles * tile;
}

/// True where strips that overlap compute a twentieth of the rows twice, or more.
bool repeatsRows(const PackedProduct& product, int64_t parts, const TargetFacts& facts)
{
    const auto padded = [&](int64_t rows) { return (product.rows + rows - 1) / rows * rows; };
    const int64_t strip = rowsOfStrip(product, parts, facts);
    return strip > 0 && 20 * padded(strip) > 21 * padded(product.tile.positions);
}

/// Of the second-level cache, what one part takes.
int64_t partsInCache(const TargetFacts& facts) { return hasLargeTiles(facts) ? 32 : 8; }

/// True where a tile's weights come from the second-level cache, or from behind it, for each tile
/// of rows. Of 16 registers those that fill more than three eighths of it (Zen 3, 3,072 to 768
/// columns: 80 % of the peak, 92 by parts, for 128 rows as for 512). Larger tiles read less for
/// each product; there, what was asked for ahead leaves again where the cache does not hold the
/// data, these weights and the next ones (Sapphire Rapids, 3,072 to 768 columns for 49 rows: 140
/// GFLOP/s, 185 by parts; 1,536 to 384 for 197: 170 and 184).
bool leaveCache(const PackedProduct& product, const TargetFacts& facts)
{
    const int64_t bytes = bytesOfRows(product, product.depth);
    const int64_t passes = product.rows / product.tile.positions;
    if (!hasLargeTiles(facts)) return passes >= kFewestPasses && bytes > facts.l2Bytes * 3 / 8;
    const int64_t data = product.rows * product.depth * product.weights->dtype.bytes();
    return passes >= kFewestPasses / 2 && bytes > facts.l2Bytes / 16 &&
           data + 2 * bytes > facts.l2Bytes * 3 / 4;
}

/// The loops of the block that adds the parts up.
struct SumLoops
{
    std::string columns; ///< that threads share
    std::string strip;   ///< around all parts of a strip of rows
    std::string rows;    ///< around a tile
    std::string part;
};

SumLoops tileSums(Schedule& schedule, const PackedProduct& product, int64_t strip)
{
    const std::vector<std::string> own = ownLoopsOf(schedule, product.block); // m, n, part
    const int64_t positions = product.tile.positions;
    const auto columns = schedule.split(own[1], {-1, product.tile.vectors * product.lanes});
    const auto vectors = schedule.split(columns[1], {-1, product.lanes});
    std::vector<std::string> order{columns[0]}, rows;
    if (strip > 0) {
        const auto strips = schedule.splitOverlap(own[0], strip);
        order.push_back(strips[0]);
        rows = schedule.split(strips[1], {-1, positions});
    } else {
        rows = schedule.splitOverlap(own[0], positions);
    }
    const std::string around = order.back();
    order.insert(order.end(), {rows[0], own[2], rows[1], vectors[0], vectors[1]});
    schedule.reorder(order);
    return {columns[0], around, rows[0], own[2]};
}

/// Register tiles of the products of one part, for all rows of the strip before the next part.
void tileParts(Schedule& schedule, const std::string& sums, const PackedProduct& product,
               const TargetFacts& facts)
{
    const std::vector<std::string> own = ownLoopsOf(schedule, sums); // m, n, part, k
    const auto rows = schedule.splitOverlap(own[0], product.tile.positions);
    const auto vectors = schedule.split(own[1], {-1, product.lanes});
    const int64_t steps = divisorUpTo(schedule.extentOf(own[3]), stepsTogether(facts));
    const auto depth = schedule.split(own[3], {-1, steps});
    schedule.reorder({own[2], rows[0], depth[0], depth[1], rows[1], vectors[0], vectors[1]});
    attachEpilogue(schedule, sums, rows[0], product.lanes); // the copy to memory
    initialiseTile(schedule, sums, depth[0], 3, product.lanes);
    schedule.unroll(depth[1]);
    return unrollTile(schedule, sums, 3, product.lanes);
}

} // namespace

int64_t partsOfDepth(const PackedProduct& product, const TargetFacts& facts)
{
    if (!product.weights) return 1;
    const int64_t width = product.tile.vectors * product.lanes;
    constexpr int64_t kLeastVector = 16; // elsewhere memory counts for more than time
    const bool mayHave = facts.vectorBytes >= kLeastVector &&
                         !(hasLargeTiles(facts) && facts.hasLaneOperand) &&
                         product.weights->dtype == kFloat32 && product.columns % width == 0;
    if (!mayHave || !leaveCache(product, facts)) return 1;
    const int64_t bytes = bytesOfRows(product, product.depth);
    const int64_t most = product.depth * (facts.l2Bytes / partsInCache(facts)) / bytes;
    const int64_t part = divisorUpTo(product.depth, most), parts = product.depth / part;
    // Short parts of a depth with few divisors are more sums than products; deep ones leave more
    // sums than the cache holds.
    const int64_t sums = parts * bytesOfRows(product, kStripRows);
    const bool isWorth = 3 * part >= most && sums <= facts.l2Bytes / 2 &&
                         !(hasLargeTiles(facts) && repeatsRows(product, parts, facts));
    return isWorth ? parts : 1;
}

void scheduleProductByParts(Schedule& schedule, const PackedProduct& product, int64_t parts,
                            const TargetFacts& facts)
{
    const std::vector<std::string> others = blocksBefore(schedule, product.block);
    const std::string k = ownLoopsOf(schedule, product.block)[2];
    const auto split = schedule.split(k, {parts, -1});
    const auto sums = schedule.rfactor(split[0], 0);
    const auto copy = schedule.cacheWrite(sums, tir::Scope::Register);
    if (schedule.hasFailed()) return; // there are no parts
    const SumLoops loops = tileSums(schedule, product, rowsOfStrip(product, parts, facts));
    for (const std::string& block : {copy, sums}) schedule.computeAt(block, loops.strip);
    tileParts(schedule, sums, product, facts);

    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    const auto left = attachEpilogue(schedule, product.block, loops.rows, product.lanes);
    initialiseTile(schedule, product.block, loops.part, 3, product.lanes);
    unrollTile(schedule, product.block, 3, product.lanes);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    streamWeights(schedule, product.weights, facts, product.rows);
    return parallelise(schedule, {loops.columns}, facts);
}

} // namespace tenon::compiler
