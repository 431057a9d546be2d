// SPDX-License-Identifier: Apache-2.0
// Which tensor of a comparison is to blame.
#include "core/compare/comparison.h"

#include <algorithm>
#include <numeric>

namespace tenon::core {
namespace {

/// Smaller is worse: whether the kernel itself is off, then whether its result is, then how far.
struct Blame
{
    int kind;
    double sqnrDb;

    friend auto operator<=>(const Blame&, const Blame&) = default;
};

Blame blameOf(const ComparedTensor& tensor)
{
    if (tensor.isolated && tensor.isolated->isOutside) return {0, tensor.isolated->sqnrDb};
    if (!tensor.isolated && tensor.cumulative.isOutside) return {1, tensor.cumulative.sqnrDb};
    if (tensor.isolated) return {2, tensor.isolated->sqnrDb};
    return {3, tensor.cumulative.sqnrDb};
}

} // namespace

bool ComparedTensor::isNoise() const
{
    constexpr double kTwiceDb = 6; // of the amplitude
    return noise && noise->sqnrDb <= cumulative.sqnrDb + kTwiceDb;
}

std::optional<Comparison::Share> Comparison::noiseShare() const
{
    Share out;
    for (const ComparedTensor& tensor : tensors) {
        if (!tensor.noise) continue;
        out.elements += tensor.cumulative.elements;
        out.device += tensor.cumulative.outside;
        out.noise += tensor.noise->outside;
    }
    return out.elements > 0 ? std::optional(out) : std::nullopt;
}

std::optional<size_t> Comparison::first() const
{
    for (size_t i = 0; i < tensors.size(); ++i)
        if (tensors[i].cumulative.isOutside) return i;
    return std::nullopt;
}

std::vector<size_t> Comparison::ranked() const
{
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return blameOf(tensors[a]) < blameOf(tensors[b]); });
    return order;
}

} // namespace tenon::core
