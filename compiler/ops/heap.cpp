// SPDX-License-Identifier: Apache-2.0
// Loads and conditions are computed on both sides of `and` and `or`: slots stay within the heap.
#include "compiler/ops/heap.h"

#include <utility>

namespace tenon::compiler {

using tir::Expr;
using tir::Stmt;

Heap::Heap(std::vector<tir::Buffer> buffers, Place place, Before leavesBefore)
    : m_buffers(std::move(buffers))
    , m_place(std::move(place))
    , m_leavesBefore(std::move(leavesBefore))
    , m_moved(cells("moved"))
{
}

std::vector<Cell> Heap::cells(const std::string& name) const
{
    std::vector<Cell> out;
    for (const tir::Buffer& buffer : m_buffers)
        out.emplace_back(name + "_" + std::to_string(out.size()), buffer->dtype);
    return out;
}

Heap::Entry Heap::at(const Expr& slot) const
{
    Entry entry;
    for (const tir::Buffer& buffer : m_buffers) entry.push_back(tir::load(buffer, m_place(slot)));
    return entry;
}

Stmt Heap::put(const Expr& slot, const Entry& entry) const
{
    std::vector<Stmt> stores;
    for (size_t i = 0; i < m_buffers.size(); ++i)
        stores.push_back(tir::store(m_buffers[i], m_place(slot), entry[i]));
    return tir::seq(stores);
}

Expr Heap::isHighest(const Entry& one, const Entry& other)
{
    return one[0] > other[0] || (equal(one[0], other[0]) && one[1] < other[1]);
}

Expr Heap::isLowestOrLast(const Entry& one, const Entry& other)
{
    return one[0] < other[0] || (equal(one[0], other[0]) && one[1] > other[1]);
}

Expr Heap::isHighestOrLast(const Entry& one, const Entry& other)
{
    return one[0] > other[0] || (equal(one[0], other[0]) && one[1] > other[1]);
}

Expr Heap::isLowestKey(const Entry& one, const Entry& other) { return one[0] < other[0]; }

/// Of the two slots below `at` the one that leaves first; not below `size` where there is none.
Expr Heap::nextBelow(const Expr& size) const
{
    const Expr left = m_at.get() * Expr(2) + Expr(1);
    const Expr last = size - Expr(1), right = minimum(left + Expr(1), last);
    return tir::select(left < size && m_leavesBefore(at(right), at(minimum(left, last))), right,
                       left);
}

Stmt Heap::sink(const Expr& root, const Entry& entry, const Expr& size) const
{
    const Expr child = m_child.get(), below = minimum(child, size - Expr(1));
    Entry moved;
    std::vector<Stmt> steps;
    for (size_t i = 0; i < m_moved.size(); ++i) {
        moved.push_back(m_moved[i].get());
        steps.push_back(m_moved[i].set(entry[i]));
    }
    const Stmt rise =
        tir::seq({put(m_at.get(), at(child)), m_at.set(child), m_child.set(nextBelow(size))});
    steps.insert(steps.end(),
                 {m_at.set(root), m_child.set(nextBelow(size)),
                  tir::whileLoop(child < size && m_leavesBefore(at(below), moved), rise),
                  put(m_at.get(), moved)});
    return tir::seq(steps);
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
    for (const Cell& cell : m_moved) out = cell.within(out);
    for (const Cell* cell : {&m_at, &m_child}) out = cell->within(out);
    return out;
}

} // namespace tenon::compiler
