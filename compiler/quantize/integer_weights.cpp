// SPDX-License-Identifier: Apache-2.0
// Rounding of constants, channel by channel.
#include "compiler/quantize/integer_weights.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// A bias is at most this many units of the sums: far enough from the end of 32 bits for the sums.
constexpr double kMostUnits = 1 << 29;

struct Channels
{
    int64_t count, inner;
    size_t of(int64_t element) const { return static_cast<size_t>(element / inner % count); }
};

Channels channelsOf(const Tensor& weight, int64_t axis)
{
    const std::vector<int64_t>& shape = weight.shape();
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
    return {shape[static_cast<size_t>(axis)], inner};
}

std::vector<double> largestOf(const std::vector<double>& values, const Channels& channels,
                              bool isPerChannel)
{
    std::vector<double> out(isPerChannel ? static_cast<size_t>(channels.count) : 1, 0.0);
    for (size_t i = 0; i < values.size(); ++i) {
        double& largest = out[isPerChannel ? channels.of(static_cast<int64_t>(i)) : 0];
        largest = std::max(largest, std::abs(values[i]));
    }
    return out;
}

/// A channel of tiny weights and a large bias gets steps that let the bias fit.
float scaleFor(double largest, double bias, const WeightForm& form)
{
    const float scale = weightRange(largest, form.dtype).scale;
    const auto least = static_cast<float>(std::abs(bias) / (form.inputScale * kMostUnits));
    if (largest == 0) return least > 0 ? least : 1.0F;
    return std::max(scale, least);
}

} // namespace

IntegerWeight roundWeight(const Tensor& weight, const WeightForm& form)
{
    const Channels channels = channelsOf(weight, form.axis);
    const std::vector<double> values = weight.numbers();
    const std::vector<double> largest = largestOf(values, channels, form.isPerChannel);
    IntegerWeight out;
    out.axis = form.axis;
    out.zero = weightRange(0, form.dtype).zero;
    for (size_t i = 0; i < largest.size(); ++i) {
        double bias = 0;
        for (size_t c = 0; c < form.bias.size(); ++c)
            if (!form.isPerChannel || c == i) bias = std::max(bias, std::abs(form.bias[c]));
        out.scales.push_back(scaleFor(largest[i], bias, form));
    }
    double signal = 0, noise = 0;
    out.integers = Tensor::make(form.dtype, weight.shape(), [&](std::span<std::byte> bytes) {
        const int64_t most = (int64_t{1} << (form.dtype.bits - 1)) - 1;
        for (size_t i = 0; i < values.size(); ++i) {
            const auto element = static_cast<int64_t>(i);
            const auto scale =
                static_cast<double>(out.scales[form.isPerChannel ? channels.of(element) : 0]);
            const auto rounded =
                std::clamp(static_cast<int64_t>(std::nearbyint(values[i] / scale)), -most, most);
            storeInteger(form.dtype, bytes, element, rounded + out.zero);
            const double error = values[i] - static_cast<double>(rounded) * scale;
            signal += values[i] * values[i];
            noise += error * error;
        }
    });
    out.sqnrDb = sqnrDb(signal, noise);
    return out;
}

std::vector<double> lostMeans(const Tensor& weight, const IntegerWeight& rounded,
                              const std::vector<double>& inputMeans)
{
    const Channels outputs = channelsOf(weight, rounded.axis);
    const Channels inputs = channelsOf(weight, 1 - rounded.axis);
    const auto count = static_cast<int64_t>(inputMeans.size());
    if (count == 0 || count % inputs.count != 0) return {};
    const int64_t groups = count / inputs.count;
    if (outputs.count % groups != 0) return {};
    std::vector<double> out(static_cast<size_t>(outputs.count), 0.0);
    for (int64_t i = 0; i < weight.size(); ++i) {
        const size_t output = outputs.of(i);
        const auto group = static_cast<int64_t>(output) / (outputs.count / groups);
        const auto scale =
            static_cast<double>(rounded.scales[rounded.scales.size() == 1 ? 0 : output]);
        const double kept = static_cast<double>(rounded.integers.integer(i) - rounded.zero) * scale;
        const size_t input = static_cast<size_t>(group * inputs.count) + inputs.of(i);
        out[output] += (weight.number(i) - kept) * inputMeans[input];
    }
    return out;
}

IntegerBias roundBias(const std::vector<double>& bias, const IntegerWeight& weight,
                      double inputScale)
{
    std::vector<float> scales;
    std::vector<int32_t> integers;
    for (size_t i = 0; i < bias.size(); ++i) {
        const float of = weight.scales[weight.scales.size() == 1 ? 0 : i];
        scales.push_back(static_cast<float>(inputScale) * of);
        const double units = scales.back() > 0 ? bias[i] / static_cast<double>(scales.back()) : 0;
        const double limit = 2 * kMostUnits;
        integers.push_back(static_cast<int32_t>(std::nearbyint(std::clamp(units, -limit, limit))));
    }
    const auto count = static_cast<int64_t>(bias.size());
    return {Tensor::of<int32_t>(kInt32, {count}, integers),
            Tensor::of<float>(kFloat32, {count}, scales)};
}

} // namespace tenon::compiler
