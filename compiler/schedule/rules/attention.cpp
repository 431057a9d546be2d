// SPDX-License-Identifier: Apache-2.0
// attention: for a few queries at a time, their scores, the softmax of these and the mixture of the
// values, so that scores stay in the first-level cache.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kKeys = "attention_keys";
constexpr const char* kProducts = "attention_products";
constexpr const char* kScores = "attention_scores";
constexpr const char* kMaxima = "attention_max";
constexpr const char* kPowers = "attention_exp";
constexpr const char* kSums = "attention_sum";
constexpr const char* kMixed = "attention_mixed";
/// Queries at a time: more only make the unrolled code longer.
constexpr int64_t kMostQueries = 8;

/// What arranging the keys of a head takes, and what a tile takes beside its products, in queries.
constexpr double kKeysCost = 4, kTileCost = 0.5;

/// Loops of the result by meaning.
struct ResultLoops
{
    std::string batch, head, group, queries, elements;
};

struct Tiles
{
    int64_t queries;  ///< per tile of either product
    int64_t perGroup; ///< tiles of queries that one thread computes, of a head
    int64_t keys;     ///< columns of scores per tile
    int64_t elements; ///< of a result per tile
};

/// Vectors of keys whose sums fit the registers beside `queries`, with the least work.
int64_t keyVectors(int64_t keys, int64_t queries, int64_t lanes, const TargetFacts& facts)
{
    int64_t best = 1;
    double bestCost = 1e300;
    for (int64_t v = 1; v <= keys / lanes && queries <= mostPositions(v, facts); ++v) {
        const int64_t tiles = (keys + v * lanes - 1) / (v * lanes);
        const double cost = static_cast<double>(tiles) * stepCycles({v, queries}, facts);
        if (cost > bestCost) continue;
        best = v;
        bestCost = cost;
    }
    return best;
}

/// Which tiles of queries to compute, and how many of them in one go, so that threads have alike
/// much to do: three heads for two threads are shared worse than their halves.
struct Share
{
    int64_t queries, perGroup;
};

Share shareOf(int64_t heads, int64_t queries, int64_t mostQueries, const TargetFacts& facts)
{
    const auto threads = static_cast<int64_t>(std::max(1u, facts.threads));
    Share best{mostQueries, (queries + mostQueries - 1) / mostQueries};
    if (threads == 1) return best;
    double bestCost = 1e300;
    for (int64_t rows = mostQueries; rows > 1 && rows + 3 > mostQueries; --rows) {
        const int64_t tiles = (queries + rows - 1) / rows;
        for (int64_t groups = 1; groups <= tiles; ++groups) {
            // The last two tiles overlap: no other thread may write what they share.
            const bool isShared = queries % rows != 0 && groups == tiles && groups > 1;
            if (tiles % groups != 0 || isShared) continue;
            const auto most = static_cast<double>((heads * groups + threads - 1) / threads);
            const double each = static_cast<double>(rows) + kTileCost;
            const double cost = most * (static_cast<double>(tiles / groups) * each + kKeysCost);
            if (cost >= bestCost) continue;
            best = {rows, tiles / groups};
            bestCost = cost;
        }
    }
    return best;
}

Tiles tilesOf(const Schedule& schedule, TargetFacts facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, kMixed);
    const int64_t queries = axes[2].extent, width = axes[3].extent, keys = axes[4].extent;
    const int64_t lanes = lanesOf(schedule, kMixed, facts);
    const int64_t vectors = std::max<int64_t>(1, width / lanes);
    facts.hasEmbeddedBroadcast = false; // an element meets several vectors: it takes a register
    const RegisterTile tile = chooseTile({vectors, queries, width % lanes ? vectors : 0}, facts);
    const Share share = shareOf(axes[0].extent * axes[1].extent, queries,
                                std::min(tile.positions, kMostQueries), facts);
    const int64_t columns = keyVectors(keys, share.queries, lanes, facts) * lanes;
    return {share.queries, share.perGroup, std::min(columns, keys),
            std::min(tile.vectors * lanes, width)};
}

/// Tiles of queries and of their elements; the whole of the kernel happens in these loops.
ResultLoops tileResult(Schedule& schedule, const std::string& result, const Tiles& tiles)
{
    const std::vector<int64_t> order =
        blockOf(schedule, kMixed)->block.annotations.integers("out_axes", {0, 1, 2, 3});
    const std::vector<AxisView> axes = axesOf(schedule, result);
    std::vector<std::string> by(4);
    for (size_t d = 0; d < 4; ++d) by[static_cast<size_t>(order[d])] = axes[d].loop;
    const auto queries = schedule.splitOverlap(by[2], tiles.queries);
    const auto elements = schedule.splitOverlap(by[3], tiles.elements);
    std::string group, tile = queries[0];
    if (schedule.extentOf(tile) > tiles.perGroup) {
        const auto groups = schedule.split(tile, {-1, tiles.perGroup});
        group = groups[0];
        tile = groups[1];
    }
    std::vector<std::string> loops{by[0], by[1], group, tile, elements[0], queries[1], elements[1]};
    std::erase(loops, "");
    schedule.reorder(loops);
    return ResultLoops{by[0], by[1], group, tile, elements[0]};
}

/// Of a short sum, or one that would leave a rest, four.
int64_t stepsOf(int64_t extent, const TargetFacts& facts)
{
    constexpr int64_t kFew = 4;
    const int64_t steps = stepsTogether(facts);
    return extent > steps && extent % steps == 0 ? steps : kFew;
}

/// Sums in registers: the block's reduction outside its last two loops, which are unrolled. Some
/// steps are taken at a time; those left over get a loop of their own.
void unrollProduct(Schedule& schedule, const std::string& block, int64_t lanes,
                   const TargetFacts& facts)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const size_t last = loops.size() - 1; // .., row, column, step
    const std::string steps = loops[last];
    schedule.reorder({steps, loops[last - 2], loops[last - 1]});
    initialiseTile(schedule, block, steps, 2, lanes);
    const int64_t extent = schedule.extentOf(steps);
    const int64_t together = stepsOf(extent, facts);
    const int64_t left = extent % together;
    if (left > 0 && extent > together) {
        const auto tail = schedule.peel(steps, extent - left);
        unrollTile(schedule, blockIn(schedule, tail), 2, lanes);
        schedule.unroll(tail);
    }
    const auto parts = schedule.split(steps, {-1, divisorUpTo(schedule.extentOf(steps), together)});
    schedule.unroll(parts[1]);
    return unrollTile(schedule, block, 2, lanes);
}

/// Scores of a tile of queries, column tile by column tile; returns the loop over these.
std::string scheduleScores(Schedule& schedule, const ResultLoops& loops, const Tiles& tiles,
                           int64_t lanes, const TargetFacts& facts)
{
    schedule.computeAt(kScores, loops.queries);
    const std::vector<std::string> own = schedule.loopsOf(kScores);
    const std::string row = own[own.size() - 2];
    const auto keys = schedule.splitOverlap(own.back(), tiles.keys);
    schedule.reorder({keys[0], row, keys[1]});
    schedule.computeAt(kProducts, keys[0]);
    schedule.setScope(outputOf(schedule, kProducts), tir::Scope::Register);
    unrollTile(schedule, kScores, 2, lanes);
    unrollProduct(schedule, kProducts, lanes, facts);
    return keys[0];
}

/// True where the elements of a key lie side by side, and the keys do not.
bool multipliesRows(const Schedule& schedule)
{
    const tir::Stmt products = blockOf(schedule, kProducts);
    const size_t rank = products->block.iters.size();
    return !isContiguousAlong(products, rank - 2) && isContiguousAlong(products, rank - 1);
}

bool hasBlock(const Schedule& schedule, const char* block)
{
    const std::vector<std::string> all = schedule.blocks();
    return std::find(all.begin(), all.end(), block) != all.end();
}

/// Rows begin at whole vectors: loads that reach into two lines of the cache take twice as long.
/// Where as many bytes lie between them as choose a place in the cache, or half as many, rows would
/// drive each other out: a line lies between them then (100 queries of 1,024 keys: 0.8 of the
/// time).
void alignRows(Schedule& schedule, int64_t keys, int64_t lanes)
{
    constexpr int64_t kAlike = 512, kLine = 16; // elements
    const bool areAlike = keys % kAlike == 0;
    for (const char* block : {kKeys, kScores, kPowers})
        if (hasBlock(schedule, block))
            schedule.storageAlign(outputOf(schedule, block), 2, areAlike ? kAlike : lanes,
                                  areAlike ? kLine : 0);
}

/// Scores of one query as products of rows, `parts` of which are their strands.
void scheduleRowScores(Schedule& schedule, const std::vector<std::string>& parts,
                       const ResultLoops& loops, const TargetFacts& facts)
{
    const int64_t depth = axesOf(schedule, kProducts).back().extent;
    const int64_t keys = axesOf(schedule, kScores)[3].extent;
    schedule.computeAt(kScores, loops.queries);
    schedule.computeAt(kProducts, loops.queries);
    for (size_t i = parts.size(); i-- > 0;) schedule.computeAt(parts[i], loops.queries);
    for (const std::string& block : parts) vectorizeRows(schedule, block, depth, facts);
    vectorizeRows(schedule, kProducts, depth, facts);
    vectorizeRows(schedule, kScores, keys, facts);
}

/// Keys side by side, once per iteration of `loop`: of a head, or of a part of its queries, which
/// costs less than to wait until another thread has arranged them.
void scheduleKeys(Schedule& schedule, const std::string& loop, int64_t lanes)
{
    if (!hasBlock(schedule, kKeys)) return;
    schedule.computeAt(kKeys, loop);
    const std::vector<std::string> loops = schedule.loopsOf(kKeys);
    std::vector<std::string> order;
    std::string depth = loops[loops.size() - 2], vector = loops.back();
    if (schedule.extentOf(vector) > lanes) {
        const auto parts = schedule.splitOverlap(vector, lanes);
        order.push_back(parts[0]);
        vector = parts[1];
    }
    const tir::Stmt block = blockOf(schedule, kKeys);
    const bool isStrided = !isContiguousAlong(block, block->block.iters.size() - 1);
    if (isStrided && schedule.extentOf(depth) % lanes == 0) {
        // As many elements of as many keys are a square, which is transposed in registers.
        const auto parts = schedule.split(depth, {-1, lanes});
        order.push_back(parts[0]);
        depth = parts[1];
        schedule.unroll(depth);
    }
    order.insert(order.end(), {depth, vector});
    schedule.reorder(order);
    return schedule.vectorize(vector);
}

} // namespace

void scheduleAttention(Schedule& schedule, const TargetFacts& facts)
{
    const std::vector<std::string> all = schedule.blocks();
    for (const char* block : {kProducts, kScores, kMaxima, kPowers, kSums, kMixed})
        if (std::find(all.begin(), all.end(), block) == all.end())
            return schedule.fail(unknownBlock("attention", block));
    if (axesOf(schedule, kMixed).size() != 5)
        return schedule.fail(
            badSchedule("attention", "of values that are not mixed over five axes"));
    const std::string& result = all.back();
    const int64_t keys = axesOf(schedule, kMixed)[4].extent;
    const int64_t lanes = lanesOf(schedule, kMixed, facts);
    const Tiles tiles = tilesOf(schedule, facts);
    // Strands first, while each block has loops of its own.
    std::vector<std::string> rows;
    for (const char* block : {kMaxima, kSums}) makeRowStrands(schedule, block, facts);
    const bool areRows = multipliesRows(schedule);
    const std::vector<std::string> before = schedule.blocks();
    if (areRows) makeRowStrands(schedule, kProducts, facts);
    const std::vector<std::string> strands = blocksSince(schedule, before);
    for (const std::string& block : blocksAfter(schedule, kScores))
        if (block != kMixed && block != result) rows.push_back(block);

    const auto loops = tileResult(schedule, result, tiles);
    std::vector<std::string> shared{loops.batch, loops.head, loops.group};
    std::erase(shared, "");
    schedule.computeAt(kMixed, loops.elements);
    schedule.setScope(outputOf(schedule, kMixed), tir::Scope::Register);
    for (size_t i = rows.size(); i-- > 0;) schedule.computeAt(rows[i], loops.queries);
    // Keys that only one tile of queries reads are arranged tile by tile, in the nearest cache.
    const bool isOneTile = axesOf(schedule, kScores)[2].extent <= tiles.queries;
    std::string around = shared.back();
    if (areRows)
        scheduleRowScores(schedule, strands, loops, facts);
    else if (const auto columns = scheduleScores(schedule, loops, tiles, lanes, facts); isOneTile)
        around = columns;
    scheduleKeys(schedule, around, lanes);
    for (const std::string& block : rows) vectorizeRows(schedule, block, keys, facts);
    unrollProduct(schedule, kMixed, lanes, facts);
    unrollTile(schedule, result, 2, lanes);
    alignRows(schedule, keys, lanes);
    return parallelise(schedule, shared, facts);
}

} // namespace tenon::compiler
