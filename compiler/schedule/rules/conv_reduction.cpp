// SPDX-License-Identifier: Apache-2.0
// How many steps of the sums one iteration takes.
#include "compiler/schedule/rules/conv_reduction.h"

#include "compiler/schedule/rules/rule.h"

namespace tenon::compiler {
namespace {

/// Steps of the reduction in the body of the innermost loop.
constexpr int64_t kUnrolledLanes = 4;

/// True where lanes are operands and positions read columns of their own, as many as make vectors.
bool areColumnsApart(const ConvShape& shape, const TargetFacts& facts)
{
    return facts.hasLaneOperand && shape.weights->dtype == kFloat32 &&
           shape.columnStep >= kUnrolledLanes && shape.kernelColumns % kUnrolledLanes == 0;
}

/// Blocks of channels of a 1 x 1 layer that make one iteration, which are short steps where lanes
/// are operands: half as much loop control, and more loads in pairs (80 products of a Cortex-A72:
/// 95 instructions by one block, 93 by two).
int64_t blocksTogether(int64_t blocks, const ConvShape& shape, const TargetFacts& facts)
{
    const bool isShort = facts.hasLaneOperand && shape.weights->dtype == kFloat32 &&
                         shape.inLanes == kUnrolledLanes && shape.kernelRows == 1 &&
                         shape.kernelColumns == 1;
    if (!isShort) return 1;
    return blocks % 2 == 0 ? 2 : divisorUpTo(blocks, 3);
}

/// Of a block of channels in one iteration.
int64_t unrolledLanes(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.weights->dtype == kFloat32 ? stepsOfBlock(shape.inLanes, facts) : kUnrolledLanes;
}

/// Of channels that are planes. Unrolled kernel columns share inputs; keeping those in registers
/// would spill the sums (Sapphire Rapids, first layer of ResNet: 109 against 150 GFLOP/s).
std::vector<std::string> loopsOfPlanes(const ConvLoops& loops, bool areWeightsFar)
{
    // Weights from behind the cache are walked as they lie: requests that jump from channel to
    // channel are the core's own to carry out, lines that follow one another bring the next
    // (Granite Rapids, 1,024 planes of 4 x 4: 70 against 137 GFLOP/s).
    if (areWeightsFar) return {loops.inBlock, loops.kernelRow, loops.kernelColumn, loops.inLane};
    // Planes are far apart, so that their loop steps a pointer; columns are an index, which costs
    // each product that reads memory an instruction slot.
    return {loops.kernelRow, loops.kernelColumn, loops.inBlock, loops.inLane};
}

} // namespace

bool hasByteLanes(const ConvShape& shape, const TargetFacts& facts)
{
    return facts.hasHalfLanes && shape.weights->dtype == kInt32;
}

ConvReduction splitReduction(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                             const TargetFacts& facts)
{
    ConvReduction out{{loops.inBlock, loops.kernelRow, loops.kernelColumn}, ""};
    if (shape.inLanes == 1 && hasByteLanes(shape, facts) &&
        schedule.extentOf(loops.inBlock) % 2 == 0) {
        // A quad of channels is a short step; two of them are what a product of matrices takes.
        const auto pairs = schedule.split(loops.inBlock, {-1, 2});
        out.loops = {pairs[0], loops.kernelRow, loops.kernelColumn, pairs[1], loops.inLane};
        out.unrolled = pairs[1];
        return out;
    }
    if (shape.inLanes == 1 && areColumnsApart(shape, facts)) {
        // Four columns of a kernel are one load of inputs, none of which another position reads.
        const auto fours = schedule.split(loops.kernelColumn, {-1, kUnrolledLanes});
        out.loops = {loops.inBlock, loops.kernelRow, fours[0], fours[1], loops.inLane};
        out.unrolled = fours[1];
        return out;
    }
    if (shape.inLanes == 1) {
        out.loops = loopsOfPlanes(loops, readsWeightsOnce(shape, facts));
        return out;
    }
    const int64_t blocks = blocksTogether(schedule.extentOf(loops.inBlock), shape, facts);
    if (blocks > 1) {
        const auto together = schedule.split(loops.inBlock, {-1, blocks});
        out.loops = {together[0], loops.kernelRow, loops.kernelColumn, together[1]};
        out.blocks = together[1];
    }
    const auto parts =
        schedule.split(loops.inLane, {-1, divisorUpTo(shape.inLanes, unrolledLanes(shape, facts))});
    out.loops.push_back(parts[0]);
    out.loops.push_back(parts[1]);
    out.unrolled = parts[1];
    return out;
}

} // namespace tenon::compiler
