// SPDX-License-Identifier: Apache-2.0
// VectorNest: one block with its loops, executed row by row through tapes.
#pragma once

#include "compiler/te/mac_rows.h"
#include "compiler/te/tape.h"
#include "core/jobs/job.h"

#include <optional>

namespace tenon::compiler {

/// A perfect nest of constant extents around one block that stores one element of one buffer per
/// spatial point.
class VectorNest
{
public:
    /// Nothing when the statement is anything else.
    static std::optional<VectorNest> match(const tir::Stmt& nest, const BufferBytes& buffers);

    Status run(const JobContext& job) const;

private:
    struct Worker;
    Status runRows(const JobContext& job, int64_t firstRow, int64_t lastRow) const;
    Status reduceRow(Worker& worker, int64_t count) const;
    Status reduceAlongRow(Worker& worker) const;
    void storeRow(const double* numbers, const int64_t* integers, int64_t first,
                  int64_t count) const;
    bool copyPlain(int64_t storeFirst, const TapeAccess& load, std::span<const int64_t> position,
                   int64_t count) const;
    int64_t outerCount() const;
    void seekOuter(int64_t row, std::vector<int64_t>& position) const;
    void nextOuter(std::vector<int64_t>& position) const;

    std::vector<NestAxis> m_axes;
    std::vector<size_t> m_outer;  ///< spatial axes other than the row axis
    std::vector<size_t> m_reduce; ///< reduce axes other than the row axis
    size_t m_row = 0;             ///< axis along which rows run
    tir::Buffer m_buffer;
    std::span<std::byte> m_bytes;
    AxisForm m_store;
    std::optional<Tape> m_init;
    std::optional<Tape> m_value;
    std::optional<MacRows> m_mac;                 ///< runs in place of m_value when set
    tir::ExprKind m_combine = tir::ExprKind::Add; ///< of a reduction along the row axis
};

} // namespace tenon::compiler
