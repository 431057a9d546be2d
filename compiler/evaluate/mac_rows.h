// SPDX-License-Identifier: Apache-2.0
// MacRows: the one reduction worth a loop of its own, acc[i] += a[i] * b[i] over float32 rows.
#pragma once

#include "compiler/evaluate/tape.h"

namespace tenon::compiler {

/// A nest whose value is `acc + a[..] * b[..]` where both accesses stay inside their buffers and
/// are linear in the row and reduction axes; the other axes may enter in any way (blocked weights).
class MacRows
{
public:
    static std::optional<MacRows> match(const tir::Expr& value, const tir::Buffer& accumulator,
                                        const std::vector<NestAxis>& axes, size_t row,
                                        const BufferBytes& buffers);

    /// How well rows along this axis suit the machine; the caller takes the best axis.
    int64_t score() const { return m_score; }

    /// Runs all reduction steps for the row of `count` values at `position` (reduce axes at zero)
    /// into `acc`.
    void run(std::span<const int64_t> position, int64_t count, double* acc) const;

private:
    struct Operand
    {
        const float* data;
        std::vector<int64_t> coefficients; ///< of row and reduction axes
        tir::Expr outer;                   ///< the rest of the flat position
    };
    /// One reduction axis: its extent and what a step along it adds to both positions.
    struct Step
    {
        int64_t extent;
        int64_t a;
        int64_t b;
    };
    static std::optional<Operand> operand(const tir::Expr& load, const std::vector<NestAxis>& axes,
                                          size_t row, const BufferBytes& buffers);
    const float* start(const Operand& operand, std::span<const int64_t> position) const;

    Operand m_a;
    Operand m_b;
    size_t m_row = 0;
    int64_t m_score = 0;
    std::vector<const tir::VarNode*> m_vars; ///< of all axes
    std::vector<Step> m_steps;               ///< outermost first
};

} // namespace tenon::compiler
