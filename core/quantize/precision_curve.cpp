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
    double noise = 0, time = costs.in8Bits.time;
    int64_t bytes = costs.in8Bits.flashBytes;
    const bool isFloat = std::all_of(choice.begin(), choice.end(), [](Precision precision) {
        return precision == Precision::Float;
    });
    if (isFloat && !choice.empty()) return {0, costs.inFloat.flashBytes, costs.inFloat.time};
    for (size_t i = 0; i < choice.size(); ++i) {
        const LayerCost& layer = costs.layers[i];
        const size_t now = at(choice[i]), narrow = at(Precision::Int8);
        noise += energy(layer.loss[now]);
        bytes += layer.weightBytes[now] - layer.weightBytes[narrow];
        time += layer.time[now] - layer.time[narrow];
    }
    return {unexplained(costs) * std::sqrt(noise), costs.in8Bits.flashBytes > 0 ? bytes : 0,
            costs.knowsTimes() ? std::max(time, 0.0) : 0};
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
