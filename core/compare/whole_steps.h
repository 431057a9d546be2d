// SPDX-License-Identifier: Apache-2.0
// Real numbers that are integers in disguise.
#pragma once

#include "core/compare/tensor_error.h"

#include <optional>

namespace tenon::core {

/// What floats were before they were dequantized.
struct IntegersBehind
{
    DataType dtype;
    QuantizedUnits units;
};

/// The integers that floats stand for; nothing where an element is no whole number of steps, by
/// more than floats round, or the type has no room for it.
std::optional<Tensor> inWholeSteps(const Tensor& real, const IntegersBehind& behind);

} // namespace tenon::core
