// SPDX-License-Identifier: Apache-2.0
// RowDemand: which rows of its operands an operator needs for some rows of its result.
#pragma once

#include "compiler/passes/rewrite.h"

namespace tenon::compiler {

/// `count` indices of one dimension, from `begin` on.
struct Rows
{
    size_t axis = 0;
    int64_t begin = 0;
    int64_t count = 0;

    friend bool operator==(const Rows&, const Rows&) = default;
};

/// An operator that computes fewer rows: new attributes, and per operand the rows that it reads.
struct RowDemand
{
    Attrs attrs;
    std::vector<std::optional<Rows>> operands; ///< nothing: all
};

/// Nothing where the rows depend on each other, or where a shape is not known.
std::optional<RowDemand> rowDemandOf(const Module& module, const NodeRecord& node,
                                     const Rows& rows);

/// The rows that a node selects of its operand: a slice along one dimension, or a constant index.
std::optional<Rows> selectedRows(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
