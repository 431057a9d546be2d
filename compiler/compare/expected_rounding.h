// SPDX-License-Identifier: Apache-2.0
// ExpectedRounding: how far the sums of a kernel that runs alone may be off the reference's.
#pragma once

#include "compiler/compare/held_values.h"
#include "compiler/passes/error/expected_error.h"

#include <optional>

namespace tenon::compiler {

class ExpectedRounding
{
public:
    explicit ExpectedRounding(const CompileResult& built);

    /// Of the call's sums on the values that the reference has. Nothing for other kernels than
    /// convolutions and dense layers, and where something fused behind them enlarges errors.
    std::optional<core::SumRounding> of(const KernelCall& call, HeldValues& held,
                                        const JobContext& job) const;

private:
    std::optional<double> errorOf(const KernelCall& call) const;

    const CompileResult& m_built;
    ExpectedError m_error;
};

} // namespace tenon::compiler
