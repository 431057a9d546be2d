// SPDX-License-Identifier: Apache-2.0
// What the parts of rule conv2d_winograd share: the blocks of a kernel and its sizes.
#pragma once

#include "compiler/schedule/rules/rule.h"

#include <array>
#include <string>
#include <vector>

namespace tenon::compiler {

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
    std::array<int64_t, 2> tile; ///< m along rows and columns
    int64_t images;              ///< 1 where their number is not known
    int64_t rows;                ///< of tiles
    int64_t columns;             ///< tiles per row
    int64_t points;              ///< of a tile, in both directions
    int64_t lanes;               ///< output channels per vector
    int64_t outBlocks;           ///< vectors of output channels
    int64_t vectors;             ///< output vectors per block of filters
    int64_t inChannels;          ///< of a group
    int64_t groups;
    int64_t inLanes;
    int64_t phases = 1;        ///< of an image, one after the other as input channels
    int64_t pointBytes = 4;    ///< of an element of the transformed filters
    int64_t dataBytes = 4;     ///< of an element of the transformed data
    bool unrollsRows;          ///< of points, where the kernel transforms filters
    bool skipsColumns;         ///< which points a product needs depends on a tile's column
    bool mayGoByPoint = false; ///< see WinogradStep
    bool areHalves = false;    ///< products of halves of channels and positions
    tir::Buffer filters;
};

/// The block that writes the first buffer which `block` reads, or "".
std::string producerOf(const Schedule& schedule, const std::string& block);
WinogradBlocks blocksOf(const Schedule& schedule);
WinogradShape shapeOf(const Schedule& schedule, const WinogradBlocks& blocks);

/// The last `count` loops around `block`.
std::vector<std::string> innerLoops(const Schedule& schedule, const std::string& block,
                                    size_t count);

/// Products of one vector of output channels under `loop`, with filters transformed on the way:
/// per step of channels, row of points and group of tiles.
void scheduleComputedFilters(Schedule& schedule, const WinogradBlocks& blocks,
                             const WinogradShape& shape, const std::string& loop,
                             const TargetFacts& facts);

} // namespace tenon::compiler
