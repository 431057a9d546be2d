// SPDX-License-Identifier: Apache-2.0
// Loads and conditions are computed on both sides of `and` and `or`: slots stay within the heap.
#include "compiler/ops/heap.h"

#include <utility>

namespace tenon::compiler {

using tir::Expr;
using tir::Stmt;

Heap::Heap(tir::Buffer values, tir::Buffer indices, Place place, Leaves order)
    : m_values(std::move(values))
    , m_indices(std::move(indices))
    , m_place(std::move(place))
    , m_leaves(order)
    , m_value("moved_value", m_values->dtype)
{
}

Heap::Entry Heap::at(const Expr& slot) const
{
    return {tir::load(m_values, m_place(slot)), tir::load(m_indices, m_place(slot))};
}

Stmt Heap::put(const Expr& slot, const Entry& entry) const
{
    return tir::seq({tir::store(m_values, m_place(slot), entry.value),
                     tir::store(m_indices, m_place(slot), entry.index)});
}

Expr Heap::leavesBefore(const Entry& one, const Entry& other) const
{
    const bool isLowest = m_leaves == Leaves::LowestOrLast;
    const bool isFirst = m_leaves == Leaves::HighestFirst;
    return (isLowest ? one.value < other.value : one.value > other.value) ||
           (equal(one.value, other.value) &&
            (isFirst ? one.index < other.index : one.index > other.index));
}

/// Of the two slots below `at` the one that leaves first; not below `size` where there is none.
Expr Heap::nextBelow(const Expr& size) const
{
    const Expr left = m_at.get() * Expr(2) + Expr(1);
    const Expr last = size - Expr(1), right = minimum(left + Expr(1), last);
    return tir::select(left < size && leavesBefore(at(right), at(minimum(left, last))), right,
                       left);
}

Stmt Heap::sink(const Expr& root, const Entry& entry, const Expr& size) const
{
    const Expr child = m_child.get(), below = minimum(child, size - Expr(1));
    const Entry moved{m_value.get(), m_index.get()};
    const Stmt rise =
        tir::seq({put(m_at.get(), at(child)), m_at.set(child), m_child.set(nextBelow(size))});
    return tir::seq({m_value.set(entry.value), m_index.set(entry.index), m_at.set(root),
                     m_child.set(nextBelow(size)),
                     tir::whileLoop(child < size && leavesBefore(at(below), moved), rise),
                     put(m_at.get(), moved)});
}

Stmt Heap::order(const Expr& size) const
{
    const Expr half = floorDiv(size, Expr(2));
    return serialLoop("parent", half, [&](const Expr& i) {
        const Expr root = half - Expr(1) - i;
        return sink(root, at(root), size);
    });
}

Stmt Heap::within(const Stmt& body) const
{
    Stmt out = body;
    for (const Cell* cell : {&m_value, &m_index, &m_at, &m_child}) out = cell->within(out);
    return out;
}

} // namespace tenon::compiler
