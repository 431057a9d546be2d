// SPDX-License-Identifier: Apache-2.0
// Resampling one axis at a time, the two last ones of pictures together: by neighbours of each
// element where a formula says which, by sums of few weighed elements, or by a matrix.
#pragma once

#include "compiler/frontend/import/node_import.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// How a tensor is resampled.
struct Resampling
{
    std::string method;         ///< nearest, linear, cubic
    std::string transformation; ///< of positions: half_pixel, asymmetric, align_corners, ..
    std::string rounding = "round_prefer_floor";
    double cubicAlpha = -0.75;
    bool excludesOutside = false;
    bool isAntialiased = false;
    double extrapolation = 0; ///< beyond the input, with tf_crop_and_resize
};

/// One axis of a resize.
struct ResampledAxis
{
    int64_t input = 1;
    int64_t output = 1;
    double scale = 1;
    double roiBegin = 0; ///< tf_crop_and_resize: the part of the axis, as fractions of it
    double roiEnd = 1;
};

/// The pixel that a position is rounded to, by one of Resize's ways.
int64_t nearestPixel(double source, const std::string& rounding);

/// Of image.resize2d, for rows and columns resampled together.
Attrs resizeAttrs(const ResampledAxis& rows, const ResampledAxis& columns, const Resampling& how);

/// Input 0 of the node with every axis resampled.
ValueRef resampledAxes(NodeImport& node, const std::vector<ResampledAxis>& axes,
                       const Resampling& how);

} // namespace tenon::compiler
