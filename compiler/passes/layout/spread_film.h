// SPDX-License-Identifier: Apache-2.0
// A transposed convolution over three axes, which models write as the convolution of a film whose
// frames, rows and columns zeros were put between.
#pragma once

#include "compiler/passes/transposed_phases.h"

#include <array>
#include <optional>

namespace tenon::compiler {

using namespace core;

struct SpreadFilm
{
    ValueRef data;                      ///< [N, C, D, H, W]
    std::array<TransposedAxis, 3> axes; ///< frames, rows and columns

    /// Of nn.conv2d_transpose over rows and columns; none where it takes no such padding.
    std::optional<Attrs> planeAttrs() const;
    /// [O, C, KD, KH, KW] -> [taps * C, O, KH, KW], mirrored: the filters of a phase of the frames
    /// for its images side by side.
    Tensor filtersOf(const Tensor& weight, const AxisPhase& phase) const;
};

/// Of nn.conv without groups whose weight is constant, with at most its reach of zeros in front.
std::optional<SpreadFilm> spreadFilmOf(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
