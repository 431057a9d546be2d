// SPDX-License-Identifier: Apache-2.0
// The axes a reduction runs over, shared by reductions and index reductions.
#pragma once

#include "compiler/ops/shapes.h"

namespace tenon::compiler {

/// Reads `axis` (empty: all), `exclude` (the axes named are kept instead) where the operator has
/// it, and `keepdims`.
struct ReduceAxes
{
    std::vector<int64_t> axes; ///< sorted
    bool keepsDims = false;

    bool has(size_t dimension) const;
    Shape resultShape(const Shape& shape) const;
    /// Extents of the reduced dimensions, in order.
    Exprs reduced(const Exprs& shape) const;
    /// Source index from result indices and one index per reduced dimension.
    Exprs join(size_t rank, const Exprs& result, const Exprs& reducedIndices) const;
};
Result<ReduceAxes> readReduceAxes(const OpView& op, bool hasExclude);

} // namespace tenon::compiler
