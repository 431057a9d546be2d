// SPDX-License-Identifier: Apache-2.0
// Bounds of sums and ratios.
#include "compiler/passes/quantize/quantization_bounds.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

double reachOf(const Quantized& value)
{
    const auto low = static_cast<double>(value.dtype.isSigned() ? INT8_MIN : 0);
    const auto high = static_cast<double>(value.dtype.isSigned() ? INT8_MAX : UINT8_MAX);
    double most = 0;
    for (const int64_t zero : value.zeros) {
        const auto at = static_cast<double>(zero);
        most = std::max({most, at - low, high - at});
    }
    return most;
}

bool areRatios(const std::vector<double>& ratios)
{
    // An infinite ratio would make NaN of zero; a tiny one makes zero, as it should.
    constexpr int kExponent = 127 - 32;
    return std::all_of(ratios.begin(), ratios.end(),
                       [](double ratio) { return std::abs(ratio) < std::ldexp(1.0, kExponent); });
}

bool fitSums(const Tensor& weight, const std::vector<int64_t>& zeros, double reach,
             const std::vector<int64_t>& bias)
{
    const auto channels = static_cast<int64_t>(bias.size());
    const int64_t each = channels == 0 ? 0 : weight.size() / channels;
    for (int64_t channel = 0; channel < channels; ++channel) {
        const auto at = static_cast<size_t>(channel);
        const int64_t zero = zeros[zeros.size() == 1 ? 0 : at];
        const double most = INT32_MAX - std::abs(static_cast<double>(bias[at]));
        // No layer is that deep but for a few: nothing to add up.
        if (static_cast<double>(each) * UINT8_MAX * reach <= most) continue;
        int64_t sum = 0;
        for (int64_t i = channel * each; i < (channel + 1) * each; ++i)
            sum += std::abs(weight.integer(i) - zero);
        if (static_cast<double>(sum) * reach > most) return false;
    }
    return true;
}

bool isSumExact(const Quantized& a, const Quantized& b, double scale)
{
    return (reachOf(a) * a.scales[0] + reachOf(b) * b.scales[0]) / scale <= kLargestTerm;
}

bool isProductExact(const Quantized& a, const Quantized& b, double scale)
{
    return areRatios({a.scales[0] * b.scales[0] / scale});
}

} // namespace tenon::compiler
