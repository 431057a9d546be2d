// SPDX-License-Identifier: Apache-2.0
// How much of an error in the sums of a layer arrives at a function's results.
#pragma once

#include "compiler/passes/error/value_samples.h"

#include <vector>

namespace tenon::compiler {

/// A layer with constant weights.
struct LayerGain
{
    NodeId node;
    int64_t terms; ///< of each of its sums
    /// Expected largest error of a result, relative to the largest result, for errors of the sums
    /// of 1, relative to the root of the sum of the squares of their terms.
    double gain;
};

/// The largest magnitude of the elements that are finite; 0 where none is.
double largestOf(const Tensor& value);

/// All convolutions and dense layers, last first. Errors of different elements are taken as
/// independent: a linear operator adds up their squares, weighted by the squares of its
/// coefficients (exact weights, slopes of activations at the samples); what is neither keeps the
/// error relative to its values. Results that are not known are replaced by the last values that
/// are.
std::vector<LayerGain> errorGains(const Module& module, const GraphFunction& function,
                                  const ValueSamples& samples);

} // namespace tenon::compiler
