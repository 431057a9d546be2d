// SPDX-License-Identifier: Apache-2.0
// An error of several files names them all: which tensor was meant for which input is not known.
#include "app/runs/read_inputs.h"

#include "core/base/text.h"

#include <cmath>

namespace tenon::runs {

Diagnostic foundIn(Diagnostic error, const std::vector<std::string>& paths)
{
    if (error.location.file.empty()) error.location.file = core::join(paths, ", ");
    return error;
}

std::vector<Diagnostic> notesOnValues(const remote::NamedTensors& inputs)
{
    std::vector<Diagnostic> out;
    for (const auto& [name, tensor] : inputs) {
        if (!tensor.dtype().isFloat()) continue;
        int64_t count = 0;
        for (int64_t i = 0; i < tensor.size(); ++i) count += !std::isfinite(tensor.number(i));
        if (count > 0)
            out.push_back({Severity::Note,
                           DiagnosticCode::NumericMismatch,
                           std::to_string(count) + " of " + std::to_string(tensor.size()) +
                               " elements of the input " + core::quoted(name) +
                               " are NaN or infinite, and so may be what follows from them",
                           {},
                           {}});
    }
    return out;
}

Result<remote::NamedTensors> readInputs(const std::vector<ManifestTensor>& inputs,
                                        const std::vector<std::string>& paths)
{
    const auto given = readTensors(paths);
    if (!given) return given.error();
    auto assigned = assignInputs(inputs, *given);
    if (!assigned) return foundIn(assigned.error(), paths);
    return assigned;
}

} // namespace tenon::runs
