// SPDX-License-Identifier: Apache-2.0
// Computing at the peak, or moving bytes as fast as where they lie allows.
#include "remote/measure/call_bound.h"

#include "core/tensor/dtype.h"

#include <algorithm>
#include <cmath>

namespace tenon::remote {
namespace {

/// Between two measured sizes the rate is taken to change evenly with the logarithm of the size.
double rateAt(const std::vector<Bandwidth>& rates, double bytes, double Bandwidth::*rate)
{
    const auto above = std::find_if(rates.begin(), rates.end(),
                                    [&](const Bandwidth& each) { return each.bytes >= bytes; });
    if (above == rates.end()) return rates.back().*rate;
    if (above == rates.begin()) return (*above).*rate;
    const Bandwidth& below = *(above - 1);
    const double part = std::log(bytes / below.bytes) / std::log(above->bytes / below.bytes);
    return below.*rate + part * ((*above).*rate - below.*rate);
}

/// What it reads beyond a byte for each that it writes: weights, where it has any.
double weightBytes(const CallWork& work)
{
    return std::max(0.0, work.movedBytes - 2 * work.writtenBytes);
}

/// What is written was copied from as many bytes read; what is read beyond that are weights where
/// there is a choice of methods (convolutions, products), else activations just computed.
double movingMs(const CallWork& work, const MachinePeak& peak, double runBytes)
{
    if (peak.bandwidth.empty() || work.movedBytes <= 0) return 0;
    const double rest = weightBytes(work);
    const double copied = (work.movedBytes - rest) / 2;
    const double from = work.method.empty() ? work.movedBytes : std::max(work.movedBytes, runBytes);
    const double seconds = copied / rateAt(peak.bandwidth, work.movedBytes, &Bandwidth::copyGbps) +
                           rest / rateAt(peak.bandwidth, from, &Bandwidth::readGbps);
    return seconds * 1e-6; // bytes per GB/s are nanoseconds
}

} // namespace

CallWork workOf(const core::ManifestCall& call)
{
    CallWork work{call.flops, call.movedBytes, 0, call.method};
    for (const core::ManifestTensor& output : call.outputs) {
        const auto dtype = core::parseDataType(output.dtype);
        double bytes = dtype ? static_cast<double>(dtype->bytes()) : 0;
        for (const int64_t size : output.shape) bytes *= static_cast<double>(size);
        work.writtenBytes += std::max(0.0, bytes); // a size known at run time only is negative
    }
    return work;
}

CallBound boundOf(const CallWork& work, const MachinePeak& peak, double runBytes)
{
    const double gflops = peakFor(peak, work.method) * peak.threads;
    const double computing = gflops > 0 ? work.flops / gflops * 1e-6 : 0;
    const double moving = movingMs(work, peak, runBytes);
    return {std::max(computing, moving), moving > computing};
}

double runBytes(const core::Manifest& manifest)
{
    std::vector<CallWork> works;
    for (const core::ManifestCall& call : manifest.calls) works.push_back(workOf(call));
    return runBytes(static_cast<double>(manifest.memory.workspaceBytes), works);
}

double runBytes(double workspaceBytes, const std::vector<CallWork>& works)
{
    double bytes = workspaceBytes;
    for (const CallWork& work : works) bytes += weightBytes(work);
    return bytes;
}

} // namespace tenon::remote
