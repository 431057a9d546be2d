// SPDX-License-Identifier: Apache-2.0
// What schedule rules share: looking at blocks, inlining, epilogues and plain elementwise loops.
#pragma once

#include "compiler/schedule/rules.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// Stands for the extent of an axis that is not constant.
inline constexpr int64_t kUnknownExtent = 1 << 15;

/// One axis of a block as the rules see it.
struct AxisView
{
    std::string loop; ///< the loop it is bound to, or "" when bound to an expression
    int64_t extent;   ///< -1 when not constant
    bool isReduce;
};

std::vector<AxisView> axesOf(const Schedule& schedule, std::string_view block);
/// Innermost loops, as many as the block has axes; each stands for one until they are tiled.
std::vector<std::string> ownLoopsOf(const Schedule& schedule, std::string_view block);
/// Statement of the block; CHECKs that it exists.
tir::Stmt blockOf(const Schedule& schedule, std::string_view block);
/// True for functions that take tens of instructions per vector.
bool callsMath(const tir::Stmt& block);
std::string anchorOf(const Schedule& schedule);
int64_t bytesOf(const tir::Buffer& buffer); ///< 0 when symbolic
/// Read buffers of a block without those it writes.
std::vector<tir::Buffer> inputsOf(const Schedule& schedule, std::string_view block);
std::string outputOf(const Schedule& schedule, std::string_view block); ///< buffer name
bool isOutput(const Schedule& schedule, std::string_view buffer);

/// Inlines every elementwise block that is neither `keep` nor an output, while expressions stay
/// small.
void inlineElementwise(Schedule& schedule, const std::vector<std::string>& keep);

/// Blocks after `block` in program order.
std::vector<std::string> blocksAfter(const Schedule& schedule, const std::string& block);
std::vector<std::string> blocksBefore(const Schedule& schedule, const std::string& block);

/// Accumulates into registers: the block's result becomes a register buffer, copied out by a new
/// block when it was an output.
void accumulateInRegisters(Schedule& schedule, const std::string& block);
/// Computes everything after `block` on its tile at `loop`: unrolled, innermost axis in vectors of
/// `lanes`. Blocks that cannot follow are returned; they get loops of their own.
std::vector<std::string> attachEpilogue(Schedule& schedule, const std::string& block,
                                        const std::string& loop, int64_t lanes);
/// The only reader of what `block` writes, or "".
std::string readerOf(const Schedule& schedule, const std::string& block);
/// Vectorizes the loop; of one of several whole vectors, these side by side.
void vectorizeInParts(Schedule& schedule, const std::string& loop, int64_t lanes);
/// Vectorizes the innermost of the block's `own` innermost loops and unrolls the others.
void unrollTile(Schedule& schedule, const std::string& block, size_t own, int64_t lanes);
/// decompose_reduction at `loop`, its `own` innermost loops unrolled and vectorized; sums start
/// from their addends where initWithAddends allows it.
void initialiseTile(Schedule& schedule, const std::string& block, const std::string& loop,
                    size_t own, int64_t lanes);
/// True when there is more than one thread and what is under `loop` ("": the whole function) takes
/// longer than handing it over; a kernel that is not runs on the calling thread.
bool isWorthSharing(const Schedule& schedule, const std::string& loop, const TargetFacts& facts);
/// Fuses the loops and runs them in parallel when that is worth it.
void parallelise(Schedule& schedule, const std::vector<std::string>& loops,
                 const TargetFacts& facts);
/// Splits a loop into one step for every thread, under which each may compute for itself what all
/// of them read, and the rest: {step, rest}, or {"", loop} where it does not divide or there is no
/// use in threads.
std::vector<std::string> stepPerThread(Schedule& schedule, const std::string& loop,
                                       const TargetFacts& facts);
/// True when a parameter that is read or written once may be asked for ahead of time.
bool canStream(const Schedule& schedule, const tir::Buffer& parameter, const TargetFacts& facts);
/// Asks for the weights of a kernel ahead of time, where they are too large to have stayed in the
/// cache since the last run and the processor's own prefetching lags behind. `products`: that each
/// of them is a factor of. False where they are not.
bool streamWeights(Schedule& schedule, const tir::Buffer& weights, const TargetFacts& facts,
                   int64_t products = kUnknownExtent);
/// Asks for the rows of a large image of few channels ahead of time: a first layer waits for it.
void streamImage(Schedule& schedule, const tir::Buffer& image, const TargetFacts& facts);
/// Asks for the lines of a large result of tiles ahead of time.
void streamResult(Schedule& schedule, const std::string& block, const TargetFacts& facts);
/// Blocks that were not there before.
std::vector<std::string> blocksSince(const Schedule& schedule,
                                     const std::vector<std::string>& before);
/// Elements of the block's iteration domain; at least kUnknownExtent when symbolic.
int64_t workOf(const Schedule& schedule, std::string_view block);
/// Lanes of the element type that the block writes.
int64_t lanesOf(const Schedule& schedule, std::string_view block, const TargetFacts& facts);
/// The loops over whole tiles of an axis and within them; the last ones overlap where they must.
std::vector<std::string> splitEvenly(Schedule& schedule, const std::string& loop, int64_t size);
/// Largest divisor of `extent` that is not above `limit`.
int64_t divisorUpTo(int64_t extent, int64_t limit);

/// Parallel, fused and vectorized loops for a block that has no reduction.
void scheduleElementwise(Schedule& schedule, const std::string& block, const TargetFacts& facts);
/// Loops for a "pad" block: under `loop` of its only reader when that is possible and `loop` is
/// not empty, else parallel loops of its own.
void schedulePad(Schedule& schedule, const std::string& pad, const std::string& loop,
                 const TargetFacts& facts);
/// Loops for a reduction and what follows it: spatial tiles outside, reduction inside, the last
/// spatial axis in vectors where its accesses allow.
void scheduleReduction(Schedule& schedule, const std::string& block, const TargetFacts& facts);
/// Elementwise or reduction, whichever the block is.
void scheduleBlock(Schedule& schedule, const std::string& block, const TargetFacts& facts);
void scheduleEach(Schedule& schedule, const TargetFacts& facts); ///< every block so

/// How a block walks memory along its axes.
struct AxisSteps
{
    bool isKnown = false; ///< every shape is constant
    std::vector<std::vector<int64_t>>
        access; ///< per load and store, elements per step of each axis
};
inline constexpr int64_t kUnknownStep = INT64_MIN;
AxisSteps stepsOf(const tir::Stmt& block);
/// True when lanes along the axis would each need a branch of their own.
bool branchesAlong(const tir::Stmt& block, const tir::Var& axis);
/// Places at which the blocks under `root` read the buffer.
int64_t readersOf(const tir::Stmt& root, const tir::Buffer& buffer);
/// True when one vector along the axis works: every access is contiguous or invariant.
bool isContiguousAlong(const tir::Stmt& block, size_t axis);

} // namespace tenon::compiler
