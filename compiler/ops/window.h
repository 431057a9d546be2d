// SPDX-License-Identifier: Apache-2.0
// Window: the sliding window of convolutions and poolings over two spatial axes.
#pragma once

#include "compiler/ops/layout.h"
#include "compiler/ops/shapes.h"

#include <array>

namespace tenon::compiler {

/// Height first, then width.
struct Window
{
    std::array<int64_t, 2> kernel{1, 1};
    std::array<int64_t, 2> stride{1, 1};
    std::array<int64_t, 2> dilation{1, 1};
    std::array<int64_t, 2> padBegin{0, 0};
    std::array<int64_t, 2> padEnd{0, 0};
    bool roundsUp = false; ///< a last window that starts inside may reach beyond the padding

    int64_t reach(size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
};

inline constexpr AttrSpec kStridesAttr = {"strides", "int[2]", "step of the window", "[1, 1]"};
inline constexpr AttrSpec kZeroPaddingAttr = {
    "padding", "int[4]", "zeros added at top, left, bottom, right", "[0, 0, 0, 0]"};
inline constexpr AttrSpec kDilationAttr = {"dilation", "int[2]",
                                           "distance of the kernel's elements", "[1, 1]"};

/// Reads strides, padding (top, left, bottom, right) and dilation; BadAttribute when senseless.
Result<Window> readWindow(const OpView& op, std::array<int64_t, 2> kernel);

/// Extents of the output along both axes; ShapeMismatch when the window does not fit.
Result<std::array<Dim, 2>> windowOutputs(const OpView& op, const Window& window, const Dim& height,
                                         const Dim& width);

/// `data` with `fill` around dimensions `axis` and `axis` + 1 so that `outputs` windows fit; `data`
/// itself when nothing is to be added. The declaration is named "pad" and tagged "pad".
te::TensorRef padForWindow(const te::TensorRef& data, size_t axis, const Window& window,
                           const std::array<tir::Expr, 2>& outputs, const tir::Expr& fill);

/// True where each window of 1 x 1 reads a point that the next one is not beside.
bool skipsPoints(const Window& window);

/// The points that windows of 1 x 1 read, side by side in dimensions `axis` and `axis` + 1 of as
/// many `outputs`: tiles may then cross rows, and no cache line is half used. Named "points",
/// tagged "pad".
te::TensorRef pointsOfWindow(const te::TensorRef& data, size_t axis, const Window& window,
                             const std::array<tir::Expr, 2>& outputs);

/// Row or column that window position `output` reads with kernel element `k`, in padded data.
tir::Expr windowIndex(const Window& window, size_t i, const tir::Expr& output, const tir::Expr& k);

/// Facts for schedule rules: kernel_size, strides, dilation.
Attrs windowFacts(const Window& window);

/// NCHW or NCHW<x>c; BadAttribute otherwise.
Result<Layout> readDataLayout(const OpView& op, std::string_view attr);

struct BlockedLayouts
{
    Layout data, out, kernel;
};
/// Of a convolution of blocked data, [N, C/i, H, W, i], with a kernel of six axes and one type.
Result<BlockedLayouts> readBlockedLayouts(const OpView& op);

} // namespace tenon::compiler
