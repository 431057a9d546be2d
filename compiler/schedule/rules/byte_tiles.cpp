// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes by tiles of 16 positions and 16 results: the words that a few positions
// multiply are copied side by side, all weights pass over them, and the sums are in memory, where
// what follows finds them.
#include "compiler/schedule/rules/byte_tiles.h"

#include "compiler/schedule/rules/conv_steps.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"
#include "core/target/byte_products.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kWordBytes = 4;

/// True where the columns of a window's row lie side by side, as the block reads them.
bool areColumnsNeighbours(const Schedule& schedule, const std::string& block,
                          const ConvShape& shape)
{
    if (shape.kernelColumns == 1) return false;
    const AxisSteps steps = stepsOf(blockOf(schedule, block));
    return steps.isKnown &&
           std::all_of(steps.access.begin(), steps.access.end(), [&](const auto& of) {
               const int64_t column = of[of.size() - 2], word = of.back();
               const bool areWords = word == 0 && shape.inLanes == 1 && column <= 1;
               return column == word * shape.inLanes || areWords;
           });
}

TileWork workOf(const Schedule& schedule, const std::string& conv, const ConvSite& site)
{
    // A piece and what its bytes take (Granite Rapids: 4 cycles for 16 bytes, 8 for 48; tiles wait
    // for words that were only just stored).
    constexpr double kOfPiece = 2.5, kBytesPerCycle = 9;
    const auto& [shape, loops] = site;
    const bool areNeighbours = areColumnsNeighbours(schedule, conv, shape);
    const int64_t joined = shape.inLanes * (areNeighbours ? shape.kernelColumns : 1);
    const int64_t words =
        schedule.extentOf(loops.inBlock) * shape.kernelRows * shape.kernelColumns * shape.inLanes;
    const double piece = kOfPiece + static_cast<double>(joined * kWordBytes) / kBytesPerCycle;
    // Of a joined image there is no loop over rows any more.
    const int64_t rows = std::max<int64_t>(1, schedule.extentOf(loops.row));
    return {rows * schedule.extentOf(loops.column), shape.outBlocks, words,
            static_cast<double>(words / joined) * piece};
}

/// Cycles of products with one tile of weights, for so many positions: two tiles of those take
/// turns with each that was loaded, which takes as long as a few rows.
double cyclesOf(int64_t positions)
{
    constexpr int64_t kLoaded = 12;
    const int64_t tiles = (positions + kTileRows - 1) / kTileRows;
    const int64_t pairs = (tiles + 1) / 2;
    return static_cast<double>(std::max(positions, pairs * kLoaded));
}

/// What is multiplied at a time: some rows of so many columns.
struct TileRegion
{
    int64_t rows, columns;
    int64_t together; ///< that the weights of a block pass over one after the other
};

/// Of `count` rows, or of one row of positions, that weights from far pass over at once.
int64_t regionsTogether(const ConvShape& shape, int64_t count, int64_t positions,
                        const TargetFacts& facts)
{
    constexpr int64_t kEnough = 128; // else reading weights takes longer than multiplying them
    if (!readsWeightsOnce(shape, facts)) return 1;
    const int64_t words = shape.weightBytes / (shape.outBlocks * shape.lanes); // bytes of each
    int64_t together = 1;
    for (int64_t more = 2; more <= count && together * positions < kEnough; ++more)
        if (count % more == 0 && more * positions * words <= facts.l2Bytes / 2) together = more;
    return together;
}

TileRegion flatRegion(const ConvShape& shape, int64_t positions, const TargetFacts& facts)
{
    const int64_t width = rowsOfTiles(positions);
    return {1, width, regionsTogether(shape, (positions + width - 1) / width, width, facts)};
}

TileRegion rowsRegion(const ConvShape& shape, int64_t rows, int64_t columns,
                      const TargetFacts& facts)
{
    constexpr int64_t kMost = 4 * kTileRows;
    if (columns > kMost / 2) return {1, rowsOfTiles(columns), 1};
    // Of equal ones, those of a pair of tiles read weights half as often.
    int64_t best = 1;
    const auto perRow = [&](int64_t count) {
        return cyclesOf(count * columns) / static_cast<double>(count);
    };
    for (int64_t count = 2; count <= rows && count * columns <= kMost; ++count) {
        const bool isPair = count * columns <= 2 * kTileRows;
        const double gain = perRow(best) - perRow(count);
        if (rows % count == 0 && (gain > 0 || (isPair && gain == 0))) best = count;
    }
    return {best, columns, regionsTogether(shape, rows / best, best * columns, facts)};
}

/// Copies words as they lie: those of a window's row in one piece where its columns are neighbours.
void scheduleWords(Schedule& schedule, const std::string& words, const std::string& loop,
                   const ConvShape& shape)
{
    schedule.computeAt(words, loop);
    const std::vector<std::string> own = ownLoopsOf(schedule, words);
    const std::string &column = own[own.size() - 2], &word = own.back();
    const bool areNeighbours = schedule.extentOf(column) == shape.kernelColumns &&
                               areColumnsNeighbours(schedule, words, shape);
    schedule.vectorize(areNeighbours ? schedule.fuse({column, word}) : word);
}

/// The loops around the products of a region, and those of its positions.
struct TileLoops
{
    std::vector<std::string> outer; ///< around regions whose words are copied at a time
    std::string region;             ///< one of those together
    std::vector<std::string> positions;
};

TileLoops splitPositions(Schedule& schedule, const ConvLoops& loops, bool isFlat,
                         const TileRegion& region)
{
    TileLoops out;
    if (isFlat) {
        const auto runs = schedule.splitOverlap(loops.column, region.columns);
        const auto groups = schedule.split(runs[0], {-1, region.together});
        out.outer = {groups[0]};
        out.region = groups[1];
        out.positions = {runs[1]};
        return out;
    }
    const auto rows = schedule.split(loops.row, {-1, region.together, region.rows});
    const auto runs = schedule.splitOverlap(loops.column, region.columns);
    out.outer = {rows[0], runs[0]};
    out.region = rows[1];
    out.positions = {rows[2], runs[1]};
    return out;
}

} // namespace

int64_t rowsOfTiles(int64_t positions)
{
    constexpr int64_t kMost = 2 * kTileRows, kMostAtOnce = 2 * kMost;
    if (positions <= kMostAtOnce) return positions;
    for (int64_t width = kMost; width > kMost / 2; --width)
        if (positions % width == 0) return width;
    const int64_t runs = (positions + kMost - 1) / kMost;
    return (positions + runs - 1) / runs;
}

std::vector<std::string> attachToSums(Schedule& schedule, const std::string& block,
                                      const std::string& loop, int64_t lanes)
{
    constexpr int64_t kPacked = 4;
    std::vector<std::string> left;
    for (const std::string& name : blocksAfter(schedule, block)) {
        if (!left.empty() || !schedule.tries().reverseComputeAt(name, loop)) {
            left.push_back(name);
            continue;
        }
        const std::vector<std::string> own = ownLoopsOf(schedule, name);
        if (schedule.extentOf(own.back()) <= lanes) {
            const std::string& column = own[own.size() - 2];
            const int64_t together = divisorUpTo(schedule.extentOf(column), kPacked);
            if (together > 1) schedule.unroll(schedule.split(column, {-1, together})[1]);
        }
        vectorizeInParts(schedule, own.back(), lanes);
    }
    return left;
}

bool paysByTiles(const TileWork& work, const TargetFacts& facts)
{
    // Measured on Granite Rapids: one product waits for the one before, and two by two tiles take
    // turns meanwhile; sums go to memory and back; a kernel asks the system for tiles.
    constexpr double kOfProducts = 52, kOfSum = 3.7, kOfKernel = 500;
    constexpr double kOfVectors = 1.1, kGain = 0.85;
    constexpr int64_t kPair = 2;
    if (work.positions <= 1) return false; // or nobody knows how many
    const int64_t pairs = (work.positions + kPair * kTileRows - 1) / (kPair * kTileRows);
    const int64_t products =
        pairs * ((work.vectors + kPair - 1) / kPair) * ((work.words + kTileWords - 1) / kTileWords);
    const auto positions = static_cast<double>(work.positions);
    const auto sums = positions * static_cast<double>(work.vectors);
    const double byTiles = static_cast<double>(products) * kOfProducts + sums * kOfSum +
                           positions * work.copied + kOfKernel;
    const double byVectors =
        sums * static_cast<double>(work.words) * kOfVectors / facts.byteVectorMacs();
    return byTiles < kGain * byVectors;
}

bool multipliesUnsigned(const Schedule& schedule, const std::string& block)
{
    bool isUnsigned = false;
    tir::visitExprsIn(blockOf(schedule, block)->body, [&](const tir::Expr& expr) {
        isUnsigned = isUnsigned || (expr->kind == tir::ExprKind::Intrinsic &&
                                    expr->intrinsic == tir::Intrinsic::DotU8I8);
        return !isUnsigned;
    });
    return isUnsigned;
}

bool multipliesTiles(const Schedule& schedule, const std::string& conv, const ConvSite& site,
                     const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    if (facts.byteTileMacs <= 0 || shape.weights->dtype != kInt32 || shape.lanes != kTileWords ||
        shape.groups != 1)
        return false;
    return multipliesUnsigned(schedule, conv) && paysByTiles(workOf(schedule, conv, site), facts);
}

void scheduleConvTiles(Schedule& schedule, const std::string& conv, const ConvSite& site,
                       bool isFlat, const TargetFacts& facts)
{
    const auto& [shape, loops] = site;
    schedule.setScope(outputOf(schedule, conv), tir::Scope::Local);
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    const int64_t columns = schedule.extentOf(loops.column);
    const TileRegion region = isFlat
                                  ? flatRegion(shape, columns, facts)
                                  : rowsRegion(shape, schedule.extentOf(loops.row), columns, facts);
    const int64_t vectors = shape.vectors == 1 ? divisorUpTo(shape.outBlocks, 2) : shape.vectors;
    const auto blocks = schedule.split(loops.outBlock, {-1, vectors});
    const TileLoops tiles = splitPositions(schedule, loops, isFlat, region);
    std::vector<std::string> order{loops.n};
    order.insert(order.end(), tiles.outer.begin(), tiles.outer.end());
    order.insert(order.end(), {blocks[0], tiles.region, loops.inBlock, loops.kernelRow,
                               loops.kernelColumn, loops.inLane});
    order.insert(order.end(), tiles.positions.begin(), tiles.positions.end());
    order.insert(order.end(), {blocks[1], loops.lane});
    schedule.reorder(order);
    const std::string words = schedule.cacheWords(conv, tir::Scope::Local, true);
    scheduleWords(schedule, words, tiles.outer.back(), shape);
    initialiseTile(schedule, conv, loops.inBlock, 2, shape.lanes);
    const auto left = attachToSums(schedule, conv, tiles.region, shape.lanes);
    schedule.vectorize(loops.lane);
    for (const std::string& pad : pads) schedulePad(schedule, pad, "", facts);
    for (const std::string& block : left) scheduleElementwise(schedule, block, facts);
    // Of regions that overlap, two threads would write the same results.
    const bool overlap = isFlat && columns % region.columns != 0;
    if (overlap || schedule.extentOf(tiles.outer[0]) == 1)
        return parallelise(schedule, {blocks[0]}, facts);
    return parallelise(schedule, {loops.n, tiles.outer[0]}, facts);
}

} // namespace tenon::compiler
