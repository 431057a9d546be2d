// SPDX-License-Identifier: Apache-2.0
// Tables of one fit.
#include "app/cli/fit_report.h"

#include "core/base/printable.h"
#include "core/base/text.h"

namespace tenon::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string layersText(const remote::FitReport& fit)
{
    Rows rows{{"code", "weights", "layer"}};
    for (const remote::LayerFlash& layer : fit.layers)
        rows.push_back({layer.codeBytes < 0 ? "-"
                        : layer.isShared    ? "shared"
                                            : thousands(layer.codeBytes),
                        thousands(layer.constantBytes), " " + elided(layer.title)});
    return table(rows);
}

std::string poolsText(const remote::FitReport& fit)
{
    Rows rows{{"memory", "bytes", "of"}};
    for (const remote::PoolUse& pool : fit.pools)
        rows.push_back({pool.name, thousands(pool.bytes),
                        pool.limitBytes < 0 ? "" : thousands(pool.limitBytes)});
    return table(rows);
}

std::string peakText(const remote::FitReport& fit)
{
    if (fit.peakBuffers.empty()) return {};
    Rows rows{{"alive", "bytes", "what"}};
    for (const remote::PeakBuffer& buffer : fit.peakBuffers)
        rows.push_back({buffer.kind, thousands(buffer.bytes), " " + elided(buffer.title)});
    return "at the peak, " + elided(fit.peakCall) + ", " + thousands(fit.peakBytes) + " B:\n" +
           table(rows);
}

std::string remediesText(const remote::FitReport& fit)
{
    if (fit.remedies.empty()) return {};
    Rows rows{{"flash", "RAM", "fits", "remedy"}};
    for (const remote::Remedy& remedy : fit.remedies)
        rows.push_back({thousands(remedy.flashBytes), thousands(remedy.ramBytes),
                        remedy.fits ? "yes" : "no",
                        " " + remedy.what + " (" + remedy.detail + ")"});
    return "\nwhat would change it:\n" + table(rows);
}

} // namespace

std::string fitText(const remote::FitReport& fit)
{
    return fit.verdict() + "\n" +
           (fit.isLinked ? ""
                         : "planned, nothing is linked: code, stack and statics come on top\n") +
           "\n" + layersText(fit) + "\n" + poolsText(fit) + "\n" + peakText(fit) +
           remediesText(fit);
}

Json fitJson(const remote::FitReport& fit)
{
    Json layers = Json::array(), pools = Json::array(), peak = Json::array(),
         remedies = Json::array();
    for (const remote::LayerFlash& layer : fit.layers)
        layers.push_back({{"title", layer.title},
                          {"nodes", layer.fromNodes},
                          {"code_bytes", layer.codeBytes < 0 ? Json() : Json(layer.codeBytes)},
                          {"shares_code", layer.isShared},
                          {"weight_bytes", layer.constantBytes}});
    for (const remote::PoolUse& pool : fit.pools)
        pools.push_back({{"name", pool.name},
                         {"bytes", pool.bytes},
                         {"limit_bytes", pool.limitBytes < 0 ? Json() : Json(pool.limitBytes)}});
    for (const remote::PeakBuffer& buffer : fit.peakBuffers)
        peak.push_back({{"name", buffer.name},
                        {"title", buffer.title},
                        {"kind", buffer.kind},
                        {"bytes", buffer.bytes}});
    for (const remote::Remedy& remedy : fit.remedies)
        remedies.push_back({{"what", remedy.what},
                            {"detail", remedy.detail},
                            {"flash_bytes", remedy.flashBytes},
                            {"ram_bytes", remedy.ramBytes},
                            {"fits", remedy.fits}});
    return {
        {"board", fit.budget.board},
        {"target", fit.target},
        {"fits", fit.fits()},
        {"verdict", fit.verdict()},
        {"linked", fit.isLinked},
        {"flash_bytes", fit.flashBytes},
        {"flash_limit_bytes", fit.budget.flashBytes},
        {"ram_bytes", fit.ramBytes},
        {"ram_limit_bytes", fit.budget.ramBytes},
        {"layers", std::move(layers)},
        {"memory", std::move(pools)},
        {"peak", {{"call", fit.peakCall}, {"bytes", fit.peakBytes}, {"buffers", std::move(peak)}}},
        {"remedies", std::move(remedies)}};
}

} // namespace tenon::cli
