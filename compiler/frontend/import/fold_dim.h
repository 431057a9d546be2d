// SPDX-License-Identifier: Apache-2.0
// Arithmetic on dimensions that are known by name only, for shape computations at import.
#pragma once

#include "core/ir/size_bounds.h"
#include "core/tensor/dim.h"

#include <optional>
#include <string_view>

namespace tenon::compiler {

using namespace core;

/// `op` is our operator's name: add, subtract, multiply, divide (which truncates), floor_mod,
/// minimum, maximum, or equal (1 or 0). Nothing where no dimension says it.
std::optional<Dim> foldedDim(std::string_view op, const Dim& a, const Dim& b,
                             const SizeBounds& bounds);

} // namespace tenon::compiler
