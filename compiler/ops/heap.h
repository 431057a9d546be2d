// SPDX-License-Identifier: Apache-2.0
// Heap: numbers and where they come from, the one that leaves first at the top; as statements.
#pragma once

#include "compiler/ops/statements.h"

namespace tenon::compiler {

/// Slots of two buffers side by side. Of two numbers, the one that leaves first stands nearer to
/// the top; of equal ones their indices decide.
class Heap
{
public:
    enum class Leaves : uint8_t
    {
        HighestFirst, ///< of equal numbers the one of the lowest index
        LowestOrLast, ///< the lowest; of equal numbers the one of the highest index
        HighestOrLast ///< the highest; of equal numbers the one of the highest index
    };
    struct Entry
    {
        tir::Expr value;
        tir::Expr index;
    };
    using Place = std::function<std::vector<tir::Expr>(const tir::Expr& slot)>;

    /// `place`: where a slot lies in both buffers.
    Heap(tir::Buffer values, tir::Buffer indices, Place place, Leaves order);

    Entry at(const tir::Expr& slot) const;
    tir::Stmt put(const tir::Expr& slot, const Entry& entry) const;
    /// Brings the first `size` slots into order.
    tir::Stmt order(const tir::Expr& size) const;
    /// Puts the entry at `root`, or as far below as others leave before it.
    tir::Stmt sink(const tir::Expr& root, const Entry& entry, const tir::Expr& size) const;
    /// The statements above need to be inside of this.
    tir::Stmt within(const tir::Stmt& body) const;

private:
    tir::Expr leavesBefore(const Entry& one, const Entry& other) const;
    tir::Expr nextBelow(const tir::Expr& size) const;

    tir::Buffer m_values;
    tir::Buffer m_indices;
    Place m_place;
    Leaves m_leaves;
    Cell m_value; ///< of the entry that sinks
    Cell m_index{"moved_index"};
    Cell m_at{"at"};       ///< the slot it has reached
    Cell m_child{"child"}; ///< the slot below that leaves first
};

} // namespace tenon::compiler
