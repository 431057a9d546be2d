// SPDX-License-Identifier: Apache-2.0
// Cycles of a step: products, filters that are read while they are computed, and what the
// second-level cache does not hold.
#include "compiler/schedule/rules/winograd_step.h"

#include "compiler/schedule/rules/register_tile.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Of the second-level cache, what the data and products of a step may take beside filters that
/// pass by, and what everything may take that stays from step to step.
constexpr double kHeldBesideFilters = 0.6;
constexpr double kHeld = 0.85;
/// Of reading and computing that overlap, the part of the shorter one that is seen.
constexpr double kSeen = 0.25;
/// The same of filters that steps of products of halves read, which have few positions (AVX2 on
/// Zen 3, 1,024 to 256 channels at 14 x 14 pixels: 1.31 ms in seven steps, 1.07 in one).
constexpr double kSeenOfHalves = 0.75;
/// How often a line that the cache does not hold moves when it is written: in, and out again.
constexpr double kMovesPerWrite = 2;

/// Of the second-level cache's rate, what a loop reaches that computes.
constexpr double kReachedOfL2 = 0.5;

constexpr int64_t kProductBytes = 4;

int64_t countOf(const WinogradShape& shape, const WinogradStep& step)
{
    return (shape.images / step.images) * (shape.rows / step.rows) * (shape.columns / step.columns);
}

class StepCost
{
public:
    StepCost(const WinogradShape& shape, const TargetFacts& facts)
        : m_shape(shape)
        , m_facts(facts)
        , m_blocks(static_cast<double>(shape.outBlocks / shape.vectors))
        , m_filters(bytes(shape.inChannels * shape.outBlocks * shape.lanes, shape.pointBytes))
    {
    }

    /// Of the thread that has most to do.
    double cycles(const WinogradStep& step) const
    {
        const auto all = static_cast<double>(countOf(m_shape, step));
        const auto threads = static_cast<double>(m_facts.threads);
        const bool sharesFilters = all == 1;
        const double steps = sharesFilters ? 1 : std::ceil(all / threads);
        const double part = sharesFilters ? 1 / threads : 1; // of the filters, per thread
        const int64_t tiles = step.images * step.rows * step.columns;
        const double data = bytes(tiles * m_shape.groups * m_shape.inChannels, m_shape.pointBytes);
        const int64_t vectors = step.isByPoint ? m_shape.outBlocks : m_shape.vectors;
        const double products = bytes(tiles * vectors * m_shape.lanes, kProductBytes);
        const auto cache = static_cast<double>(m_facts.l2Bytes);
        // Every step reads all filters, from the second-level cache at best.
        const double passing = steps * part * m_filters / (kReachedOfL2 * m_facts.l2BytesPerCycle);
        const double computing = std::max(passing, steps * part * computingCycles(step));
        const bool keepsFilters = data + products + part * m_filters <= kHeld * cache;
        const double reading =
            (keepsFilters ? 1 : steps) * part * m_filters / filterBytesPerCycle();
        const double moved = step.isByPoint ? movedByPoint(data, products)
                                            : movedByBlock(data, products, part * m_blocks);
        const double seen = m_shape.areHalves ? kSeenOfHalves : kSeen;
        return std::max(computing, reading) + seen * std::min(computing, reading) +
               steps * moved / m_facts.farBytesPerCycle();
    }

private:
    double heldBesideFilters() const
    {
        return kHeldBesideFilters * static_cast<double>(m_facts.l2Bytes);
    }

    /// All data are read for each of so many blocks of filters, whose products leave the cache.
    double movedByBlock(double data, double products, double blocks) const
    {
        const double held = heldBesideFilters();
        double moved = 0;
        if (data + products > held) moved += data * (kMovesPerWrite + blocks);
        if (products > held) moved += products * (kMovesPerWrite + 1) * blocks;
        return moved;
    }

    /// The data of a point are read once where they stay for all blocks of filters; all products
    /// are written and read.
    double movedByPoint(double data, double products) const
    {
        const double held = heldBesideFilters();
        if (data + products <= held) return 0;
        const auto points = static_cast<double>(m_shape.points);
        const bool stays = (data + products / m_blocks) / points <= held;
        return data * (kMovesPerWrite + (stays ? 1 : m_blocks)) + products * (kMovesPerWrite + 1);
    }

    /// At every point of a tile.
    double bytes(int64_t elements, int64_t each) const
    {
        return static_cast<double>(each * m_shape.points * elements);
    }

    double computingCycles(const WinogradStep& step) const
    {
        TileSpace space = productSpace(m_shape, step.rows * step.columns, m_facts);
        const int64_t together = imagesOfRegisterTile(step.images, space.positions, space, m_facts);
        space.positions *= together;
        return static_cast<double>(m_shape.points * m_shape.inChannels * step.images / together) *
               m_blocks * stepCyclesOfAll(space, m_facts);
    }

    /// Of filters that were evicted since the last step.
    double filterBytesPerCycle() const
    {
        const bool areNear = m_filters <= static_cast<double>(m_facts.l3Bytes);
        return areNear ? m_facts.farBytesPerCycle() : m_facts.memoryBytesPerCycle;
    }

    const WinogradShape& m_shape;
    const TargetFacts& m_facts;
    const double m_blocks; ///< of filters
    const double m_filters;
};

/// All images first, then fewer, then rows of tiles of one, then parts of one row.
std::vector<WinogradStep> possibleSteps(const WinogradShape& shape, const TargetFacts& facts)
{
    const int64_t threads = facts.threads;
    const bool sharesFilters = threads == 1 || shape.outBlocks / shape.vectors % threads == 0;
    std::vector<WinogradStep> steps;
    const auto consider = [&](WinogradStep step) {
        const int64_t count = countOf(shape, step);
        if (count >= threads || (count == 1 && sharesFilters)) steps.push_back(step);
        step.isByPoint = shape.mayGoByPoint;
        if (step.isByPoint && count >= threads) steps.push_back(step);
    };
    for (int64_t images = shape.images; images >= 1; --images)
        if (shape.images % images == 0) consider({images, shape.rows, shape.columns});
    for (int64_t rows = shape.rows - 1; rows >= 1; --rows)
        if (shape.rows % rows == 0) consider({1, rows, shape.columns});
    for (int64_t columns = shape.columns - 1; columns >= 1; --columns)
        if (shape.columns % columns == 0) consider({1, 1, columns});
    if (steps.empty()) steps.push_back({1, 1, shape.columns}); // fewer tiles than threads
    return steps;
}

} // namespace

int64_t bytesOfVector(int64_t inChannels, int64_t bytesPerChannel)
{
    return inChannels * bytesPerChannel * 9 / 8;
}

TileSpace productSpace(const WinogradShape& shape, int64_t tiles, const TargetFacts& facts)
{
    return {.vectors = shape.vectors,
            .positions = tiles,
            .vectorBytes = bytesOfVector(shape.inChannels, shape.lanes * shape.pointBytes),
            .areHalves = facts.hasHalfLanes && shape.pointBytes == 2,
            .arePairs = shape.dataBytes < shape.pointBytes};
}

int64_t imagesOfRegisterTile(int64_t images, int64_t tiles, const TileSpace& space,
                             const TargetFacts& facts)
{
    TileSpace all = space;
    all.positions = images * tiles;
    const int64_t together = divisorUpTo(images, chooseTile(all, facts).positions / tiles);
    if (together < 2) return 1;
    all.positions = together * tiles;
    return chooseTile(all, facts).positions == all.positions ? together : 1;
}

bool isWhole(const WinogradShape& shape, const WinogradStep& step)
{
    return countOf(shape, step) == 1 && !step.isByPoint;
}

WinogradStep chooseWinogradStep(const WinogradShape& shape, const TargetFacts& facts)
{
    const StepCost cost(shape, facts);
    const std::vector<WinogradStep> steps = possibleSteps(shape, facts);
    return *std::min_element(steps.begin(), steps.end(), [&](const auto& a, const auto& b) {
        return cost.cycles(a) < cost.cycles(b);
    });
}

} // namespace tenon::compiler
