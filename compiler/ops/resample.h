// SPDX-License-Identifier: Apache-2.0
// Where an output position of a resize falls in the input: exact rational arithmetic, so that every
// evaluator picks the same neighbours.
#pragma once

#include "compiler/ops/op.h"

namespace tenon::compiler {

/// x(o) = (slope * o + offset) / divisor, in input pixels.
struct Resample
{
    int64_t slope = 1;
    int64_t offset = 0;
    int64_t divisor = 1; ///< positive
    int64_t input = 1;   ///< extents
    int64_t output = 1;

    tir::Expr numerator(const tir::Expr& o) const;
    /// Largest pixel at or before x, and x's distance from it in [0, 1).
    tir::Expr floorPixel(const tir::Expr& o) const;
    tir::Expr fraction(const tir::Expr& o, DataType dtype) const;
    /// Nearest pixel by ONNX's nearest_mode, not yet clamped.
    tir::Expr nearestPixel(const tir::Expr& o, std::string_view rounding) const;
    /// `pixel` limited to the input, simplified for o in [0, output).
    tir::Expr clamped(const tir::Expr& pixel, const tir::Expr& o) const;
};

/// By ONNX's coordinate_transformation_mode; `scale` as the model states it (0: output / input).
Resample makeResample(std::string_view mode, int64_t input, int64_t output, double scale);

/// True where the nearest pixel is the one that an output position lies in, of whole scales.
bool repeatsPixels(std::string_view mode, std::string_view rounding);

} // namespace tenon::compiler
