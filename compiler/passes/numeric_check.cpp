// SPDX-License-Identifier: Apache-2.0
// Compares the results of module versions.
#include "compiler/passes/numeric_check.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "core/base/text.h"

#include <cmath>

namespace tenon::compiler {

Tensor seededTensor(DataType dtype, std::vector<int64_t> shape, uint64_t seed)
{
    const int64_t count = elementCount(shape);
    return Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> bytes) {
        uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
        for (int64_t i = 0; i < count; ++i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            const uint64_t bits = state >> 33;
            if (dtype.isFloat())
                storeNumber(dtype, bytes, i, static_cast<double>(bits) * 0x1p-30 - 1);
            else
                storeInteger(dtype, bytes, i, static_cast<int64_t>(bits & 1));
        }
    });
}

Result<NumericCheck> NumericCheck::start(const Module& imported, const RunPassesOptions& options,
                                         const PassContext& context)
{
    NumericCheck check;
    check.m_job = context.job;
    check.m_tolerance = options.numericTolerance;
    check.m_inputs = options.numericInputs;
    uint64_t seed = 1;
    for (const NodeId id : imported.main().params) {
        const NodeRecord& param = imported.node(id);
        const auto shape = constantShape(param.types.at(0).shape);
        if (check.m_inputs.count(param.name)) continue;
        if (!shape)
            return makeError(DiagnosticCode::DynamicShape,
                             "input " + quoted(param.name) + " is " + param.types[0].text() +
                                 "; numeric verification needs known shapes");
        check.m_inputs[param.name] = seededTensor(param.types[0].dtype, *shape, seed++);
    }
    Result<std::vector<Tensor>> reference = evaluateGraph(imported, check.m_inputs, *context.job);
    if (!reference) return reference.error();
    check.m_reference = std::move(*reference);
    return check;
}

Result<double> NumericCheck::compare(const Module& module, const PassRecord& record) const
{
    const Result<std::vector<Tensor>> got = evaluateGraph(module, m_inputs, *m_job);
    if (!got) return got.error();
    double worst = 0;
    for (size_t r = 0; r < m_reference.size(); ++r) {
        const std::vector<double> wanted = m_reference[r].numbers();
        const std::vector<double> values = got->at(r).numbers();
        if (values.size() != wanted.size())
            return makeError(DiagnosticCode::NumericMismatch, "result " + std::to_string(r) +
                                                                  " has another shape after pass " +
                                                                  quoted(record.name));
        double difference = 0;
        double scale = 0;
        for (size_t i = 0; i < wanted.size(); ++i) {
            if (std::isfinite(wanted[i])) scale = std::max(scale, std::abs(wanted[i]));
            if (wanted[i] == values[i] || (std::isnan(wanted[i]) && std::isnan(values[i])))
                continue;
            const double error = std::abs(wanted[i] - values[i]);
            difference = std::isnan(error) ? INFINITY : std::max(difference, error);
        }
        if (difference > m_tolerance * std::max(scale, 1e-30))
            return makeError(DiagnosticCode::NumericMismatch,
                             "pass " + quoted(record.name) + " changes result " +
                                 std::to_string(r) + " by " + exact(difference) +
                                 " where the largest value is " + exact(scale));
        worst = std::max(worst, difference);
    }
    return worst;
}

} // namespace tenon::compiler
