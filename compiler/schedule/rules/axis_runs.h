// SPDX-License-Identifier: Apache-2.0
// How what is read along the last axes of a block lies in memory.
#pragma once

#include "core/ir/tir/stmt.h"

#include <cstdint>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Number of trailing axes that can run as one contiguous vector loop.
size_t contiguousAxes(const tir::Stmt& block);
/// Where the axis begins to be read elsewhere, in order: joined or padded tensors. Empty where
/// conditions ask for anything else than what the axis is below or not below.
std::vector<int64_t> bordersOf(const tir::Stmt& block, const tir::IterVar& axis);
/// Where the last axis begins to read the same elements again: repeated tensors. Empty where it
/// does not, or too often to copy each part by itself.
std::vector<int64_t> repeatsOf(const tir::Stmt& block);
/// Where what is read turns round or stops, as mirrored and repeated edges do. Empty where it does
/// not, too often, or where it skips elements.
std::vector<int64_t> bendsOf(const tir::Stmt& block);
/// The period with which conditions look at an axis, as joined phases do; 0: none do, or one looks
/// at it in another way.
int64_t periodOf(const tir::Stmt& block, const tir::IterVar& axis);
/// Lanes along the last axis, at most so many, that read elements side by side, each as often:
/// enlarging by whole numbers. 0: there are none.
int64_t lanesOfRepeatedElements(const tir::Stmt& block, int64_t lanes);

/// Elements that are read at places that divide the last axis, as enlarging by whole numbers does,
/// or that indices choose: processors that gather 32-bit elements take vectors of them.
bool gathersAlongLast(const tir::Stmt& block, int64_t lanes);

} // namespace tenon::compiler
