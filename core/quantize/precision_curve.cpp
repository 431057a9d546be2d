// SPDX-License-Identifier: Apache-2.0
// Sums over layers.
#include "core/quantize/precision_curve.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, kPrecisions> kNames{"int8", "int16", "float"};

size_t at(Precision precision) { return static_cast<size_t>(precision); }

double energy(double loss) { return loss * loss; }

/// How much larger the whole loss is than its layers' together: what lies between them is rounded,
/// too, and errors of layers are not quite independent.
double unexplained(const PrecisionCosts& costs)
{
    double alone = 0;
    for (const LayerCost& layer : costs.layers) alone += energy(layer.loss[at(Precision::Int8)]);
    return alone > 0 && costs.wholeLoss > 0 ? costs.wholeLoss / std::sqrt(alone) : 1;
}

/// Between both ends as far as the layers go there.
double between(double narrow, double wide, double part, double all)
{
    const bool isAlike = all != 0 && (wide - narrow) / all > 0;
    return std::max(narrow + (isAlike ? (wide - narrow) * part / all : part), 0.0);
}

} // namespace

std::string_view nameOf(Precision precision) { return kNames[at(precision)]; }

std::optional<Precision> precisionOf(std::string_view name)
{
    for (size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<Precision>(i);
    return std::nullopt;
}

PredictedCost predict(const PrecisionCosts& costs, const PrecisionChoice& choice)
{
    CHECK(choice.size() == costs.layers.size()) << "a choice has a precision for every layer";
    double noise = 0, bytes = 0, allBytes = 0, time = 0, allTime = 0;
    for (size_t i = 0; i < choice.size(); ++i) {
        const LayerCost& layer = costs.layers[i];
        const size_t now = at(choice[i]), narrow = at(Precision::Int8), wide = at(Precision::Float);
        noise += energy(layer.loss[now]);
        bytes += static_cast<double>(layer.weightBytes[now] - layer.weightBytes[narrow]);
        allBytes += static_cast<double>(layer.weightBytes[wide] - layer.weightBytes[narrow]);
        time += layer.time[now] - layer.time[narrow];
        allTime += layer.time[wide] - layer.time[narrow];
    }
    PredictedCost out{unexplained(costs) * std::sqrt(noise), 0, 0};
    if (costs.in8Bits.flashBytes > 0)
        out.flashBytes = static_cast<int64_t>(
            std::llround(between(static_cast<double>(costs.in8Bits.flashBytes),
                                 static_cast<double>(costs.inFloat.flashBytes), bytes, allBytes)));
    if (costs.knowsTimes())
        out.time = between(costs.in8Bits.time, costs.inFloat.time, time, allTime);
    return out;
}

std::vector<size_t> byHarm(const PrecisionCosts& costs)
{
    const auto saved = [&](size_t layer) {
        const auto& loss = costs.layers[layer].loss;
        return energy(loss[at(Precision::Int8)]) - energy(loss[at(costs.wider)]);
    };
    std::vector<size_t> order;
    for (size_t i = 0; i < costs.layers.size(); ++i)
        if (!costs.layers[i].pinned) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return saved(a) > saved(b); });
    return order;
}

PrecisionChoice widened(const PrecisionCosts& costs, size_t count)
{
    PrecisionChoice choice(costs.layers.size(), Precision::Int8);
    for (size_t i = 0; i < choice.size(); ++i)
        if (costs.layers[i].pinned) choice[i] = *costs.layers[i].pinned;
    const std::vector<size_t> order = byHarm(costs);
    for (size_t i = 0; i < std::min(count, order.size()); ++i) choice[order[i]] = costs.wider;
    return choice;
}

std::vector<CurvePoint> predictedCurve(const PrecisionCosts& costs)
{
    std::vector<CurvePoint> curve;
    const size_t free = byHarm(costs).size();
    for (size_t count = 0; count <= free; ++count)
        curve.push_back({count, predict(costs, widened(costs, count)), std::nullopt});
    return curve;
}

double decibelsOf(double loss)
{
    constexpr double kMost = 200;
    return loss > 0 ? std::min(kMost, -20 * std::log10(loss)) : kMost;
}

} // namespace tenon::core
