// SPDX-License-Identifier: Apache-2.0
// Bounds of the sizes that a function's parameters leave open, as the attribute `bounds` of the
// function: bounds=s["batch=1..8"].
#pragma once

#include "core/ir/module.h"
#include "core/tensor/dim_bounds.h"

namespace tenon::core {

inline constexpr const char* kBoundsAttr = "bounds";

SizeBounds boundsOf(const GraphFunction& function);
void setBounds(GraphFunction& function, const SizeBounds& bounds);

} // namespace tenon::core
