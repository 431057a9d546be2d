// SPDX-License-Identifier: Apache-2.0
// Layers by harm, points of the curve, and what both ends take.
#include "app/cli/precision_report.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdio>

namespace tenon::cli {
namespace {

using compiler::ChosenPrecisions;
using compiler::PricedModel;

constexpr size_t kWorst = 5;

std::string percent(double share)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", share * 100);
    return text;
}
std::string bytes(int64_t count)
{
    return count > 0 ? bytesText(static_cast<uint64_t>(count)) : "-";
}
std::string timeText(double time, const std::string& unit)
{
    return time > 0 ? fixed(time, unit == "us" ? 1 : 0) : "-";
}

/// All layers, pinned ones last.
std::vector<size_t> inOrder(const PrecisionCosts& costs)
{
    std::vector<size_t> order = byHarm(costs);
    for (size_t i = 0; i < costs.layers.size(); ++i)
        if (costs.layers[i].pinned) order.push_back(i);
    return order;
}

std::string layersText(const ChosenPrecisions& chosen, int verbosity)
{
    const PrecisionCosts& costs = chosen.costs;
    std::vector<std::string> titles{"layer", "loss alone %", "in 16 bits %"};
    if (costs.knowsTimes())
        for (const char* title : {"int8 ", "float "}) titles.push_back(title + costs.timeUnit);
    titles.emplace_back("is");
    std::vector<std::vector<std::string>> rows{titles};
    for (const size_t i : inOrder(costs)) {
        const LayerCost& layer = costs.layers[i];
        if (verbosity == 0 && rows.size() > kWorst && chosen.choice[i] == Precision::Int8) continue;
        std::vector<std::string> row{layer.layer, percent(layer.loss[0]),
                                     layer.loss[1] > 0 ? percent(layer.loss[1]) : "-"};
        if (costs.knowsTimes())
            for (const size_t precision : {0, 2})
                row.push_back(timeText(layer.time[precision], costs.timeUnit));
        row.push_back(std::string(nameOf(chosen.choice[i])) + (layer.pinned ? ", asked for" : ""));
        rows.push_back(std::move(row));
    }
    return "\nlayers by what they cost the outputs\n" + table(rows);
}

std::string curveText(const ChosenPrecisions& chosen)
{
    const PrecisionCosts& costs = chosen.costs;
    std::vector<std::vector<std::string>> rows{{"in " + std::string(nameOf(costs.wider)),
                                                "predicted %", "measured %", "dB", "file bytes",
                                                "flash", "RAM", costs.timeUnit}};
    for (const CurvePoint& point : chosen.curve) {
        if (!point.measured) continue;
        const MeasuredCost& measured = *point.measured;
        rows.push_back({std::to_string(point.widerLayers), percent(point.predicted.loss),
                        percent(measured.loss), fixed(decibelsOf(measured.loss), 1),
                        std::to_string(measured.fileBytes), bytes(measured.cost.flashBytes),
                        bytes(measured.cost.ramBytes),
                        timeText(measured.cost.time, costs.timeUnit)});
    }
    if (rows.size() == 1) return {};
    return "\nmixing: the most harmful layers in " + std::string(nameOf(costs.wider)) +
           (costs.place.empty() ? "" : ", on " + costs.place) + "\n" + table(rows);
}

Json costJson(const ModelCost& cost)
{
    return {{"flash_bytes", cost.flashBytes}, {"ram_bytes", cost.ramBytes}, {"time", cost.time}};
}

Json layerJson(const LayerCost& layer, Precision choice)
{
    Json out{{"layer", layer.layer},
             {"op", layer.op},
             {"loss_alone", layer.loss[0]},
             {"loss_alone_int16", layer.loss[1]},
             {"weight_bytes", layer.weightBytes},
             {"time", layer.time},
             {"precision", nameOf(choice)},
             {"is_pinned", layer.pinned.has_value()}};
    return out;
}

Json pointJson(const CurvePoint& point)
{
    Json out{{"wider_layers", point.widerLayers},
             {"predicted",
              {{"loss", point.predicted.loss},
               {"flash_bytes", point.predicted.flashBytes},
               {"time", point.predicted.time}}}};
    if (!point.measured) return out;
    Json measured = costJson(point.measured->cost);
    measured["loss"] = point.measured->loss;
    measured["file_bytes"] = point.measured->fileBytes;
    out["measured"] = std::move(measured);
    return out;
}

} // namespace

std::string precisionsText(const ChosenPrecisions& chosen, int verbosity)
{
    return layersText(chosen, verbosity) + curveText(chosen);
}

Json precisionsJson(const ChosenPrecisions& chosen)
{
    const PrecisionCosts& costs = chosen.costs;
    Json layers = Json::array(), curve = Json::array();
    for (const size_t i : inOrder(costs))
        layers.push_back(layerJson(costs.layers[i], chosen.choice[i]));
    for (const CurvePoint& point : chosen.curve) curve.push_back(pointJson(point));
    return {{"wider", nameOf(costs.wider)},
            {"loss_in_8_bits", costs.wholeLoss},
            {"place", costs.place},
            {"time_unit", costs.timeUnit},
            {"is_emulated", costs.isEmulated},
            {"in_float", costJson(costs.inFloat)},
            {"in_8_bits", costJson(costs.in8Bits)},
            {"layers_by_harm", std::move(layers)},
            {"curve", std::move(curve)}};
}

std::string pricesText(const compiler::QuantizeReport& report)
{
    if (!report.before || !report.after) return {};
    const auto row = [](const char* name, const PricedModel& priced) {
        return std::vector<std::string>{name, bytes(priced.cost.flashBytes),
                                        bytes(priced.cost.ramBytes),
                                        timeText(priced.cost.time, priced.timeUnit)};
    };
    std::string out = "\non " + report.after->place;
    if (report.after->isEmulated && report.after->timeUnit == "us")
        out += ", whose times say nothing of a real processor";
    return out + "\n" +
           table({{"model", "flash", "RAM", report.after->timeUnit},
                  row("float", *report.before),
                  row("quantized", *report.after)});
}

Json pricedJson(const PricedModel& priced)
{
    Json out = costJson(priced.cost);
    out["place"] = priced.place;
    out["time_unit"] = priced.timeUnit;
    out["is_emulated"] = priced.isEmulated;
    return out;
}

} // namespace tenon::cli
