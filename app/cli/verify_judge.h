// SPDX-License-Identifier: Apache-2.0
// The rule of `tenon verify`: when an output of an artifact agrees with the reference.
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::cli {

using namespace core;

struct Tolerance
{
    double relative = 0;
    double absolute = 0;
    int64_t steps = 0;                  ///< largest difference of integers
    double mayDiffer = 0;               ///< share of the elements that may be anything
    std::optional<double> meanAbsolute; ///< limit of the mean absolute difference
    bool isStated = false;              ///< by the case itself: nothing else is allowed
};

/// How an output follows the last quantized tensors of the model.
struct StepEffect
{
    Tensor exact;              ///< the output by exact evaluation
    std::vector<Tensor> moved; ///< the output when their elements move by one step
    int64_t spread = 1;        ///< elements of the output that change with one of them, at most
    int64_t elements = 0;      ///< of those tensors together
};

/// Of the elements of the last quantized tensors, how many may be one step off. In sums of n
/// products the accumulated rounding differs between two right orders by a few parts in 1e7 of the
/// largest, and what lies that near to a tie falls to either side; a network hands such steps on.
inline constexpr double kStepShare = 0.02;

/// One output against its reference.
struct Judgement
{
    int64_t elements = 0;
    double maxAbsError = 0;
    int64_t outside = 0; ///< of the tolerance; those that one step explains included
    int64_t steps = 0;   ///< of them, those that one step of a quantized tensor explains
    int64_t mayStep = 0; ///< how many may be so
    double allowed = 0;  ///< largest difference that one step explains
    std::string reason;  ///< empty: it agrees
};

/// Floats agree within the tolerance, integers within its steps, anything else when it is the same.
Judgement judge(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance);
/// The same for an output of a quantized model: elements outside the tolerance still agree when one
/// step of the last quantized tensors makes such a difference, as long as they are few.
Judgement judge(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance,
                const StepEffect& effect);

} // namespace tenon::cli
