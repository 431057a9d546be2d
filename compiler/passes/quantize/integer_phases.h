// SPDX-License-Identifier: Apache-2.0
// The convolutions of integers that a transposed convolution is computed by.
#pragma once

#include "compiler/passes/transposed_phases.h"
#include "compiler/passes/transposed_windows.h"

namespace tenon::compiler {

inline constexpr int64_t kWordBytes = 4;
/// Channels of bytes with those that fill the last word.
constexpr int64_t inWords(int64_t channels)
{
    return (channels + kWordBytes - 1) / kWordBytes * kWordBytes;
}

/// A convolution for each phase, or one for all results of a window.
struct IntegerPhases
{
    std::vector<TransposedPhase> phases; ///< empty: by windows
    std::optional<TransposedWindows> windows;
    int64_t filters = 0; ///< of each phase, with those of zeros that fill the last word

    /// Beside the filters of the model there are taps or filters of zeros.
    bool hasZeros(int64_t channels) const { return windows || filters > channels; }
};

/// Of nn.conv2d_transpose whose weight has this shape: the form of fewer products, where there is
/// one.
std::optional<IntegerPhases> integerPhases(const Module& module, const NodeRecord& node,
                                           const std::vector<int64_t>& weight);

/// [C, O, KH, KW] with zeros behind its results, [C, filters, KH, KW].
Tensor withFilters(const Tensor& weight, int64_t filters);

} // namespace tenon::compiler
