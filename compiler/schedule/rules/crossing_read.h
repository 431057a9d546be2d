// SPDX-License-Identifier: Apache-2.0
// What a block that computes reads across, copied to squares in front of it.
#pragma once

#include "compiler/schedule/schedule.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// True for the remainder of a blocked layout.
bool isInsideOfBlock(const tir::Expr& index);
/// What the last index of a load walks along: itself, or what a block is a part of.
const tir::Expr& walkedBy(const tir::Expr& index);

/// Elements that the back end transposes in registers: words and bytes.
constexpr bool isOfSquares(int64_t bytes) { return bytes == 4 || bytes == 1; }

/// A tensor that a block reads along another axis than its last.
struct CrossingRead
{
    tir::Buffer buffer;
    size_t dim; ///< of the buffer, along which the block's last axis walks
};

/// All of them; none where the block only copies, where one is read at several places, or where
/// there are more than a few. `axis`: of the block, along which neighbours are read.
std::vector<CrossingRead> crossingReadsOf(const tir::Stmt& block, size_t axis);

/// Under `loop` of the block, whose iterations read a square each: the copy's rows become columns.
void transposeSquare(Schedule& schedule, const std::string& copy, const CrossingRead& read,
                     const std::string& loop);

} // namespace tenon::compiler
