// SPDX-License-Identifier: Apache-2.0
// Windows of convolutions and poolings over [N, C, H, W]: SAME and VALID become explicit padding.
#pragma once

#include "compiler/frontend/tflite/graph/tflite_node.h"

namespace tenon::compiler {

struct PictureWindow
{
    std::vector<int64_t> kernel, strides{1, 1}, dilations{1, 1};
    std::vector<int64_t> padding{0, 0, 0, 0}; ///< top, left, bottom, right

    /// strides, padding and dilation as operators take them.
    Attrs attrs() const;
};

/// Where an operator's options have what a window needs; -1: none.
struct WindowFields
{
    int padding, strideW, strideH, dilationW = -1, dilationH = -1;
};

struct WindowAxis
{
    int64_t extent; ///< of the data
    int64_t kernel, stride, dilation;
};

/// Rows or columns of a transposed convolution cut off before and behind, and added behind.
struct TransposedCrop
{
    int64_t before, behind, added;
};
/// For `out` rows or columns of `axis`, whose dilation is 1.
TransposedCrop transposedCrop(const WindowAxis& axis, int64_t out, bool isSame);

/// Fails for a window, a stride or a dilation of no use.
bool isUsable(TfliteNode& node, const WindowAxis& axis);
/// What SAME adds along the axis, before and behind together.
int64_t samePadding(const WindowAxis& axis);

struct WindowSizes
{
    std::vector<int64_t> kernel, strides{1, 1}, dilations{1, 1}; ///< rows, columns
    bool isSame = true;                                          ///< else VALID
};

/// The window over input `data`. Fails for sizes that are not usable, or rows and columns of
/// unknown size.
PictureWindow windowOf(TfliteNode& node, const WindowSizes& sizes, size_t data);
PictureWindow windowOf(TfliteNode& node, const WindowFields& fields, size_t data,
                       std::vector<int64_t> kernel);

} // namespace tenon::compiler
