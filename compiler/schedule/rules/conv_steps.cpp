// SPDX-License-Identifier: Apache-2.0
// Steps by the size of the second-level cache and the bytes that come from behind it.
#include "compiler/schedule/rules/conv_steps.h"

#include "compiler/schedule/row_strips.h"

#include <algorithm>

namespace tenon::compiler {

int64_t rowsPerStep(const ConvShape& shape, const TargetFacts& facts)
{
    const int64_t rowBytes = std::max<int64_t>(1, shape.inputRowBytes / shape.groups);
    const int64_t cached = std::max<int64_t>(1, facts.l2Bytes / 4 / rowBytes);
    // Threads share groups, and rows where there are fewer of those.
    if (shape.groups > 1)
        return evenDivisorUpTo(
            shape.rows,
            std::min(cached, std::max<int64_t>(1, shape.rows * shape.groups / facts.threads)),
            facts);
    const int64_t perThread = std::max<int64_t>(1, shape.rows / (2 * int64_t{facts.threads}));
    return evenDivisorUpTo(shape.rows, std::min<int64_t>({cached, perThread, 16}), facts);
}

int64_t tilesPerStep(const ConvShape& shape, const RegisterTile& tile, int64_t count,
                     const TargetFacts& facts)
{
    const int64_t tileBytes = tile.positions * shape.columnStep * shape.inputPositionBytes;
    const bool staysInCache = shape.weightBytes <= facts.l2Bytes / 2;
    // Three eighths beside weights that pass by: of 512 to 512 channels at 14 x 14 a quarter takes
    // 5 steps of 7 tiles, two more than there are (Zen 3: 91 against 95 % of the peak; a half is
    // slower where tiles are many).
    const int64_t room = staysInCache ? facts.l2Bytes / 4 : facts.l2Bytes * 3 / 8;
    if (count * tileBytes <= (staysInCache ? room : facts.l2Bytes / 2)) return 0;
    const double reading = static_cast<double>(shape.weightBytes) /
                           (staysInCache ? facts.l2BytesPerCycle : facts.farBytesPerCycle());
    const auto products = static_cast<double>(shape.weightBytes / shape.weights->dtype.bytes());
    const double computing =
        products * static_cast<double>(tile.positions) /
        (facts.vectorMacs(static_cast<int>(shape.lanes)) * static_cast<double>(shape.lanes));
    int64_t best = 1;
    double bestCycles = 0;
    for (int64_t tiles = 1; tiles <= std::max<int64_t>(1, room / tileBytes); ++tiles) {
        const auto steps = static_cast<double>((count + tiles - 1) / tiles);
        const double cycles = steps * (static_cast<double>(tiles) * computing + reading);
        if (tiles > 1 && cycles >= bestCycles) continue;
        best = tiles;
        bestCycles = cycles;
    }
    return best;
}

bool leavesCache(const ConvShape& shape, const RegisterTile& tile, const TargetFacts& facts)
{
    const int64_t data = shape.inputPositionBytes * shape.inputPositions;
    if (data <= facts.l2Bytes / 2) return false;
    // A block of weights that has no room beside the next one would come again for every tile.
    const int64_t blocks = shape.outBlocks / tile.vectors;
    if (blocks > 1 && shape.weightBytes / blocks > facts.l2Bytes / 4) return true;
    const int64_t steps = (data + facts.l2Bytes / 4 - 1) / (facts.l2Bytes / 4);
    // Short runs of many planes come slower than weights, which lie in one run.
    const int64_t reading = (shape.rows == 1 ? 2 : 1) * data;
    return shape.weightBytes * steps + reading < shape.weightBytes + reading * blocks;
}

} // namespace tenon::compiler
