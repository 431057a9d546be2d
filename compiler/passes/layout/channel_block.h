// SPDX-License-Identifier: Apache-2.0
// The layout rule: which block of channels a tensor gets, and how blocked types and layouts look.
#pragma once

#include "core/ir/type.h"
#include "core/target/target_facts.h"
#include "core/tensor/tensor.h"

#include <string>

namespace tenon::compiler {

using namespace core;

struct SliceRange;

/// Floats of the widest block of channels: a vector, of at most 16.
int blockLanes(const TargetFacts& facts);
/// What one core copies, of what its second-level cache gives (12 of 32 on an AMD EPYC with
/// AVX-512).
inline constexpr double kCopiedOfL2 = 0.375;
/// Largest of {lanes, lanes/2, ..., 4} that divides `channels`; 0: not blocked.
int64_t channelBlock(int64_t channels, int lanes);
/// The same of bytes: where words of them are multiplied one by one, wherever they begin, a few
/// channels are a block of their own, whatever their number.
int64_t byteBlock(int64_t channels, int lanes, const TargetFacts& facts);
/// Whether channels of a slice are blocks of so many; of plain values they are not.
bool isOfWholeBlocks(const SliceRange& slice, int64_t block);
/// Output-channel block of a weight: `block` times the largest of 4, 3, 2, 1 that divides.
int64_t weightBlock(int64_t channels, int64_t block);
/// The same of floats for so many positions: no wider than a tile where that takes half of it.
/// Lines in turns for two tiles would use half of the sets of a cache in each. Where the last tile
/// may take what is left, counts that nothing divides stay single blocks.
int64_t floatWeightBlock(int64_t channels, int64_t block, int64_t positions, bool mayLeaveRest,
                         const TargetFacts& facts);
/// A dense layer by what decides how its weights are packed.
struct DenseLayer
{
    int64_t outputs;
    int64_t rows; ///< of its data; where sizes are open, those of one item
    int64_t weightBytes;
    bool isOpen = false; ///< the number of such items is known at run time only
};

/// Rows of the data of a dense layer: all elements but those of the last dimension; 64 of 64*N.
int64_t denseRows(const Shape& data);
/// Of a weight [outputs, depth].
DenseLayer denseLayer(const Shape& data, const Tensor& weight);
/// How many outputs of a dense layer lie side by side in its packed weights: as a channelBlock(),
/// or all of them where that fills no vector. Whole vectors, the last of which overlaps, then beat
/// parts of vectors, but for few rows with weights that come from beyond the second-level cache;
/// and threads share blocks or rows, not what overlaps.
int64_t denseBlock(const DenseLayer& layer, int lanes, const TargetFacts& facts);
/// How many outputs a dense layer computes, with zeros among its weights behind its own: as many as
/// fill whole vectors where parts of vectors would take longer, and leaving the zeros out of the
/// result again.
int64_t denseOutputs(const DenseLayer& layer, int lanes, const TargetFacts& facts);
/// So few rows that a layer waits for its weights rather than for products.
bool hasFewRows(const DenseLayer& layer, const TargetFacts& facts);
/// Outputs side by side where a block of them is one vector: for few rows as many vectors as a tile
/// has, so that it reads one run of memory; of more rows, those of a tile where a vector is a line,
/// and a few short vectors, which are loaded in pairs; for an open number of items one vector.
int64_t denseWeightBlock(const DenseLayer& layer, int64_t block, const TargetFacts& facts);
/// The least count from `channels` on whose blocks take fewer vectors; `channels` if there is none.
int64_t paddedChannels(int64_t channels, int lanes);
/// (N, C, H, W) -> (N, C/block, H, W, block).
TensorType blockedType(const TensorType& type, int64_t block);
/// "NCHW16c".
std::string blockedLayout(int64_t block);

} // namespace tenon::compiler
