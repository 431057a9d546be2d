// SPDX-License-Identifier: Apache-2.0
// A measurement as JSON and as text.
#include "app/cli/bench_report.h"

#include "app/cli/explain_report.h"
#include "app/cli/short_title.h"
#include "core/base/text.h"
#include "remote/roofline/call_bound.h"

#include <cmath>

namespace tenon::cli {
namespace {

struct BoundShare
{
    double share = 0; ///< of the least time that the call can take; 0: not known
    double ms = 0;    ///< that time
    std::string_view bound;
};

BoundShare boundShare(const Manifest& manifest, size_t call, const remote::Timing& timing)
{
    const double ms = timing.callMs[call];
    if (!timing.peak || ms <= 0) return {};
    const remote::CallBound bound = remote::boundOf(remote::workOf(manifest.calls[call]),
                                                    *timing.peak, remote::runBytes(manifest));
    if (bound.ms <= 0) return {};
    return {remote::shareOfBound(bound, ms), bound.ms, bound.isMemory ? "memory" : "compute"};
}

Json layersJson(const Manifest& manifest, const remote::Timing& timing)
{
    Json out = Json::array();
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const bool hasKernel =
            call.kernel >= 0 && call.kernel < static_cast<int>(manifest.kernels.size());
        out.push_back(
            {{"call", call.name},
             {"name", call.shownTitle()},
             {"symbol", hasKernel ? manifest.kernels[static_cast<size_t>(call.kernel)].symbol : ""},
             {"from_nodes", call.fromNodes},
             {"method", methodText(call.method, call.refusal)},
             {"ms", timing.callMs[i]},
             {"flops", call.flops},
             {"moved_bytes", call.movedBytes}});
        if (!call.plainReason.empty()) out.back()["plain_reason"] = call.plainReason;
        if (const BoundShare of = boundShare(manifest, i, timing); of.ms > 0) {
            out.back()["bound"] = of.bound;
            out.back()["bound_ms"] = of.ms;
            if (of.share > 0) out.back()["bound_share"] = of.share;
        }
    }
    return out;
}

} // namespace

core::TracedRun tracedRun(const std::string& model, const remote::Board& board,
                          const Manifest& manifest, const remote::Timing& timing)
{
    core::TracedRun run{.model = model,
                        .board = board.name,
                        .target = manifest.target,
                        .isEmulated = board.isEmulated(),
                        .medianUs = timing.summaryMs.median * 1000};
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const bool hasKernel =
            call.kernel >= 0 && call.kernel < static_cast<int>(manifest.kernels.size());
        run.calls.push_back(
            {.title = call.shownTitle(),
             .function = hasKernel ? manifest.kernels[static_cast<size_t>(call.kernel)].symbol : "",
             .method = methodText(call.method, call.refusal),
             .fromNodes = call.fromNodes,
             .us = timing.callMs[i] * 1000,
             .boundUs = boundShare(manifest, i, timing).ms * 1000});
    }
    return run;
}

namespace {

Json bandwidthJson(const std::vector<remote::Bandwidth>& rates)
{
    Json out = Json::array();
    for (const remote::Bandwidth& rate : rates)
        out.push_back(
            {{"bytes", rate.bytes}, {"read_gb_s", rate.readGbps}, {"copy_gb_s", rate.copyGbps}});
    return out;
}

Json peersJson(const remote::Timing& timing)
{
    Json out = Json::array();
    if (timing.peer)
        out.push_back(
            {{"name", timing.peer->name},
             {"version", timing.peer->version},
             {"difference", timing.peer->difference},
             {"runs", timing.peer->runsMs},
             {"median_ms", timing.peer->summaryMs.median},
             {"min_ms", timing.peer->summaryMs.min},
             {"ci95_ms", {timing.peer->summaryMs.ci95Low, timing.peer->summaryMs.ci95High}}});
    return out;
}

/// "the difference is larger than the noise" or not, by the intervals of the medians.
std::string peerText(const remote::Timing& timing)
{
    const remote::Summary& ours = timing.summaryMs;
    const remote::Summary& theirs = timing.peer->summaryMs;
    const bool isTold = ours.ci95High < theirs.ci95Low || theirs.ci95High < ours.ci95Low;
    const auto unit = remote::TimeUnit::of(theirs.median);
    const std::string times = timing.peer->name + " " + timing.peer->version + " median " +
                              unit.text(theirs.median) + " (95 % " + unit.digits(theirs.ci95Low) +
                              " to " + unit.digits(theirs.ci95High) + ", min " +
                              unit.digits(theirs.min) + ")";
    if (!timing.peer->difference.empty())
        return times + "; no ratio, as it computes something else: " + timing.peer->difference +
               "\n";
    return times + "; Tenon takes " + fixed(ours.median / theirs.median, 2) + " of that" +
           (isTold ? "" : ", but the intervals overlap") + "\n";
}

std::string peakText(const remote::MachinePeak& peak)
{
    std::string out =
        "the bound is computing at the peak of a core, measured now: " + fixed(peak.fp32Gflops, 0) +
        " GFLOP/s in float32 (" + peak.isa + ")";
    if (peak.int8Gops > 0) out += ", " + fixed(peak.int8Gops, 0) + " Gop/s in int8";
    out += ", on " + std::to_string(peak.threads) + (peak.threads == 1 ? " core" : " cores");
    if (peak.bandwidth.empty()) return out + "\n";
    const remote::Bandwidth& cache = peak.bandwidth.front();
    const remote::Bandwidth& memory = peak.bandwidth.back();
    return out + ";\nor, where that takes longer, moving the bytes: reads at " +
           fixed(memory.readGbps, 0) + " GB/s and copies at " + fixed(memory.copyGbps, 0) +
           " GB/s from memory, up to " + fixed(cache.readGbps, 0) + " and " +
           fixed(cache.copyGbps, 0) + " GB/s from the caches\n";
}

std::string layersText(const Manifest& manifest, const remote::Timing& timing)
{
    const auto unit = remote::TimeUnit::of(timing.summaryMs);
    std::vector<std::vector<std::string>> rows{{"kernel", "method", unit.name, "%", "GFLOP/s"}};
    if (timing.peak) rows[0].insert(rows[0].end(), {"% of bound", "bound"});
    rows[0].push_back("from");
    bool doesLess = false;
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const double ms = timing.callMs[i];
        const double share = timing.callSumMs > 0 ? ms / timing.callSumMs * 100 : 0;
        rows.push_back({shortTitle(call.shownTitle()), methodText(call.method, call.refusal),
                        unit.digits(ms), fixed(share, 1),
                        ms > 0 && call.flops > 0 ? fixed(call.flops / ms / 1e6, 1) : ""});
        if (const BoundShare of = boundShare(manifest, i, timing); timing.peak)
            rows.back().insert(rows.back().end(), {of.share > 0 ? fixed(of.share * 100, 0) : "",
                                                   std::string(of.bound)});
        rows.back().push_back(join(call.fromNodes, " "));
        doesLess |= call.method.kind == Method::Winograd || call.method.kind == Method::Strassen;
    }
    std::string out = table(rows) + "calls together " + unit.text(timing.callSumMs) +
                      ", whole run " + unit.text(timing.summaryMs.median) + "\n";
    if (timing.peak) out += peakText(*timing.peak);
    if (doesLess)
        out +=
            "note: GFLOP/s count the work of the direct method, of which Winograd and Strassen do "
            "less; their bounds count their own\n";
    return out;
}

/// Multiply-adds of the model that the call does; artifacts of earlier versions only say
/// operations.
double macsOf(const ManifestCall& call)
{
    if (call.macs >= 0) return static_cast<double>(call.macs);
    return call.method.kind != Method::None ? call.flops / 2 : 0;
}

double macsOf(const Manifest& manifest)
{
    double macs = 0;
    for (const ManifestCall& call : manifest.calls) macs += macsOf(call);
    return macs;
}

/// Counts have no spread; what they are worth is how many a multiplication takes.
std::string instructionsText(const Manifest& manifest, const remote::Timing& timing)
{
    const double count = timing.summaryMs.median * 1e6;
    const double macs = macsOf(manifest);
    std::string out = remote::medianText(timing.summaryMs);
    if (macs > 0)
        out +=
            ", " + fixed(count / macs, 2) + " per multiply-add of " + thousands(std::llround(macs));
    out += "\n";
    std::vector<std::vector<std::string>> rows{
        {"kernel", "method", "instructions", "%", "per multiply-add", "from"}};
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const double taken = timing.callMs[i] * 1e6;
        rows.push_back({shortTitle(call.shownTitle()), methodText(call.method, call.refusal),
                        thousands(std::llround(taken)), fixed(taken / count * 100, 1),
                        macsOf(call) > 0 ? fixed(taken / macsOf(call), 2) : "",
                        join(call.fromNodes, " ")});
    }
    if (rows.size() > 1) out += table(rows);
    for (const std::string& warning : timing.hygiene.warnings) out += "note: " + warning + "\n";
    return out;
}

/// " (95 % confidence interval 3.498 to 3.522)", or why there is none.
std::string intervalText(const remote::Summary& summary)
{
    if (!summary.hasInterval()) return " (too few samples for a confidence interval)";
    const auto unit = remote::TimeUnit::of(summary);
    return " (95 % confidence interval " + unit.digits(summary.ci95Low) + " to " +
           unit.digits(summary.ci95High) + ")";
}

} // namespace

Json benchJson(const remote::Board& board, const Manifest& manifest, const remote::Timing& timing,
               const std::string& sha256)
{
    const remote::Summary& summary = timing.summaryMs;
    const remote::Hygiene& hygiene = timing.hygiene;
    Json out = {{"board", board.name},
                {"emulated", board.isEmulated()},
                {"sha256", sha256},
                {"threads", timing.threads},
                {"threads_ran", timing.threadsRan},
                {"runs", timing.runsMs},
                {"ended", timing.ending},
                {"median_ms", summary.median},
                {"half_width_ms", summary.half},
                {"mad_ms", summary.mad},
                {"p95_ms", summary.p95},
                {"min_ms", summary.min},
                {"ci95_ms", {summary.ci95Low, summary.ci95High}},
                {"layers", layersJson(manifest, timing)},
                {"layers_sum_ms", timing.callSumMs},
                {"hygiene", Json::parse(remote::hygieneJson(hygiene))},
                {"peers", peersJson(timing)}};
    if (summary.areInstructions) {
        out["unit"] = "millions of instructions";
        out["instructions"] = std::llround(summary.median * 1e6);
        out["multiply_adds"] = std::llround(macsOf(manifest));
    }
    if (!timing.callMs.empty())
        out["audit"] = auditJson(remote::auditOf(manifest, timing.callMs, timing.peak));
    if (timing.peer && timing.peer->difference.empty())
        out["ratio"] = summary.median / timing.peer->summaryMs.median;
    if (timing.peak)
        out["peak"] = {{"isa", timing.peak->isa},
                       {"fp32_gflops_per_core", timing.peak->fp32Gflops},
                       {"int8_gops_per_core", timing.peak->int8Gops},
                       {"int8_tile_gops_per_core", timing.peak->int8TileGops},
                       {"bandwidth", bandwidthJson(timing.peak->bandwidth)}};
    return out;
}

std::string benchText(const remote::Board& board, const Manifest& manifest,
                      const remote::Timing& timing)
{
    const remote::Summary& summary = timing.summaryMs;
    const auto unit = remote::TimeUnit::of(summary);
    if (summary.areInstructions) return instructionsText(manifest, timing);
    std::string out =
        remote::medianText(summary) + intervalText(summary) + ", p95 " + unit.digits(summary.p95) +
        ", min " + unit.digits(summary.min) + "; " + std::to_string(summary.samples) +
        (summary.samples == 1 ? " sample, " : " samples, ") + std::to_string(timing.threads) +
        (timing.threads == 1 ? " thread" : " threads") +
        (timing.ending.empty() ? "" : "; " + timing.ending) + "\n";
    if (timing.peer) out += peerText(timing);
    if (!timing.callMs.empty()) out += layersText(manifest, timing);
    if (board.isEmulated())
        out += "note: `" + board.name + "` is emulated; these times say nothing about silicon\n";
    for (const std::string& warning : timing.hygiene.warnings) out += "note: " + warning + "\n";
    return out;
}

} // namespace tenon::cli
