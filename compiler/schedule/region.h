// SPDX-License-Identifier: Apache-2.0
// Where a buffer is accessed inside a statement without blocks.
#pragma once

#include "compiler/schedule/affine.h"

namespace tenon::compiler {

struct Access
{
    std::vector<tir::Expr> indices;
    tir::Ranges inner; ///< loops between the searched statement and the access
    bool isKnown;      ///< the indices use no variable of unknown range bound in between
};

enum class AccessKind : uint8_t
{
    Any,
    Reads,
    Writes
};

/// Every load and store of `buffer` in `stmt`, which has no blocks (see lowerBlocks).
std::vector<Access> accessesOf(const tir::Stmt& stmt, const tir::Buffer& buffer,
                               AccessKind kind = AccessKind::Any);

/// What the accesses cover in dimension `dim`; `outer` are the loops around the searched statement.
std::optional<Interval> regionOf(const std::vector<Access>& accesses, size_t dim,
                                 const tir::Ranges& outer);

/// The same with the largest step that all accesses keep to, as in every second column.
std::optional<Interval> steppedRegionOf(const std::vector<Access>& accesses, size_t dim,
                                        const tir::Ranges& outer);

/// Constant range of a loop variable.
std::optional<tir::IntRange> rangeOf(const tir::Loop& loop);

} // namespace tenon::compiler
