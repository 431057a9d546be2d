// SPDX-License-Identifier: Apache-2.0
// Squares of differences in steps, summed by index of every axis.
#include "core/compare/own_steps.h"

#include "core/ir/tir/expr.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::core {
namespace {

/// A difference in steps, squared, and whether the integers have no room for what is wanted.
struct Difference
{
    double square = 0;
    bool isClipped = false;
};

/// Squares of some elements, and how many those are.
struct Sum
{
    double squares = 0;
    int64_t elements = 0;

    void add(double square)
    {
        squares += square;
        ++elements;
    }
    double meanRoot() const
    {
        return elements > 0 ? std::sqrt(squares / static_cast<double>(elements)) : 0;
    }
};

/// Least and largest integer of the type.
std::pair<double, double> endsOf(DataType dtype)
{
    return {static_cast<double>(tir::lowestOf(dtype)->integer),
            static_cast<double>(tir::highestOf(dtype)->integer)};
}

std::vector<Difference> differences(const Tensor& got, const QuantizedUnits& units,
                                    const std::vector<double>& wanted)
{
    const std::vector<double> have = got.numbers();
    const auto [least, most] = endsOf(got.dtype());
    const double length = std::ldexp(1.0, std::max(got.dtype().bits - 8, 0));
    std::vector<Difference> out(have.size());
    for (size_t i = 0; i < have.size(); ++i) {
        const size_t k = units.scaleOf(got.shape(), i);
        const double want = wanted[i] / units.scales[k] + static_cast<double>(units.zeros[k]);
        const double steps = (have[i] - want) / length;
        out[i] = {std::isfinite(steps) ? steps * steps : HUGE_VAL,
                  (have[i] == least && want < least) || (have[i] == most && want > most)};
    }
    return out;
}

/// Every element, and those that are not clipped.
struct Sums
{
    Sum all, inRange;

    void add(const Difference& difference)
    {
        all.add(difference.square);
        if (!difference.isClipped) inRange.add(difference.square);
    }
};

} // namespace

OwnSteps ownSteps(const Tensor& got, const QuantizedUnits& units, const std::vector<double>& wanted)
{
    const std::vector<Difference> all = differences(got, units, wanted);
    Sums total;
    for (const Difference& difference : all) total.add(difference);
    OwnSteps out{.mean = total.all.meanRoot(), .meanInRange = total.inRange.meanRoot()};
    size_t inner = all.size();
    for (const int64_t extent : got.shape()) {
        const size_t count = std::max<size_t>(static_cast<size_t>(extent), 1);
        inner = std::max<size_t>(inner / count, 1);
        std::vector<Sums> parts(count);
        for (size_t i = 0; i < all.size(); ++i) parts[i / inner % count].add(all[i]);
        for (const Sums& part : parts) {
            out.part = std::max(out.part, part.all.meanRoot());
            out.partInRange = std::max(out.partInRange, part.inRange.meanRoot());
        }
    }
    return out;
}

} // namespace tenon::core
