// SPDX-License-Identifier: Apache-2.0
// The runtime's rule for memory, before anything is started.
#include "app/runs/memory_need.h"

#include "core/base/text.h"
#include "core/tensor/dtype.h"
#include "runtime/common/memory_limit.h"

#include <algorithm>
#include <cstdint>

namespace tenon::runs {
namespace {

/// Of tensors whose shapes are known; in double, which no shape overflows.
double bytesOf(const std::vector<ManifestTensor>& tensors)
{
    double total = 0;
    for (const ManifestTensor& tensor : tensors) {
        const auto dtype = core::parseDataType(tensor.dtype);
        double bytes = dtype ? static_cast<double>(dtype->bytes()) : 0;
        for (const int64_t dim : tensor.shape)
            bytes *= static_cast<double>(std::max(dim, int64_t{0}));
        total += bytes;
    }
    return total;
}

} // namespace

core::Status needFittingMemory(const Manifest& manifest)
{
    if (manifest.executor == "vm") return core::kDone; // has a limit of its own, and names the node
    const double needed = static_cast<double>(manifest.memory.workspaceBytes) +
                          static_cast<double>(manifest.memory.kernelWorkspaceBytes) +
                          bytesOf(manifest.outputs);
    const double given =
        bytesOf(manifest.inputs) + static_cast<double>(manifest.memory.constantBytes);
    constexpr double kMostGiven = static_cast<double>(SIZE_MAX / 2);
    const size_t limit = tenon_memory_limit(static_cast<size_t>(std::min(given, kMostGiven)));
    if (needed <= static_cast<double>(limit)) return core::kDone;
    return core::makeError(
        core::DiagnosticCode::BadModel,
        "the model takes " + core::bytesText(static_cast<uint64_t>(needed)) +
            " for its values and outputs, more than a run may take with such inputs and weights, " +
            core::bytesText(limit) + "; TENON_MEMORY_LIMIT sets another limit");
}

} // namespace tenon::runs
