// SPDX-License-Identifier: Apache-2.0
// Seeded inputs for measuring.
#include "remote/measure/made_up_inputs.h"

#include "core/base/text.h"

#include <optional>

namespace tenon::remote {

using core::DiagnosticCode;
using core::Dim;
using core::makeError;
using core::Manifest;
using core::ManifestTensor;
using core::Result;
using core::SizeBounds;
using core::Tensor;

namespace {

/// The shape with its open sizes at their upper bounds; nothing when one has none.
std::optional<std::vector<int64_t>> largestShape(const ManifestTensor& tensor,
                                                 const SizeBounds& bounds)
{
    std::vector<int64_t> out = tensor.shape;
    for (size_t i = 0; i < out.size(); ++i) {
        if (out[i] >= 0) continue;
        const auto dim =
            i < tensor.dims.size() ? core::parseDim(tensor.dims[i]) : Result<Dim>(Dim(-1));
        const auto range = dim ? core::rangeOf(*dim, bounds) : std::nullopt;
        if (!range || range->high < 0) return std::nullopt;
        out[i] = range->high;
    }
    return out;
}

/// Sizes of inputs that have no upper bound.
std::vector<std::string> openSizes(const Manifest& manifest)
{
    std::vector<std::string> names;
    for (const ManifestTensor& input : manifest.inputs)
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

/// Of inputs that have no sizes to make them up with.
core::Diagnostic nameOpenSizes(const Manifest& manifest, const ManifestTensor& input)
{
    const std::vector<std::string> names = openSizes(manifest);
    if (names.empty())
        return makeError(DiagnosticCode::DynamicShape, "input " + core::quoted(input.name) +
                                                           " is " + tensorText(input) +
                                                           "; give it with --inputs");
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back(core::quoted(name));
    return makeError(DiagnosticCode::DynamicShape,
                     "nothing says how large " + core::join(quoted, " and ") +
                         (names.size() == 1 ? " is" : " are") + " in a run; give sizes, such as " +
                         core::quoted(names.front() + "=16") +
                         " (`sizes` on the Inspect page, --shape), or the inputs themselves");
}

} // namespace

std::string tensorText(const ManifestTensor& tensor)
{
    std::vector<std::string> sizes;
    for (const int64_t size : tensor.shape) sizes.push_back(size < 0 ? "?" : std::to_string(size));
    return tensor.dtype + " (" + core::join(sizes, ", ") + ")";
}

Result<NamedTensors> madeUpInputs(const Manifest& manifest)
{
    NamedTensors out;
    uint64_t state = 0x9e3779b97f4a7c15ull;
    for (const ManifestTensor& input : manifest.inputs) {
        const auto dtype = core::parseDataType(input.dtype);
        if (!dtype) continue;
        const auto shape = largestShape(input, manifest.bounds);
        if (!shape) return nameOpenSizes(manifest, input);
        out.emplace_back(input.name, Tensor::make(*dtype, *shape, [&](std::span<std::byte> bytes) {
                             const int64_t count = core::elementCount(*shape);
                             for (int64_t i = 0; i < count; ++i) {
                                 state = state * 6364136223846793005ull + 1442695040888963407ull;
                                 const double value = static_cast<double>(state >> 40) / (1 << 24);
                                 if (dtype->isInt())
                                     core::storeInteger(*dtype, bytes, i, value < 0.5 ? 0 : 1);
                                 else
                                     core::storeNumber(*dtype, bytes, i, value);
                             }
                         }));
    }
    return out;
}

} // namespace tenon::remote
