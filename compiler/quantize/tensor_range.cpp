// SPDX-License-Identifier: Apache-2.0
// Choosing ranges: by extremes, share, divergence or square error.
#include "compiler/quantize/tensor_range.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr double kNoNoiseDb = 200;
constexpr std::array<std::string_view, 4> kMethodNames{"minmax", "percentile", "entropy", "mse"};

struct Limits
{
    double low;
    double high;
};

double halvesToEven(double value) { return std::nearbyint(value); }

/// The value below which `share` of what was seen lies.
double quantile(const std::vector<ValueHistogram::Bin>& sorted, double total, double share)
{
    double below = 0;
    for (const ValueHistogram::Bin& bin : sorted) {
        if (below + bin.count >= share * total) {
            const double inside = bin.count > 0 ? (share * total - below) / bin.count : 0;
            return bin.centre + (inside - 0.5) * bin.width;
        }
        below += bin.count;
    }
    return sorted.empty() ? 0 : sorted.back().centre;
}

/// What lies outside is shared by both ends, unless all values are on one side of zero.
Limits percentileLimits(const ValueHistogram& seen, double percentile)
{
    auto bins = seen.bins();
    std::sort(bins.begin(), bins.end(),
              [](const auto& a, const auto& b) { return a.centre < b.centre; });
    const double outside = 1 - percentile / 100;
    const auto total = static_cast<double>(seen.count());
    const bool hasBothSides = seen.least() < 0 && seen.greatest() > 0;
    const double atEnd = hasBothSides ? outside / 2 : outside;
    Limits out{seen.least(), seen.greatest()};
    if (seen.least() < 0) out.low = std::max(out.low, quantile(bins, total, atEnd));
    if (seen.greatest() > 0) out.high = std::min(out.high, quantile(bins, total, 1 - atEnd));
    return out;
}

/// Divergence of `counts`, its first `kept` bins rounded to `levels` values and the rest clipped to
/// the last of them, from what was seen (Migacz, 8-bit inference with TensorRT, 2017).
double divergence(const std::vector<double>& counts, size_t kept, size_t levels)
{
    double clipped = 0, total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        if (i >= kept) clipped += counts[i];
    }
    // A range in front of a peak looks like it once the peak is clipped to its end: only tails go.
    constexpr double kMostClipped = 0.01;
    const double roundedTotal = total - clipped;
    if (roundedTotal <= 0 || clipped > kMostClipped * total) return HUGE_VAL;
    double sum = 0;
    for (size_t level = 0; level < levels; ++level) {
        const size_t begin = level * kept / levels, end = (level + 1) * kept / levels;
        double mass = 0;
        size_t filled = 0;
        for (size_t i = begin; i < end; ++i) {
            mass += counts[i];
            filled += counts[i] > 0;
        }
        for (size_t i = begin; i < end; ++i) {
            const double p = (counts[i] + (i + 1 == kept ? clipped : 0)) / total;
            if (p <= 0) continue;
            const double q = filled > 0 && counts[i] > 0
                                 ? mass / static_cast<double>(filled) / roundedTotal
                                 : 1e-12;
            sum += p * std::log(p / q);
        }
    }
    return sum;
}

/// Too few values have no distribution: their extremes stay.
Limits entropyLimits(const ValueHistogram& seen, const RangeOptions& options)
{
    constexpr size_t kCandidates = 256;
    constexpr int64_t kValuesPerLevel = 16;
    const bool isTwoSided = options.isSymmetric || seen.least() < 0;
    const size_t levels = size_t{1} << std::min(options.dtype.bits - (isTwoSided ? 1 : 0), 10);
    Limits out{seen.least(), seen.greatest()};
    std::vector<double> counts = seen.magnitudes();
    if (seen.count() < kValuesPerLevel * static_cast<int64_t>(levels)) return out;
    if (counts.size() <= levels) return out;
    // Zeros are exact however wide the range is: they would hide what the others tell.
    counts[0] = counts[1];
    double best = HUGE_VAL;
    const double ratio = static_cast<double>(counts.size()) / static_cast<double>(levels);
    for (size_t i = 0; i <= kCandidates; ++i) {
        const double share = static_cast<double>(i) / kCandidates;
        const auto kept =
            std::min(static_cast<size_t>(static_cast<double>(levels) * std::pow(ratio, share)),
                     counts.size());
        const double found = divergence(counts, kept, levels);
        if (found >= best) continue;
        best = found;
        const double reach = static_cast<double>(kept) * seen.binWidth();
        out = {std::max(seen.least(), -reach), std::min(seen.greatest(), reach)};
    }
    return out;
}

/// Each end in turn is drawn in as long as the square error gets less.
Limits mseLimits(const ValueHistogram& seen, const RangeOptions& options)
{
    constexpr int kRounds = 2, kSteps = 60;
    Limits best{std::min(seen.least(), 0.0), std::max(seen.greatest(), 0.0)};
    const auto errorOf = [&](const Limits& limits) {
        return meanSquareError(
            seen, linearRange(limits.low, limits.high, options.dtype, options.isSymmetric));
    };
    double least = errorOf(best);
    const Limits whole = best;
    const auto attempt = [&](const Limits& limits) {
        const double error = errorOf(limits);
        if (error >= least) return;
        least = error;
        best = limits;
    };
    for (int i = 1; i < kSteps; ++i) {
        const double share = 1 - static_cast<double>(i) / kSteps;
        attempt({whole.low * share, whole.high * share});
    }
    for (int round = 0; round < kRounds && !options.isSymmetric; ++round) {
        const Limits from = best;
        for (int i = 1; i < kSteps && from.low < 0; ++i)
            attempt({whole.low * (static_cast<double>(i) / kSteps), best.high});
        for (int i = 1; i < kSteps && from.high > 0; ++i)
            attempt({best.low, whole.high * (static_cast<double>(i) / kSteps)});
    }
    return best;
}

} // namespace

std::string_view nameOf(RangeMethod method) { return kMethodNames[static_cast<size_t>(method)]; }

std::optional<RangeMethod> rangeMethodOf(std::string_view name)
{
    for (size_t i = 0; i < kMethodNames.size(); ++i)
        if (kMethodNames[i] == name) return static_cast<RangeMethod>(i);
    return std::nullopt;
}

int64_t LinearRange::lowest() const
{
    return dtype.isSigned() ? -(int64_t{1} << (dtype.bits - 1)) : 0;
}

int64_t LinearRange::highest() const
{
    return (int64_t{1} << (dtype.bits - (dtype.isSigned() ? 1 : 0))) - 1;
}

int64_t LinearRange::integer(double value) const
{
    // ONNX divides in binary32 and adds the zero point behind the rounding.
    const double steps = static_cast<double>(static_cast<float>(value) / scale);
    const double limit = static_cast<double>(int64_t{1} << 40);
    const auto rounded = static_cast<int64_t>(halvesToEven(std::clamp(steps, -limit, limit)));
    return std::clamp(rounded + zero, lowest(), highest());
}

double LinearRange::rounded(double value) const
{
    return static_cast<double>(integer(value) - zero) * static_cast<double>(scale);
}

LinearRange linearRange(double low, double high, DataType dtype, bool isSymmetric)
{
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
    LinearRange out{.dtype = dtype};
    const int64_t lowest = out.lowest(), highest = out.highest();
    if (isSymmetric) out.zero = (lowest + highest + 1) / 2;
    if (low == 0 && high == 0) return out;
    const double steps = isSymmetric ? static_cast<double>(highest - out.zero)
                                     : static_cast<double>(highest - lowest);
    const double width = isSymmetric ? std::max(-low, high) : high - low;
    out.scale = std::max(static_cast<float>(width / steps), FLT_MIN);
    if (isSymmetric) return out;
    const double zero = static_cast<double>(lowest) - low / static_cast<double>(out.scale);
    out.zero = std::clamp(static_cast<int64_t>(halvesToEven(zero)), lowest, highest);
    return out;
}

LinearRange weightRange(double largest, DataType dtype)
{
    LinearRange out{.dtype = dtype};
    out.zero = dtype.isSigned() ? 0 : int64_t{1} << (dtype.bits - 1);
    const auto steps = static_cast<double>((int64_t{1} << (dtype.bits - 1)) - 1);
    if (largest > 0) out.scale = std::max(static_cast<float>(largest / steps), FLT_MIN);
    return out;
}

LinearRange chooseRange(const ValueHistogram& seen, const RangeOptions& options)
{
    Limits limits{seen.least(), seen.greatest()};
    if (seen.least() != 0 || seen.greatest() != 0) {
        if (options.method == RangeMethod::Percentile)
            limits = percentileLimits(seen, options.percentile);
        if (options.method == RangeMethod::Entropy) limits = entropyLimits(seen, options);
        if (options.method == RangeMethod::Mse) limits = mseLimits(seen, options);
    }
    return linearRange(limits.low, limits.high, options.dtype, options.isSymmetric);
}

double meanSquareError(const ValueHistogram& seen, const LinearRange& range,
                       const ValueLimits& limits)
{
    const double scale = range.scale, least = range.least(), greatest = range.greatest();
    double sum = 0;
    for (const ValueHistogram::Bin& bin : seen.bins()) {
        if (bin.width == 0) continue; // zeros are exact
        const double value = std::clamp(bin.centre, limits.least, limits.greatest);
        const double beyond = value - std::clamp(value, least, greatest);
        // Steps finer than bins: errors are as good as evenly spread.
        const double error = beyond != 0 ? beyond : value - range.rounded(value);
        const bool isFine = beyond == 0 && bin.width > scale / 4;
        sum += bin.count * (isFine ? scale * scale / 12 : error * error);
    }
    return seen.count() == 0 ? 0 : sum / static_cast<double>(seen.count());
}

double sqnrDb(double signal, double noise)
{
    if (noise <= 0) return kNoNoiseDb;
    if (signal <= 0) return -kNoNoiseDb;
    return std::clamp(10 * std::log10(signal / noise), -kNoNoiseDb, kNoNoiseDb);
}

double expectedSqnrDb(const ValueHistogram& seen, const LinearRange& range,
                      const ValueLimits& limits)
{
    return sqnrDb(seen.meanSquare(), meanSquareError(seen, range, limits));
}

} // namespace tenon::compiler
