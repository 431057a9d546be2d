// SPDX-License-Identifier: Apache-2.0
// A transposed convolution with steps of s as one convolution: all results that a window of the
// image makes, s x s of them per channel, are its channels. Where channels are few, this fills
// vectors.
#pragma once

#include "compiler/passes/rewrite.h"
#include "compiler/passes/transposed_phases.h"

#include <array>
#include <optional>

namespace tenon::compiler {

/// The windows of the image along an axis.
struct WindowAxis
{
    int64_t stride = 1;
    int64_t taps = 1;   ///< of a window
    int64_t before = 0; ///< pixels that the first window begins outside of the image
    int64_t after = 0;
    int64_t cut = 0; ///< results of the first window that the padding takes
    int64_t results = 0;

    int64_t count() const { return (cut + results + stride - 1) / stride; }
};

/// Rows and columns.
class TransposedWindows
{
public:
    TransposedWindows(std::array<WindowAxis, 2> axes, int64_t groups)
        : m_axes(axes)
        , m_groups(groups)
    {
    }

    /// Results of a window for each channel.
    int64_t phases() const { return m_axes[0].stride * m_axes[1].stride; }
    /// Of a window.
    int64_t taps() const { return m_axes[0].taps * m_axes[1].taps; }
    const std::array<WindowAxis, 2>& axes() const { return m_axes; }
    /// Of the convolution.
    std::vector<int64_t> padding() const;
    int64_t groups() const { return m_groups; }
    /// [C, O, KH, KW] -> [groups * s * s * O, C / groups, taps, taps]; zeros where a phase has no
    /// such tap.
    Tensor weightOf(const Tensor& weight) const;
    /// The image [N, groups * O, H, W] of the convolution's results [N, groups * s * s * O, h, w].
    ValueRef imageOf(PatchWriter& patch, ValueRef windows, int64_t channels) const;

private:
    std::array<WindowAxis, 2> m_axes;
    int64_t m_groups;
};

/// Of nn.conv2d_transpose whose weight has this shape; nothing where it has dilation, an image of
/// unknown size, or windows inside of it only.
std::optional<TransposedWindows> transposedWindows(const Module& module, const NodeRecord& node,
                                                   const std::vector<int64_t>& weight);

} // namespace tenon::compiler
