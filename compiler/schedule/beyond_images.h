// SPDX-License-Identifier: Apache-2.0
// Kernels of patches leave out the tiles that lie beyond the image: loops end where its rows and
// columns do.
#pragma once

#include "core/ir/tir/stmt.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Patches of one kernel.
struct PatchSpan
{
    std::vector<int64_t> sides; ///< rows and columns of images that each is for
    std::vector<int64_t> steps; ///< of results with what windows reach around: rows and columns of
                                ///< theirs for so many of images; empty: results are of images
    int64_t count = 1;          ///< of one that is called for each, or of several
};

/// Marks a kernel; lowering gives it sizes: the rows and columns of the images, and the number of
/// the first patch.
void setPatches(tir::PrimFunc& function, const PatchSpan& span);

/// How many sizes that are; 0 for other kernels.
int patchSizeCount(const tir::PrimFunc& function);

/// Where loops may end; in rows and columns that `rows` and `columns` hold.
struct LoopLimits
{
    std::unordered_map<const tir::VarNode*, tir::Expr> ends;
    tir::Var rows, columns;
};

/// Of a scheduled kernel of patches, with its blocks; nothing for other kernels.
std::optional<LoopLimits> limitsInPatches(const tir::PrimFunc& scheduled);

/// The lowered kernel with the sizes that it was marked for.
tir::PrimFunc withLimits(tir::PrimFunc lowered, const LoopLimits& limits);

} // namespace tenon::compiler
