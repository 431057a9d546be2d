// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs that the window measures with.
#include "app/engine/measured_inputs.h"

#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>

namespace tenon::app {

namespace {

/// Sizes of inputs that have no upper bound.
std::vector<std::string> openSizes(const core::Manifest& manifest)
{
    std::vector<std::string> names;
    for (const core::ManifestTensor& input : manifest.inputs)
        for (const std::string& text : input.dims) {
            const auto dim = core::parseDim(text);
            if (!dim) continue;
            for (const std::string& name : dim->symbols())
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(name);
        }
    std::erase_if(names, [&](const std::string& name) {
        const auto range = core::rangeOf(core::Dim::symbol(name), manifest.bounds);
        return range && range->high >= 0;
    });
    return names;
}

} // namespace

core::Result<remote::NamedTensors> measuredInputs(const core::Manifest& manifest)
{
    auto inputs = remote::madeUpInputs(manifest);
    if (inputs || inputs.error().code != core::DiagnosticCode::DynamicShape) return inputs;
    const std::vector<std::string> names = openSizes(manifest);
    if (names.empty()) return inputs;
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back(core::quoted(name));
    return core::makeError(core::DiagnosticCode::DynamicShape,
                           "nothing says how large " + core::join(quoted, " and ") +
                               (names.size() == 1 ? " is" : " are") +
                               " in a run; write that into `sizes` on the Inspect page, such as " +
                               core::quoted(names.front() + "=16"));
}

} // namespace tenon::app
