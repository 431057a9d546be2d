// SPDX-License-Identifier: Apache-2.0
// Heap: numbers, or several for each entry, the one that leaves first at the top; as statements.
#pragma once

#include "compiler/ops/statements.h"

namespace tenon::compiler {

/// Slots of one buffer, or of several side by side. Of two entries, the one that leaves first
/// stands nearer to the top.
class Heap
{
public:
    /// A number of each buffer.
    using Entry = std::vector<tir::Expr>;
    using Place = std::function<std::vector<tir::Expr>(const tir::Expr& slot)>;
    using Before = std::function<tir::Expr(const Entry& one, const Entry& other)>;

    /// `place`: where a slot lies in all buffers.
    Heap(std::vector<tir::Buffer> buffers, Place place, Before leavesBefore);

    /// For an entry outside of the heap.
    std::vector<Cell> cells(const std::string& name) const;
    Entry at(const tir::Expr& slot) const;
    tir::Stmt put(const tir::Expr& slot, const Entry& entry) const;
    /// Brings the first `size` slots into order.
    tir::Stmt order(const tir::Expr& size) const;
    /// Puts the entry at `root`, or as far below as others leave before it.
    tir::Stmt sink(const tir::Expr& root, const Entry& entry, const tir::Expr& size) const;
    /// The statements above need to be inside of this.
    tir::Stmt within(const tir::Stmt& body) const;

    /// Of values and indices: the highest first; of equal ones that of the lowest index.
    static tir::Expr isHighest(const Entry& one, const Entry& other);
    /// The lowest or highest first; of equal ones that of the highest index.
    static tir::Expr isLowestOrLast(const Entry& one, const Entry& other);
    static tir::Expr isHighestOrLast(const Entry& one, const Entry& other);
    /// Of keys, no two of which are equal.
    static tir::Expr isLowestKey(const Entry& one, const Entry& other);

private:
    tir::Expr nextBelow(const tir::Expr& size) const;

    std::vector<tir::Buffer> m_buffers;
    Place m_place;
    Before m_leavesBefore;
    std::vector<Cell> m_moved; ///< the entry that sinks
    Cell m_at{"at"};           ///< the slot it has reached
    Cell m_child{"child"};     ///< the slot below that leaves first
};

} // namespace tenon::compiler
