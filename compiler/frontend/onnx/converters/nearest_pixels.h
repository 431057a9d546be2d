// SPDX-License-Identifier: Apache-2.0
// The nearest pixels of a resize as binary32 finds them: where a position lies between two pixels,
// the rounding of a scale such as 1.3 decides, and models were trained and checked with what ONNX
// Runtime then takes.
#pragma once

#include "compiler/frontend/import/resize_axes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler {

/// A rounding: up along axes that shrink, down along others.
inline constexpr const char* kByDirection = "by_direction";

struct NearestPixels
{
    std::vector<int64_t> sources; ///< of each element of the resized axis
    bool isExact;                 ///< exact arithmetic, which image.resize2d does, finds the same
};

/// Nothing where positions come from no division by a scale, or of very many elements.
std::optional<NearestPixels> nearestPixels(const ResampledAxis& axis, const Resampling& how);

} // namespace tenon::compiler
