// SPDX-License-Identifier: Apache-2.0
// TensorError: how far one tensor is from another, in real units.
#pragma once

#include "core/tensor/tensor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::core {

/// What integers of a tensor stand for: (integer - zero) * scale.
struct QuantizedUnits
{
    std::vector<double> scales =
        {}; ///< one, or one per element of `axis`; empty: numbers are themselves
    std::vector<int64_t> zeros = {}; ///< as scales
    int64_t axis = 0;

    bool isQuantized() const { return !scales.empty(); }
    /// Which scale belongs to element `i` of a tensor of the shape, row by row.
    size_t scaleOf(const std::vector<int64_t>& shape, size_t i) const;
    /// Real values of all elements, row by row.
    std::vector<double> realValues(const Tensor& tensor) const;
};

/// What rounding is expected to do to the sums of one kernel; root mean squares.
struct SumRounding
{
    double share = 0; ///< of the largest result
    double terms = 0; ///< in real units, where results are less than what they are sums of
};

/// How far a tensor may be off before it counts as wrong.
struct ErrorLimits
{
    double relative = 1e-3;
    double ofLargest = 1e-4;     ///< of the largest element of the reference, whatever the element
    double ofLargestHalf = 4e-3; ///< the same for floats of 16 bits
    int64_t steps = 2;           ///< of integers: a layer that takes one hands it on
    double steppedShare = 0.02;  ///< of the elements of an integer tensor that may be off at all
    double leastMixedDb = 20;    ///< of what the reference does not round alike, instead of those
    double meanSteps = 4;        ///< of integers with a scale beside floats: see OwnSteps
    double partSteps = 8;
    bool isOtherModel = false;         ///< the reference is another one, whose floats differ, too
    std::optional<double> leastSqnrDb; ///< instead of all of these
    bool holdsToRounding = true;       ///< kernels that run alone, whose sums are known
    /// Of the kernel that gave the tensor from the reference's inputs: what is more is its fault.
    std::optional<SumRounding> rounding = {};
};

/// How far integers are from floats in steps of their own scale. Rounding, of what a layer reads,
/// of its weights and of what it makes, leaves little that is spread evenly; a wrong weight, bias
/// or scale stands out, if only in a channel. Steps of wider integers are as long as those of
/// 8 bits would be: their layers have weights of 8 bits, too.
struct OwnSteps
{
    double mean = 0; ///< root mean square
    double part = 0; ///< the largest over the elements with one index of one axis
    double meanInRange = 0, partInRange = 0; ///< without what the integers have no room for

    bool isBeyond(const ErrorLimits& limits) const
    {
        return mean > limits.meanSteps || part > limits.partSteps;
    }
    bool isBeyondInRange(const ErrorLimits& limits) const
    {
        return meanInRange > limits.meanSteps || partInRange > limits.partSteps;
    }
};

/// Errors by decade of the reference's root mean square: bin 0 holds no error at all, bin i errors
/// below 10^(i - 9) of it, the last bin what is larger or not a number.
constexpr int kErrorBins = 12;
using ErrorHistogram = std::array<int64_t, kErrorBins>;
/// "none", "< 1e-08", ..., ">= 10".
std::string errorBinText(int bin);

struct TensorError
{
    int64_t elements = 0;
    double sqnrDb = 0;  ///< signal to error; +inf where nothing differs
    double rms = 0;     ///< of the difference
    double maxAbs = 0;  ///< +inf where only one of the two is finite
    double maxUlps = 0; ///< in units in the last place of the reference's type; steps of integers
    double cosine = 1;
    int64_t worst = -1; ///< element of the largest difference; -1: none differs
    double worstGot = 0;
    double worstWanted = 0;
    int64_t outside = 0;   ///< elements beyond limits; all that differ where those are too many
    int64_t saturated = 0; ///< integers at an end of their type that the reference is not at
    double referenceRms = 0;
    double referenceLargest = 0; ///< absolute
    ErrorHistogram histogram{};
    std::optional<OwnSteps> steps = {}; ///< of integers with a scale beside floats
    bool isRounded = false;             ///< the reference rounds elsewhere, or nowhere
    bool isSteppedInside = false;       ///< integers that differ by no more than rounding may
    bool isOutside = false;             ///< the tensor leaves tolerance
};

/// Both of one shape; `gotUnits` and `wantedUnits` say what integers are. Steps count where both
/// are integers of one type.
TensorError tensorError(const Tensor& got, const QuantizedUnits& gotUnits, const Tensor& wanted,
                        const QuantizedUnits& wantedUnits, const ErrorLimits& limits);

/// The one that is further off.
const TensorError& worse(const TensorError& a, const TensorError& b);

} // namespace tenon::core
