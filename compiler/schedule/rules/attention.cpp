// SPDX-License-Identifier: Apache-2.0
// attention: for a few queries at a time, their scores, the softmax of these and the mixture of the
// values, so that scores stay in the first-level cache.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kKeys = "attention_keys";
constexpr const char* kProducts = "attention_products";
constexpr const char* kScores = "attention_scores";
constexpr const char* kMixed = "attention_mixed";
/// Queries at a time: more only make the unrolled code longer.
constexpr int64_t kMostQueries = 8;

/// Loops of the result by meaning.
struct ResultLoops
{
    std::string batch, head, queries, query, elements;
};

struct Tiles
{
    int64_t queries;  ///< per tile of either product
    int64_t keys;     ///< columns of scores per tile
    int64_t elements; ///< of a result per tile
};

/// Vectors of keys whose sums fit the registers beside `queries`, with the least work.
int64_t keyVectors(int64_t keys, int64_t queries, int64_t lanes, const TargetFacts& facts)
{
    int64_t best = 1, bestCost = INT64_MAX;
    for (int64_t v = 1; v <= keys / lanes && v * queries + v + 1 <= facts.vectorRegisters; ++v) {
        const int64_t tiles = (keys + v * lanes - 1) / (v * lanes);
        const int64_t cost = tiles * std::max<int64_t>(v * queries, 8);
        if (cost > bestCost) continue;
        best = v;
        bestCost = cost;
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
    const int64_t rows = std::min(tile.positions, kMostQueries);
    const int64_t columns = keyVectors(keys, rows, lanes, facts) * lanes;
    return {rows, std::min(columns, keys), std::min(tile.vectors * lanes, width)};
}

/// Tiles of queries and of their elements; the whole of the kernel happens in these loops.
Result<ResultLoops> tileResult(Schedule& schedule, const std::string& result, const Tiles& tiles)
{
    const std::vector<int64_t> order =
        blockOf(schedule, kMixed)->block.annotations.integers("out_axes", {0, 1, 2, 3});
    const std::vector<AxisView> axes = axesOf(schedule, result);
    std::vector<std::string> by(4);
    for (size_t d = 0; d < 4; ++d) by[static_cast<size_t>(order[d])] = axes[d].loop;
    const auto queries = schedule.splitOverlap(by[2], tiles.queries);
    if (!queries) return queries.error();
    const auto elements = schedule.splitOverlap(by[3], tiles.elements);
    if (!elements) return elements.error();
    if (Status status = schedule.reorder(
            {by[0], by[1], (*queries)[0], (*elements)[0], (*queries)[1], (*elements)[1]});
        !status)
        return status.error();
    return ResultLoops{by[0], by[1], (*queries)[0], (*queries)[1], (*elements)[0]};
}

/// Sums in registers: the block's reduction outside its last two loops, which are unrolled.
Status unrollProduct(Schedule& schedule, const std::string& block, int64_t lanes)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const size_t last = loops.size() - 1; // .., row, column, step
    const auto steps =
        schedule.split(loops[last], {-1, divisorUpTo(schedule.extentOf(loops[last]), 4)});
    if (!steps) return steps.error();
    if (Status status =
            schedule.reorder({(*steps)[0], (*steps)[1], loops[last - 2], loops[last - 1]});
        !status)
        return status;
    if (Status status = initialiseTile(schedule, block, (*steps)[0], 2, lanes); !status)
        return status;
    if (Status status = schedule.unroll((*steps)[1]); !status) return status;
    return unrollTile(schedule, block, 2, lanes);
}

/// Scores of a tile of queries, column tile by column tile.
Status scheduleScores(Schedule& schedule, const ResultLoops& loops, const Tiles& tiles,
                      int64_t lanes)
{
    if (Status status = schedule.computeAt(kScores, loops.queries); !status) return status;
    const std::vector<std::string> own = schedule.loopsOf(kScores);
    const std::string row = own[own.size() - 2];
    const auto keys = schedule.splitOverlap(own.back(), tiles.keys);
    if (!keys) return keys.error();
    if (Status status = schedule.reorder({(*keys)[0], row, (*keys)[1]}); !status) return status;
    if (Status status = schedule.computeAt(kProducts, (*keys)[0]); !status) return status;
    if (Status status = schedule.setScope(outputOf(schedule, kProducts), tir::Scope::Register);
        !status)
        return status;
    if (Status status = unrollTile(schedule, kScores, 2, lanes); !status) return status;
    return unrollProduct(schedule, kProducts, lanes);
}

/// Keys side by side, once per head.
Status scheduleKeys(Schedule& schedule, const std::string& head, int64_t lanes)
{
    const std::vector<std::string> all = schedule.blocks();
    if (std::find(all.begin(), all.end(), kKeys) == all.end()) return kDone;
    if (Status status = schedule.computeAt(kKeys, head); !status) return status;
    const std::vector<std::string> loops = schedule.loopsOf(kKeys);
    const std::string depth = loops[loops.size() - 2];
    std::string vector = loops.back();
    if (schedule.extentOf(vector) > lanes) {
        const auto parts = schedule.splitOverlap(vector, lanes);
        if (!parts) return parts.error();
        if (Status status = schedule.reorder({(*parts)[0], depth, (*parts)[1]}); !status)
            return status;
        vector = (*parts)[1];
    }
    return schedule.vectorize(vector);
}

} // namespace

Status scheduleAttention(Schedule& schedule, const TargetFacts& facts)
{
    const std::string result = schedule.blocks().back();
    const int64_t keys = axesOf(schedule, kMixed)[4].extent;
    const int64_t lanes = lanesOf(schedule, kMixed, facts);
    const Tiles tiles = tilesOf(schedule, facts);
    // Strands first, while each block has loops of its own.
    std::vector<std::string> rows;
    for (const char* block : {"attention_max", "attention_sum"})
        if (Status status = makeRowStrands(schedule, block, facts); !status) return status;
    for (const std::string& block : blocksAfter(schedule, kScores))
        if (block != kMixed && block != result) rows.push_back(block);

    const auto loops = tileResult(schedule, result, tiles);
    if (!loops) return loops.error();
    if (Status status = schedule.computeAt(kMixed, loops->elements); !status) return status;
    if (Status status = schedule.setScope(outputOf(schedule, kMixed), tir::Scope::Register);
        !status)
        return status;
    for (size_t i = rows.size(); i-- > 0;)
        if (Status status = schedule.computeAt(rows[i], loops->queries); !status) return status;
    if (Status status = scheduleScores(schedule, *loops, tiles, lanes); !status) return status;
    if (Status status = scheduleKeys(schedule, loops->head, lanes); !status) return status;
    for (const std::string& block : rows)
        if (Status status = vectorizeRows(schedule, block, keys, facts); !status) return status;
    if (Status status = unrollProduct(schedule, kMixed, lanes); !status) return status;
    if (Status status = unrollTile(schedule, result, 2, lanes); !status) return status;
    return parallelise(schedule, {loops->batch, loops->head}, facts);
}

} // namespace tenon::compiler
