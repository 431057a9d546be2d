// SPDX-License-Identifier: Apache-2.0
// Divides by the scale, and looks how far that is from an integer.
#include "core/compare/whole_steps.h"

#include "core/ir/tir/expr.h"

#include <cmath>

namespace tenon::core {

std::optional<Tensor> inWholeSteps(const Tensor& real, const IntegersBehind& behind)
{
    // 2^16 steps have 24 bits; a scale that is a 1,024th off is more from ten steps on.
    constexpr double kRounded = 0.01;
    if (!real.dtype().isFloat()) return std::nullopt;
    const auto& [dtype, units] = behind;
    const auto least = static_cast<double>(tir::lowestOf(dtype)->integer),
               most = static_cast<double>(tir::highestOf(dtype)->integer);
    std::vector<int64_t> steps;
    for (int64_t i = 0; i < real.size(); ++i) {
        const size_t k = units.scaleOf(real.shape(), static_cast<size_t>(i));
        const double number = real.number(i) / units.scales[k], whole = std::nearbyint(number);
        const double stored = whole + static_cast<double>(units.zeros[k]);
        if (!(std::fabs(number - whole) <= kRounded) || stored < least || stored > most)
            return std::nullopt;
        steps.push_back(static_cast<int64_t>(stored));
    }
    return Tensor::make(dtype, real.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < real.size(); ++i)
            storeInteger(dtype, out, i, steps[static_cast<size_t>(i)]);
    });
}

} // namespace tenon::core
