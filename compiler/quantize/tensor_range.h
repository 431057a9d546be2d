// SPDX-License-Identifier: Apache-2.0
// From what a tensor was seen to hold to the scale and zero point of its integers.
#pragma once

#include "compiler/quantize/value_histogram.h"
#include "core/tensor/dtype.h"

#include <cmath>
#include <optional>
#include <string_view>

namespace tenon::compiler {

using namespace core;

/// How the range is chosen.
enum class RangeMethod : uint8_t
{
    MinMax,     ///< all that was seen
    Percentile, ///< so many percent of what was seen
    Entropy,    ///< the least divergence (Kullback-Leibler) of the rounded distribution
    Mse         ///< the least mean square of the rounding error
};

std::string_view nameOf(RangeMethod method);
std::optional<RangeMethod> rangeMethodOf(std::string_view name);

struct RangeOptions
{
    RangeMethod method = RangeMethod::MinMax;
    double percentile = 99.99; ///< of the values that stay inside, above 50 to 100
    DataType dtype = kInt8;
    bool isSymmetric = false; ///< zero lies in the middle of the integers
};

/// value = (integer - zero) * scale.
struct LinearRange
{
    DataType dtype = kInt8;
    float scale = 1;
    int64_t zero = 0;

    int64_t lowest() const;
    int64_t highest() const;
    double least() const { return static_cast<double>(lowest() - zero) * scale; }
    double greatest() const { return static_cast<double>(highest() - zero) * scale; }
    int64_t integer(double value) const; ///< halves to even, saturating
    double rounded(double value) const;
};

/// Integers for values of [low, high], widened to hold 0, which becomes one of them exactly.
LinearRange linearRange(double low, double high, DataType dtype, bool isSymmetric);

/// Weights: symmetric, without the integer that has no opposite.
LinearRange weightRange(double largest, DataType dtype);

LinearRange chooseRange(const ValueHistogram& seen, const RangeOptions& options);

/// What lies beyond is the same for all who read it.
struct ValueLimits
{
    double least = -HUGE_VAL;
    double greatest = HUGE_VAL;
};

/// Mean square of rounding and clipping what was seen.
double meanSquareError(const ValueHistogram& seen, const LinearRange& range,
                       const ValueLimits& limits = {});
/// Signal to quantization noise in dB; 200 where there is no noise.
double expectedSqnrDb(const ValueHistogram& seen, const LinearRange& range,
                      const ValueLimits& limits = {});
double sqnrDb(double signal, double noise);

} // namespace tenon::compiler
