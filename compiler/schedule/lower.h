// SPDX-License-Identifier: Apache-2.0
// The steps of lowerToLoops, in order; each keeps what the function computes.
#pragma once

#include "core/ir/tir/stmt.h"

#include <cstdint>

namespace tenon::compiler {

using namespace core;

/// Moves every buffer of a block's `allocs` to an Allocate around the innermost statement that
/// holds all its accesses (outside reduction loops that carry its value).
tir::Stmt placeBuffers(const tir::Stmt& body);

/// Substitutes bindings; predicates become Ifs, inits become Ifs on the first reduction step.
tir::Stmt lowerBlocks(const tir::Stmt& body);

/// Turns tanh(log(1 + e^x)) and 1 + tanh(x) into expressions of one exponential.
tir::Stmt lowerGates(const tir::Stmt& body);

/// Turns squares and cubes written as powers into products, and x / c inside erf, tanh and sigmoid.
tir::Stmt lowerPowers(const tir::Stmt& body);

/// Shrinks allocated buffers to the region that is accessed where they live.
tir::Stmt compactBuffers(const tir::Stmt& body);

/// Makes every buffer one-dimensional, honouring strides.
tir::PrimFunc flattenBuffers(const tir::PrimFunc& function);

/// Divides once by sizes that are known at run time only, where loops inside would for each
/// iteration.
tir::PrimFunc hoistDivisions(tir::PrimFunc function);

/// Asks once where loops inside would ask for each iteration: guards that do not depend on a loop
/// go around it, equal ones become one.
tir::Stmt hoistGuards(const tir::Stmt& body);

/// Gives the last of the register tiles along a known number of blocks a body of its own, without
/// guards, for the blocks that are left.
tir::Stmt splitRests(const tir::Stmt& body);

/// Splits loops around register buffers where the guards of loads begin and cease to hold, so that
/// only the border of an image tests for it.
tir::Stmt partitionLoops(const tir::Stmt& body);

/// Takes the guards out of vectors along runs whose length is known at run time only: whole vectors
/// come first, then what is left.
tir::Stmt splitTails(const tir::Stmt& body);

/// Whether lanes may choose by themselves what they read: where images have borders at places that
/// nobody knows, and rules ask processors for masks.
enum class LaneChoice : uint8_t
{
    Common,
    Own
};

/// Turns vectorized loops into Ramp and Broadcast expressions; what cannot be one becomes serial.
tir::Stmt lowerVectorized(const tir::Stmt& body, LaneChoice choice = LaneChoice::Common);

/// Makes products that are added to a sum, c[i] = c[i] + a * b, fused multiply-adds.
tir::Stmt fuseSums(const tir::Stmt& body);

/// Adds long sums in registers up run by run, which leaves less of rounding.
tir::PrimFunc addInRuns(tir::PrimFunc function);

/// Puts requests for the parameter that `stream` named into its loops: an Evaluate of a Load, which
/// reads nothing and may lie beyond the end of the buffer.
tir::PrimFunc requestStreams(tir::PrimFunc function);

/// The same for rows of the image that `stream_rows` named, by tiles of sums in registers.
tir::PrimFunc requestRows(tir::PrimFunc function);

/// The same for the lines of the result that `stream_result` named, before they are written.
tir::PrimFunc requestResults(tir::PrimFunc function);

} // namespace tenon::compiler
