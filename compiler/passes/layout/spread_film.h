// SPDX-License-Identifier: Apache-2.0
// A transposed convolution over three axes, which models write as the convolution of a film whose
// frames, rows and columns zeros were put between.
#pragma once

#include "core/ir/module.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Every stride-th result of an axis, a phase, reads `taps` elements one behind the other, the
/// first `before` elements outside of the data, by every stride-th tap of the kernel from `first`.
struct SpreadPhase
{
    int64_t first, taps, before;
};

/// One axis: elements apart by `stride`, with `before` and `after` zeros around them, under a
/// kernel.
struct SpreadAxis
{
    int64_t input, stride, before, after, kernel;

    int64_t results() const { return (input - 1) * stride + 1 + before + after - kernel + 1; }
    SpreadPhase phase(int64_t index) const;
};

struct SpreadFilm
{
    ValueRef data; ///< [N, C, D, H, W]
    std::array<SpreadAxis, 3> axes;

    /// Of nn.conv2d_transpose over rows and columns; none where it takes no such padding.
    std::optional<Attrs> planeAttrs() const;
    /// [O, C, KD, KH, KW] -> [taps * C, O, KH, KW], mirrored: the filters of a phase of the frames
    /// for its images side by side.
    Tensor filtersOf(const Tensor& weight, const SpreadPhase& phase) const;
};

/// Of nn.conv without groups whose weight is constant.
std::optional<SpreadFilm> spreadFilmOf(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
