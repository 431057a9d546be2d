// SPDX-License-Identifier: Apache-2.0
// Measures OwnSteps.
#pragma once

#include "core/compare/tensor_error.h"

namespace tenon::core {

/// `got` are integers of `units`, `wanted` real numbers, one per element.
OwnSteps ownSteps(const Tensor& got, const QuantizedUnits& units,
                  const std::vector<double>& wanted);

} // namespace tenon::core
