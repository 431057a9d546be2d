// SPDX-License-Identifier: Apache-2.0
// A transposed convolution with steps of s as convolutions: each of its s x s phases, every s-th
// row and column of the result, is made from taps of its own.
#pragma once

#include "core/ir/module.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// What one phase reads along an axis: taps first, first + stride, ... of the kernel, the last one
/// first, `dilation` pixels apart, beginning `before` pixels outside of the image. Less than none:
/// so many pixels of the image are not read.
struct AxisPhase
{
    int64_t stride = 1, first = 0, taps = 0;
    int64_t dilation = 1;
    int64_t before = 0, after = 0;
    int64_t results = 0;
};

/// Rows or columns of nn.conv2d_transpose.
struct TransposedAxis
{
    int64_t input, kernel, stride, padding, output;
    int64_t dilation = 1;

    /// With results; of fewer results than steps, each is a phase.
    int64_t phases() const;
    AxisPhase phase(int64_t index) const;
    /// Each phase has taps, and reads the whole image.
    bool hasPhases() const;
    /// Pixels [first, end) that the phase reads, none where it has no taps or meets only padding.
    std::pair<int64_t, int64_t> pixelsOf(const AxisPhase& phase) const;
};

/// Of axis 0, rows, or 1, columns, of a node whose weight has this shape.
TransposedAxis transposedAxis(const Module& module, const NodeRecord& node,
                              const std::vector<int64_t>& weight, size_t axis);

/// A convolution of the image with padding before and after it.
struct TransposedPhase
{
    AxisPhase rows, columns;

    std::vector<int64_t> padding() const;
    /// [C, O/groups, KH, KW] -> [O, C/groups, taps, taps].
    Tensor weightOf(const Tensor& weight, int64_t groups = 1) const;
};

/// Row by row, as join_phases takes them.
std::vector<TransposedPhase> phasesOf(const TransposedAxis& rows, const TransposedAxis& columns);

/// The same of a node, where it has no groups and no dilation, an image of known size and phases of
/// the whole image; none for any other.
std::vector<TransposedPhase> phasesOf(const Module& module, const NodeRecord& node,
                                      const std::vector<int64_t>& weight);

/// Integers [C, O, KH, KW] -> [O, C, KH, KW].
Tensor withOutputsFirst(const Tensor& weight);

} // namespace tenon::compiler
