// SPDX-License-Identifier: Apache-2.0
// An error of several files names them all: which tensor was meant for which input is not known.
#include "app/runs/read_inputs.h"

#include "core/base/text.h"

namespace tenon::runs {

Diagnostic foundIn(Diagnostic error, const std::vector<std::string>& paths)
{
    if (error.location.file.empty()) error.location.file = core::join(paths, ", ");
    return error;
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
