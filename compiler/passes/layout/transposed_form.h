// SPDX-License-Identifier: Apache-2.0
// transposedForm: how a transposed convolution of floats is computed.
#pragma once

#include "compiler/passes/transposed_phases.h"

namespace tenon::compiler {

enum class TransposedForm : uint8_t
{
    Pixel,  ///< of one pixel: a dense layer
    Phases, ///< a convolution each
    Windows ///< one convolution of all results of a window; phases where there are no such windows
};

/// Of nn.conv2d_transpose of an image of known size, whose weight has this shape.
TransposedForm transposedForm(const Module& module, const NodeRecord& node,
                              const std::vector<int64_t>& weight, int lanes);

} // namespace tenon::compiler
