// SPDX-License-Identifier: Apache-2.0
// Sums of products of words of bytes: two filters share the data of a few positions. Where all
// filters read the same words often enough, those of a few positions are widened beforehand.
#include "compiler/schedule/rules/byte_words.h"

#include "compiler/schedule/rules/byte_tiles.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Two filters x two positions: each word of either side is widened once for both of the other, and
/// the sums, the widened words and the addresses are as many as Cortex-M has registers.
constexpr int64_t kFilters = 2, kPositions = 2;
/// Widened, data takes no registers but those it is multiplied from.
constexpr int64_t kMostPositions = 4;
/// Of a strip of widened words that any kernel may have; more where its tensors are large.
constexpr int64_t kStripBytes = 512;

/// Instructions, as the C back end writes them for Cortex-M.
struct WordCosts
{
    double step; ///< of one word of each filter
    double tile; ///< around all steps: sums from and to memory, a call
    double word; ///< of widening one
};

WordCosts costsOf(int64_t positions)
{
    switch (positions) {
    case 4: return {.step = 27.5, .tile = 34, .word = 6};
    case 3: return {.step = 22.5, .tile = 30, .word = 6};
    default: return {.step = 16, .tile = 26, .word = 6};
    }
}
constexpr WordCosts kAtOnce{.step = 21.5, .tile = 12, .word = 0};

int64_t wordsOfPosition(const Schedule& schedule, const ConvLoops& loops)
{
    int64_t words = 1;
    for (const std::string& loop :
         {loops.inBlock, loops.kernelRow, loops.kernelColumn, loops.inLane})
        words *= schedule.extentOf(loop);
    return words;
}

/// Instructions for one row of all filters.
double costOfRow(const WordCosts& costs, int64_t columns, int64_t positions, int64_t words,
                 int64_t pairs)
{
    const auto tiles = static_cast<double>((columns + positions - 1) / positions);
    const double sums =
        static_cast<double>(pairs) * (static_cast<double>(words) * costs.step + costs.tile);
    return tiles * (sums + static_cast<double>(words * positions) * costs.word);
}

/// Positions whose words are widened for all filters; 0 where each pair of filters had better do it
/// for itself. Only the DSP extension has instructions for it.
int64_t widenedPositions(const Schedule& schedule, const std::string& conv, const ConvSite& site,
                         const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    if (facts.byteMacs < 1 || shape.lanes < kFilters || multipliesUnsigned(schedule, conv))
        return 0;
    const int64_t columns = schedule.extentOf(loops.column);
    const int64_t words = wordsOfPosition(schedule, loops);
    const int64_t pairs = shape.outBlocks * ((shape.lanes + kFilters - 1) / kFilters);
    const int64_t tensors = shape.inputPositions * shape.inputPositionBytes +
                            shape.rows * shape.columns * shape.outBlocks * shape.lanes;
    const int64_t mostBytes = std::max(kStripBytes, tensors / 2);
    int64_t best = 0;
    double least = costOfRow(kAtOnce, columns, kPositions, words, pairs);
    for (int64_t positions = kPositions; positions <= std::min(kMostPositions, columns);
         ++positions) {
        const double cost = costOfRow(costsOf(positions), columns, positions, words, pairs);
        if (2 * kInt32.bytes() * words * positions > mostBytes || cost >= least) continue;
        least = cost;
        best = positions;
    }
    return best;
}

/// What follows, position after position: the sums are in memory, and code is what a
/// microcontroller is short of.
std::vector<std::string> attachByPosition(Schedule& schedule, const std::string& conv,
                                          const std::string& loop)
{
    std::vector<std::string> left;
    for (const std::string& name : blocksAfter(schedule, conv)) {
        if (!left.empty() || !schedule.tries().reverseComputeAt(name, loop)) {
            left.push_back(name);
            continue;
        }
        unrollTile(schedule, name, 1, 1);
    }
    return left;
}

/// The words of a few positions first, then all filters.
std::vector<std::string> tileWidened(Schedule& schedule, const std::string& conv,
                                     const ConvSite& site, std::vector<std::string> outer,
                                     int64_t positions)
{
    const auto& [shape, loops] = site;
    const auto filters = shape.lanes % kFilters == 0 ? schedule.split(loops.lane, {-1, kFilters})
                                                     : schedule.splitOverlap(loops.lane, kFilters);
    const auto columns = schedule.splitOverlap(loops.column, positions);
    outer.insert(outer.end(),
                 {columns[0], loops.outBlock, filters[0], loops.inBlock, loops.kernelRow,
                  loops.kernelColumn, loops.inLane, columns[1], filters[1]});
    schedule.reorder(outer);
    const std::string words = schedule.cacheWords(conv, tir::Scope::Local);
    schedule.computeAt(words, columns[0]);
    schedule.unroll(ownLoopsOf(schedule, words).back());
    initialiseTile(schedule, conv, loops.inBlock, 2, 1);
    const auto left = attachByPosition(schedule, conv, filters[0]);
    unrollTile(schedule, conv, 2, 1);
    return left;
}

/// Each pair of filters walks the positions, inside loops of which the last are over pairs and,
/// unless the image is flat, rows.
std::vector<std::string> tileAtOnce(Schedule& schedule, const std::string& conv,
                                    const ConvSite& site, std::vector<std::string> outer,
                                    const std::string& pair)
{
    const auto& [shape, loops] = site;
    const int64_t positions = std::min(kPositions, schedule.extentOf(loops.column));
    const auto columns = schedule.splitOverlap(loops.column, positions);
    outer.insert(outer.end(), {columns[0], loops.inBlock, loops.kernelRow, loops.kernelColumn,
                               loops.inLane, columns[1], pair});
    schedule.reorder(outer);
    initialiseTile(schedule, conv, loops.inBlock, 2, 1);
    const auto left = attachEpilogue(schedule, conv, columns[0], 1);
    unrollTile(schedule, conv, 2, 1);
    if (shape.inLanes > 1 && shape.inLanes <= 4) schedule.unroll(loops.inLane);
    return left;
}

} // namespace

bool multipliesWords(const ConvShape& shape, const TargetFacts& facts)
{
    return facts.vectorBytes <= 4 && shape.weights->dtype == kInt32;
}

std::vector<std::string> tileConvWords(Schedule& schedule, const std::string& conv,
                                       const ConvSite& site, const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    if (const int64_t positions = widenedPositions(schedule, conv, site, facts); positions > 0)
        return tileWidened(schedule, conv, site, {loops.n, loops.row}, positions);
    const auto filters = schedule.split(loops.lane, {-1, divisorUpTo(shape.lanes, kFilters)});
    return tileAtOnce(schedule, conv, site, {loops.n, loops.outBlock, filters[0], loops.row},
                      filters[1]);
}

void scheduleConvWords(Schedule& schedule, const std::string& conv, const ConvSite& site,
                       bool isFlat, const TargetFacts& facts)
{
    // Rows are padded as they are needed, for all filters at once.
    constexpr int64_t kPaddedRows = 2;
    const auto& [shape, loops] = site;
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    std::vector<std::string> rows;
    if (!isFlat) rows = schedule.split(loops.row, {-1, divisorUpTo(shape.rows, kPaddedRows)});
    const std::string padLoop = isFlat || pads.empty() ? "" : rows[0];
    std::vector<std::string> left;
    if (const int64_t positions = widenedPositions(schedule, conv, site, facts); positions > 0) {
        std::vector<std::string> outer{loops.n};
        outer.insert(outer.end(), rows.begin(), rows.end());
        left = tileWidened(schedule, conv, site, outer, positions);
    } else {
        const auto filters = schedule.split(loops.lane, {-1, divisorUpTo(shape.lanes, kFilters)});
        std::vector<std::string> outer{loops.n, loops.outBlock, filters[0]};
        if (!isFlat) outer = {loops.n, rows[0], loops.outBlock, filters[0], rows[1]};
        left = tileAtOnce(schedule, conv, site, outer, filters[1]);
    }
    for (size_t i = pads.size(); i-- > 0;) schedulePad(schedule, pads[i], padLoop, facts);
    for (const std::string& block : left) scheduleElementwise(schedule, block, facts);
}

} // namespace tenon::compiler
