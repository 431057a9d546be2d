// SPDX-License-Identifier: Apache-2.0
// VectorNest::Worker: what vector_nest.cpp keeps for each thread.
#pragma once

#include "compiler/evaluate/vector_nest.h"

#include <array>
#include <utility>
#include <vector>

namespace tenon::compiler {

/// Where one thread is, between which bounds, with its registers.
struct VectorNest::Worker
{
    explicit Worker(const VectorNest& whose)
        : nest(whose)
        , position(nest.m_axes.size(), 0)
        , begin(nest.m_axes.size(), 0)
        , value(nest.m_value->registerCount())
        , init(nest.m_init ? nest.m_init->registerCount() : 0)
    {
        for (const NestAxis& axis : nest.m_axes) end.push_back(axis.extent);
        nest.m_value->fillConstants(value);
        if (nest.m_init) nest.m_init->fillConstants(init);
    }

    int64_t outerCount() const
    {
        int64_t count = 1;
        for (const size_t a : nest.m_outer) count *= end[a] - begin[a];
        return count;
    }

    void seekOuter(int64_t row)
    {
        for (auto a = nest.m_outer.rbegin(); a != nest.m_outer.rend(); ++a) {
            position[*a] = begin[*a] + row % (end[*a] - begin[*a]);
            row /= end[*a] - begin[*a];
        }
    }

    void nextOuter()
    {
        for (auto a = nest.m_outer.rbegin(); a != nest.m_outer.rend(); ++a) {
            if (++position[*a] < end[*a]) return;
            position[*a] = begin[*a];
        }
    }

    /// What the nest stores to, and the element of it that belongs to the position.
    std::pair<std::span<std::byte>, int64_t> target() const
    {
        const int64_t first = nest.m_store.at(position);
        if (nest.m_local < 0) return {nest.m_bytes, first};
        const LocalBuffer& local = value.locals[static_cast<size_t>(nest.m_local)];
        return {local.bytes, first - local.skipped};
    }

    /// What a load reads, and the element of it that belongs to the position.
    std::pair<std::span<const std::byte>, int64_t> source(const TapeAccess& load) const
    {
        const int64_t first = load.affine->at(position);
        if (load.local < 0) return {load.bytes, first};
        const LocalBuffer& local = value.locals[static_cast<size_t>(load.local)];
        return {local.bytes, first - local.skipped};
    }

    const VectorNest& nest;
    std::vector<int64_t> position;
    std::vector<int64_t> begin; ///< of each axis
    std::vector<int64_t> end;
    Registers value;
    Registers init;
    std::array<double, kRow> sums{};
};

} // namespace tenon::compiler
