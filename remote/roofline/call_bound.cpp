// SPDX-License-Identifier: Apache-2.0
// Computing at the peak, or moving bytes as fast as where they lie allows.
#include "remote/roofline/call_bound.h"

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

constexpr double kNoise = 1.1; ///< of a call's median, and of the rates it is held against

/// What is written was copied from as many bytes read; more is read, or written twice as fast.
double activationsMs(const CallWork& work, const MachinePeak& peak)
{
    const double bytes = work.movedBytes - work.weightBytes;
    const double read = std::max(0.0, bytes - work.writtenBytes);
    const double copied = std::min(read, work.writtenBytes);
    const double copyRate = rateAt(peak.bandwidth, bytes, &Bandwidth::copyGbps);
    const double readRate = rateAt(peak.bandwidth, bytes, &Bandwidth::readGbps);
    const double nanoseconds = copied / copyRate + (read - copied) / readRate +
                               (work.writtenBytes - copied) / (2 * copyRate);
    return nanoseconds * 1e-6; // bytes per GB/s are nanoseconds
}

double movingMs(const CallWork& work, const MachinePeak& peak, double runBytes)
{
    if (peak.bandwidth.empty() || work.movedBytes <= 0) return 0;
    const double from = std::max(work.movedBytes, runBytes);
    const double weights =
        work.weightBytes / rateAt(peak.bandwidth, from, &Bandwidth::readGbps) * 1e-6;
    return std::max(activationsMs(work, peak), weights);
}

} // namespace

CallWork workOf(const core::ManifestCall& call)
{
    CallWork work{call.leastFlops, call.movedBytes, 0, call.weightBytes,
                  core::methodRun(call.method, call.refusal)};
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
    const bool isMultiplying =
        work.method.kind != core::Method::None && work.method.kind != core::Method::Moves;
    if (gflops <= 0 && isMultiplying && work.flops > 0) return {};
    const double computing = gflops > 0 ? work.flops / gflops * 1e-6 : 0;
    const double moving = movingMs(work, peak, runBytes);
    return {std::max(computing, moving), moving > computing};
}

double shareOfBound(const CallBound& bound, double ms)
{
    const double share = ms > 0 ? bound.ms / ms : 0;
    return share > kNoise ? 0 : std::min(share, 1.0);
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
    for (const CallWork& work : works) bytes += work.weightBytes;
    return bytes;
}

} // namespace tenon::remote
