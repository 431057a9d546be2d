// SPDX-License-Identifier: Apache-2.0
// Layout: strings such as "NCHW16c" or "OIHW16i64o" as lists of dimensions, and moves between them.
#pragma once

#include "compiler/ops/shapes.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// One dimension: the letter in upper case and its block length; 0 for the outer (primal)
/// dimension.
struct LayoutAxis
{
    char letter;
    int64_t block = 0;
};

class Layout
{
public:
    /// "NCHW16c": capitals are outer dimensions, number + small letter is a block of one. A block
    /// needs its outer dimension; every dimension occurs once. BadAttribute otherwise.
    static Result<Layout> parse(std::string_view text);

    const std::vector<LayoutAxis>& axes() const { return m_axes; }
    size_t rank() const { return m_axes.size(); }
    std::string text() const;
    /// Position of the outer dimension / of the block of `letter`; -1 when there is none.
    int outer(char letter) const;
    int inner(char letter) const;
    int64_t block(char letter) const; ///< block length; 1 when not blocked

private:
    std::vector<LayoutAxis> m_axes;
};

/// Shape under `to` of a tensor that has `shape` under `from`. BadAttribute when the letters
/// differ, ShapeMismatch when a block does not divide its dimension.
Result<Shape> relaidShape(const OpView& op, const Shape& shape, const Layout& from,
                          const Layout& to);
/// Indices under `from` of the element that has `indices` under `to`.
Exprs relaidIndices(const Exprs& indices, const Layout& from, const Layout& to);

} // namespace tenon::compiler
