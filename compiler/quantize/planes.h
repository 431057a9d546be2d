// SPDX-License-Identifier: Apache-2.0
// Constants with channels last as constants with channels in front.
#pragma once

#include "core/tensor/tensor.h"

namespace tenon::compiler {

using namespace core;

/// [n, h, w, c] -> [n, c, h, w]; others as they are.
Tensor planesOf(const Tensor& tensor);
/// [a, b, ..] -> [b, a, ..], four axes.
Tensor frontSwapped(const Tensor& tensor);
/// Weights of a depthwise convolution: [1, h, w, c] -> [c, 1, h, w].
Tensor filtersOf(const Tensor& tensor);

} // namespace tenon::compiler
