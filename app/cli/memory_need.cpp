// SPDX-License-Identifier: Apache-2.0
// The same rule as runtime/common/memory_limit.c, before anything is started.
#include "app/cli/memory_need.h"

#include "core/base/text.h"
#include "core/tensor/dtype.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tenon::cli {
namespace {

using core::Manifest;
using core::ManifestTensor;

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

double limitFor(double given)
{
    constexpr double kGrowth = 256, kLeast = 256.0 * (1 << 20);
    if (const char* text = std::getenv("TENON_MEMORY_LIMIT")) {
        char* end = nullptr;
        const double number = std::strtod(text, &end);
        const double unit = *end == 'K'   ? 1024.0
                            : *end == 'M' ? 1024.0 * 1024
                            : *end == 'G' ? 1024.0 * 1024 * 1024
                                          : 1;
        if (number > 0) return number * unit;
    }
    const double half = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE)) / 2;
    const double limit = std::max(given * kGrowth, kLeast);
    return half > 0 ? std::min(limit, half) : limit;
}

} // namespace

core::Status needFittingMemory(const Manifest& manifest)
{
    if (manifest.executor == "vm") return core::kDone; // has a limit of its own, and names the node
    const double needed = static_cast<double>(manifest.memory.workspaceBytes) +
                          static_cast<double>(manifest.memory.kernelWorkspaceBytes) +
                          bytesOf(manifest.outputs);
    const double limit =
        limitFor(bytesOf(manifest.inputs) + static_cast<double>(manifest.memory.constantBytes));
    if (needed <= limit) return core::kDone;
    return core::makeError(
        core::DiagnosticCode::BadModel,
        "the model takes " + core::bytesText(static_cast<uint64_t>(needed)) +
            " for its values and outputs, more than a run may take with such inputs and weights, " +
            core::bytesText(static_cast<uint64_t>(limit)) +
            "; TENON_MEMORY_LIMIT sets another limit");
}

} // namespace tenon::cli
