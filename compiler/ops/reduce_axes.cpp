// SPDX-License-Identifier: Apache-2.0
// The axes a reduction runs over.
#include "compiler/ops/reduce_axes.h"

#include <algorithm>

namespace tenon::compiler {

bool ReduceAxes::has(size_t dimension) const
{
    return std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(dimension));
}

Shape ReduceAxes::resultShape(const Shape& shape) const
{
    Shape out;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (!has(i)) out.push_back(shape[i]);
        if (has(i) && keepsDims) out.emplace_back(1);
    }
    return out;
}

Exprs ReduceAxes::reduced(const Exprs& shape) const
{
    Exprs out;
    for (const int64_t axis : axes) out.push_back(shape[static_cast<size_t>(axis)]);
    return out;
}

Exprs ReduceAxes::join(size_t rank, const Exprs& result, const Exprs& reducedIndices) const
{
    Exprs out;
    size_t next = 0, nextReduced = 0;
    for (size_t i = 0; i < rank; ++i) {
        if (has(i))
            out.push_back(reducedIndices[nextReduced++]);
        else
            out.push_back(result[next]);
        if (!has(i) || keepsDims) ++next;
    }
    return out;
}

Result<ReduceAxes> readReduceAxes(const OpView& op, bool hasExclude)
{
    const size_t rank = op.operands[0].shape.size();
    auto axes = normalAxes(op, intsAttr(op, "axis"), rank);
    if (!axes) return axes.error();
    ReduceAxes out{*std::move(axes), flagAttr(op, "keepdims")};
    const bool excludes = hasExclude && flagAttr(op, "exclude");
    if (out.axes.empty() || excludes) {
        const ReduceAxes named = out;
        out.axes.clear();
        for (size_t i = 0; i < rank; ++i)
            if (!named.has(i)) out.axes.push_back(static_cast<int64_t>(i));
    }
    return out;
}

} // namespace tenon::compiler
