// SPDX-License-Identifier: Apache-2.0
// Register tiles of output vectors x positions for blocked convolutions, and the loops around them.
#pragma once

#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Loops of the convolution block by meaning.
struct ConvLoops
{
    std::string n, outBlock, row, column, lane, inBlock, kernelRow, kernelColumn, inLane;
    std::string part; ///< parts of the weights that are summed up separately, or ""
};

struct ConvShape
{
    int64_t lanes, outBlocks, rows, columns, inLanes, kernelRows, kernelColumns;
    int64_t columnStep; ///< columns from one position to the next
    int64_t vectors;    ///< output vectors per weight block
    tir::Buffer data, weights;
    int64_t weightBytes; ///< all weights
    int64_t inputRowBytes;
    int64_t inputPositionBytes; ///< all channels of one pixel
    int64_t inputPositions;     ///< pixels of one image
    int64_t groups;             ///< of channels that see nothing of one another
    bool isPointwise;           ///< height and width can be walked as one axis
};

/// What the tiles of a convolution walk.
enum class Walk : uint8_t
{
    Image, ///< height and width as one axis
    Steps, ///< a few rows at a time
    Rows   ///< all rows there are
};

struct ConvSite
{
    ConvShape shape;
    ConvLoops loops;
};

struct ConvNest
{
    std::vector<std::string> outer; ///< loops that threads may share
    std::string blocks;             ///< the loop right inside these, or ""
    std::vector<std::string> left;  ///< blocks that cannot follow on its tiles
    std::string padLoop;            ///< where rows may be padded, or ""
    bool rereadsWeights = false;    ///< large ones, for each step: no use in asking ahead for them
};

ConvLoops loopsOfConv(const Schedule& schedule, const std::string& conv);
ConvShape shapeOfConv(const Schedule& schedule, const std::string& conv);
/// Weights that do not stay in the second-level cache are read once, for all rows.
bool readsWeightsOnce(const ConvShape& shape, const TargetFacts& facts);
/// True where a tile takes vectors from several blocks of weights, and the last one those that are
/// left.
bool mayLeaveRest(const ConvShape& shape, const TargetFacts& facts);
/// The tile for rows, or joined images, of so many columns.
RegisterTile convTile(const ConvShape& shape, int64_t columns, Walk walk, const TargetFacts& facts);
/// Register tiles for the convolution and for what follows it.
ConvNest tileConvolution(Schedule& schedule, const std::string& conv, const ConvSite& site,
                         Walk walk, const TargetFacts& facts);

} // namespace tenon::compiler
