// SPDX-License-Identifier: Apache-2.0
// VectorNest: one block with its loops, executed row by row through tapes.
#pragma once

#include "compiler/evaluate/mac_rows.h"
#include "compiler/evaluate/tape.h"
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

    /// Looks for an axis along which equal pieces of the nest meet equal pieces of each buffer in
    /// `locals`, and only those. From then on the nest runs by runStretch() only. Returns the
    /// axis' extent; nothing, and no change, when there is none, or a reduction.
    std::optional<int64_t> cut(const LocalIds& locals);
    /// The part of the nest between two positions on the axis that cut() found.
    Status runStretch(const JobContext& job, int64_t begin, int64_t end,
                      std::span<const LocalBuffer> locals) const;

private:
    struct Worker;
    Status runRows(const JobContext& job, Worker& w, int64_t firstRow, int64_t lastRow) const;
    Status reduceRow(Worker& worker, int64_t count) const;
    Status reduceAlongRow(Worker& worker) const;
    void copyAtPosition(Worker& worker) const;
    Status runRow(Worker& worker) const;
    void storeRow(Worker& worker, const double* numbers, const int64_t* integers,
                  RowLines rows) const;
    bool isPlainCopy() const;
    /// The axis along which rows run, none when it is past the last; returns what a row evaluates.
    tir::Expr chooseRow(const tir::Expr& stored, const BufferBytes& buffers);
    void chooseBox();
    void chooseLine();
    int64_t pointsOf(const std::vector<size_t>& axes) const;
    int64_t steps() const;
    bool cutsEvenly(const AxisForm& form, size_t axis, const tir::BufferNode& buffer) const;

    std::vector<NestAxis> m_axes;
    std::vector<size_t> m_outer;  ///< spatial axes other than those below
    std::vector<size_t> m_reduce; ///< reduce axes other than the row axis
    size_t m_row = 0;             ///< axis along which rows run
    std::optional<size_t> m_line; ///< axis along which short rows are taken together
    std::vector<size_t> m_box;    ///< of a plain copy: axes of what is copied at a time
    tir::Buffer m_buffer;
    std::span<std::byte> m_bytes;
    int m_local = -1; ///< number of m_buffer among local buffers
    size_t m_cut = 0; ///< axis that cut() found
    AxisForm m_store;
    std::optional<Tape> m_init;
    std::optional<Tape> m_value;
    std::optional<MacRows> m_mac;                 ///< runs in place of m_value when set
    tir::ExprKind m_combine = tir::ExprKind::Add; ///< of a reduction along the row axis
};

} // namespace tenon::compiler
