// SPDX-License-Identifier: Apache-2.0
// How many channels make a block: whole vectors, or halves and quarters of them, that divide.
#include "compiler/passes/layout/channel_block.h"

#include "compiler/passes/slice_ranges.h"
#include "compiler/schedule/rules/register_tile.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kFewRows = 4;
constexpr int64_t kShortVector = 4;
constexpr int kFewestLanes = 4;
constexpr int64_t kLineBytes = 64;

/// The least count from `vectors` on that register tiles of several vectors divide; two are a tile
/// that waits no longer than one of three.
int64_t tiledVectors(int64_t vectors)
{
    while (vectors > 2 && vectors % 3 != 0 && vectors % 4 != 0 && vectors % 5 != 0) ++vectors;
    return vectors;
}

/// Cycles that a dense layer takes longer in blocks of so many outputs, or as a matrix of all of
/// them, than in whole vectors.
double gainOfWhole(const DenseLayer& layer, int64_t block, int lanes, const TargetFacts& facts)
{
    // A tile reads a few lines of each row of a matrix, or copies them before; parts of vectors are
    // as many runs at a time, half as long (AMD EPYC with AVX-512: 300 outputs of 784 inputs take
    // 45 us rather than 33 for 16 rows, 83 rather than 64 for 32; 1000 of 512 for one row 26 us in
    // blocks of 8, 19 in those of 112).
    constexpr double kOfShortRuns = 0.35, kOfCopies = 1;
    const auto bytes = static_cast<double>(layer.weightBytes);
    if (block >= layer.outputs && copiesPanels(layer.rows))
        return kOfCopies * bytes / facts.l2BytesPerCycle;
    if (block >= layer.outputs || layer.rows < kFewRows)
        return kOfShortRuns * bytes / facts.l2BytesPerCycle;
    const double products = static_cast<double>(layer.rows) * bytes / 4;
    const auto perVector = [&](int64_t width) {
        return products / static_cast<double>(width) / facts.vectorMacs(static_cast<int>(width));
    };
    return perVector(block) - perVector(lanes);
}

/// Cycles that leaving zeros out of the result takes, in a kernel of its own.
double cutOf(const DenseLayer& layer, const TargetFacts& facts)
{
    constexpr double kOfCall = 500;
    const double bytes = 8.0 * static_cast<double>(layer.rows * layer.outputs);
    return kOfCall + bytes / (kCopiedOfL2 * facts.l2BytesPerCycle);
}

/// As the product's rule chooses it where blocks are as wide as it likes.
RegisterTile tileOfRows(const DenseLayer& layer, int64_t block, const TargetFacts& facts)
{
    const int64_t depth = layer.weightBytes / kFloat32.bytes() / layer.outputs;
    return chooseProductTile(spaceOfProduct(layer.outputs / block, layer.rows, depth, facts),
                             facts);
}

} // namespace

int blockLanes(const TargetFacts& facts)
{
    constexpr int kWidest = 16;
    return std::min(facts.lanes(kFloat32.bytes()), kWidest);
}

bool isOfWholeBlocks(const SliceRange& slice, int64_t block)
{
    return block > 0 && slice.begin % block == 0 && slice.extent % block == 0;
}

int64_t channelBlock(int64_t channels, int lanes)
{
    for (int64_t block = lanes; block >= 4; block /= 2)
        if (channels > 0 && channels % block == 0) return block;
    return 0;
}

int64_t byteBlock(int64_t channels, int lanes, const TargetFacts& facts)
{
    constexpr int kWordBytes = 4;
    const bool multipliesWords = facts.vectorBytes <= kWordBytes && facts.byteMacs >= 1;
    const int64_t block = channelBlock(channels, lanes);
    return block == 0 && multipliesWords && channels <= lanes ? channels : block;
}

int64_t weightBlock(int64_t channels, int64_t block)
{
    for (int64_t times = 4; times > 1; --times)
        if (channels % (block * times) == 0) return block * times;
    return block;
}

int64_t floatWeightBlock(int64_t channels, int64_t block, int64_t positions, bool mayLeaveRest,
                         const TargetFacts& facts)
{
    const int64_t widest = weightBlock(channels, block);
    if (facts.hasLaneOperand) return widest;
    // Sums of one vector load as often as they multiply, and pass over the image once for each;
    // five leave room for two positions (1 x 1 of 100 to 200 channels at 17 x 17 pixels on AVX2:
    // 192 us by one vector, 134 by five or by three and four).
    constexpr int64_t kFive = 5;
    const bool isOfFives = channels > kFive * block && channels % (kFive * block) == 0;
    if (!hasLargeTiles(facts) && widest == block && isOfFives && !mayLeaveRest)
        return kFive * block;
    const RegisterTile tile =
        chooseTile({.vectors = widest / block, .positions = positions}, facts);
    const int64_t width = tile.vectors * block;
    return width * 4 % kLineBytes == 0 ? width : widest;
}

bool hasFewRows(const DenseLayer& layer, const TargetFacts& facts)
{
    // A tile of three rows and eight vectors takes most of 32 registers; of 16, two rows do (AVX2,
    // 784 to 512: three rows 82 us in blocks of 64, 48 in those of 8).
    return !layer.isOpen && layer.rows < std::max(2, facts.vectorRegisters / 8);
}

int64_t denseWeightBlock(const DenseLayer& layer, int64_t block, const TargetFacts& facts)
{
    if (hasFewRows(layer, facts)) {
        constexpr int64_t kMost = 8;
        for (int64_t times = kMost; times > 1; --times)
            if (layer.outputs % (times * block) == 0) return times * block;
        return block;
    }
    if (block <= kShortVector) return weightBlock(layer.outputs, block);
    // Vectors of a line each, as many as a tile takes: what it asks for ahead is one run (Sapphire
    // Rapids, 384 to 1,536 columns for 197 rows: 174 against 182 GFLOP/s). Two of half a line are
    // faster as two runs (AVX2, a ViT by 7 %).
    const bool isLine = block * 4 >= kLineBytes && !layer.isOpen;
    return isLine ? tileOfRows(layer, block, facts).vectors * block : block;
}

int64_t denseRows(const Shape& data)
{
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < data.size(); ++i) rows *= factorOf(data[i]);
    return rows;
}

DenseLayer denseLayer(const Shape& data, const Tensor& weight)
{
    return {weight.shape()[0], denseRows(data), static_cast<int64_t>(weight.bytes().size()),
            !constantShape(data)};
}

int64_t denseBlock(const DenseLayer& layer, int lanes, const TargetFacts& facts)
{
    constexpr int64_t kWidestMatrix = 1024;
    const int64_t block = channelBlock(layer.outputs, lanes);
    const bool waitsForWeights = layer.rows < kFewRows && layer.weightBytes > facts.l2Bytes / 2;
    const bool canShare = facts.threads <= 1 || canShareRows(layer.rows, facts);
    const bool mayOverlap = block == 0 || (canShare && !waitsForWeights);
    const bool isMatrix = lanes >= kFewestLanes && block < lanes && mayOverlap &&
                          layer.outputs >= 2 && layer.outputs <= kWidestMatrix;
    return isMatrix ? layer.outputs : block;
}

int64_t denseOutputs(const DenseLayer& layer, int lanes, const TargetFacts& facts)
{
    if (lanes < kFewestLanes || layer.outputs <= lanes || layer.outputs % lanes == 0)
        return layer.outputs;
    const int64_t whole = tiledVectors((layer.outputs + lanes - 1) / lanes) * lanes;
    const int64_t block = denseBlock(layer, lanes, facts);
    const bool gains = block == 0 || gainOfWhole(layer, block, lanes, facts) > cutOf(layer, facts);
    return gains ? whole : layer.outputs;
}

int64_t paddedChannels(int64_t channels, int lanes)
{
    const int64_t block = channelBlock(channels, lanes);
    int64_t best = channels;
    int64_t vectors = block > 0 ? channels / block : channels;
    for (int64_t wider = lanes; wider >= 4; wider /= 2) {
        const int64_t count = (channels + wider - 1) / wider;
        if (count > vectors || (count == vectors && best == channels)) continue;
        best = count * wider;
        vectors = count;
    }
    return best;
}

TensorType blockedType(const TensorType& type, int64_t block)
{
    CHECK(type.shape.size() == 4) << type.text();
    return {type.dtype,
            {type.shape[0], Dim(type.shape[1].value() / block), type.shape[2], type.shape[3],
             Dim(block)}};
}

std::string blockedLayout(int64_t block) { return "NCHW" + std::to_string(block) + "c"; }

} // namespace tenon::compiler
