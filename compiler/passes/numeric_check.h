// SPDX-License-Identifier: Apache-2.0
// NumericCheck: evaluates module versions on the same inputs and compares with the imported one.
#pragma once

#include "compiler/passes/pass.h"

namespace tenon::compiler {

class NumericCheck
{
public:
    /// Evaluates `imported` once; inputs not given are seeded random numbers.
    static Result<NumericCheck> start(const Module& imported, const RunPassesOptions& options,
                                      const PassContext& context);

    /// Largest absolute difference over all results. NumericMismatch when it exceeds the tolerance
    /// relative to the largest reference value, naming pass and result.
    Result<double> compare(const Module& module, const PassRecord& record) const;

private:
    NumericCheck() = default;

    std::map<std::string, Tensor> m_inputs;
    std::vector<Tensor> m_reference;
    double m_tolerance = 0;
    const JobContext* m_job = nullptr;
};

/// Deterministic values for an input: floats in [-1, 1), integers and booleans 0 or 1.
Tensor seededTensor(DataType dtype, std::vector<int64_t> shape, uint64_t seed);

} // namespace tenon::compiler
