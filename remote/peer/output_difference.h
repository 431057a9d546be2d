// SPDX-License-Identifier: Apache-2.0
// How far the outputs of two engines are apart: times of engines that compute different things are
// not compared.
#pragma once

#include "core/artifact/manifest.h"
#include "core/tensor/onnx_tensor.h"

#include <string>

namespace tenon::remote {

/// Of all outputs.
struct OutputDifference
{
    int64_t elements = 0;
    int64_t outside = 0; ///< of those, farther apart than the tolerance
    double maxAbsError = 0;
    double largest = 0; ///< magnitude among what is wanted

    bool isSame() const { return outside == 0 && elements > 0; }
    /// "3 of 1000 outputs differ, by up to 0.5 where the largest is 2"; empty when none does.
    std::string text() const;
};

/// Floats may differ by a thousandth of themselves and by `share` of the largest one; bytes, which
/// quantized models give, by a step; other integers not at all. Another shape or type: all differ.
void addDifference(const core::OnnxTensor& got, const core::OnnxTensor& wanted, double share,
                   OutputDifference& difference);

constexpr double kFloatShare = 1e-4;
/// `share` for the outputs of this artifact: a hundredth of the largest and more where layers are
/// quantized, as one rounded differently moves the output by a step.
double outputShareOf(const core::Manifest& manifest);

} // namespace tenon::remote
