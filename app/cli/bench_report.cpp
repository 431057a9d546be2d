// SPDX-License-Identifier: Apache-2.0
// A measurement as JSON and as text.
#include "app/cli/bench_report.h"

#include "core/base/text.h"

namespace tenon::cli {
namespace {

Json layersJson(const Manifest& manifest, const remote::Timing& timing)
{
    Json out = Json::array();
    for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const bool hasKernel =
            call.kernel >= 0 && call.kernel < static_cast<int>(manifest.kernels.size());
        out.push_back(
            {{"call", call.name},
             {"symbol", hasKernel ? manifest.kernels[static_cast<size_t>(call.kernel)].symbol : ""},
             {"from_nodes", call.fromNodes},
             {"ms", timing.callMs[i]},
             {"flops", call.flops}});
    }
    return out;
}

} // namespace

Json benchJson(const remote::Board& board, const Manifest& manifest, const remote::Timing& timing)
{
    const remote::Summary& summary = timing.summaryMs;
    const remote::Hygiene& hygiene = timing.hygiene;
    return {{"board", board.name},
            {"emulated", board.isEmulated()},
            {"threads", timing.threads},
            {"runs", timing.runsMs},
            {"median_ms", summary.median},
            {"mad_ms", summary.mad},
            {"p95_ms", summary.p95},
            {"min_ms", summary.min},
            {"ci95_ms", {summary.ci95Low, summary.ci95High}},
            {"layers", layersJson(manifest, timing)},
            {"layers_sum_ms", timing.callSumMs},
            {"hygiene", Json::parse(remote::hygieneJson(hygiene))},
            {"peers", Json::array()}};
}

std::string benchText(const remote::Board& board, const Manifest& manifest,
                      const remote::Timing& timing)
{
    const remote::Summary& summary = timing.summaryMs;
    std::string out = "median " + fixed(summary.median, 3) + " ms (95 % " +
                      fixed(summary.ci95Low, 3) + " to " + fixed(summary.ci95High, 3) + ", p95 " +
                      fixed(summary.p95, 3) + ", min " + fixed(summary.min, 3) + ") over " +
                      std::to_string(timing.runsMs.size()) + " runs, " +
                      std::to_string(timing.threads) + " threads\n";
    if (!timing.callMs.empty()) {
        std::vector<std::vector<std::string>> rows{{"call", "ms", "%", "GFLOP/s", "from"}};
        for (size_t i = 0; i < timing.callMs.size() && i < manifest.calls.size(); ++i) {
            const ManifestCall& call = manifest.calls[i];
            const double ms = timing.callMs[i];
            const double share = timing.callSumMs > 0 ? ms / timing.callSumMs * 100 : 0;
            rows.push_back({call.name, fixed(ms, 4), fixed(share, 1),
                            ms > 0 ? fixed(call.flops / ms / 1e6, 1) : "",
                            join(call.fromNodes, " ")});
        }
        out += table(rows) + "calls together " + fixed(timing.callSumMs, 3) + " ms, whole run " +
               fixed(summary.median, 3) + " ms\n";
    }
    if (board.isEmulated())
        out += "note: `" + board.name + "` is emulated; these times say nothing about silicon\n";
    for (const std::string& warning : timing.hygiene.warnings) out += "note: " + warning + "\n";
    return out;
}

} // namespace tenon::cli
