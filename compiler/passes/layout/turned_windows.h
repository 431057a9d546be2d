// SPDX-License-Identifier: Apache-2.0
// Windows over images with rows and columns exchanged.
#pragma once

#include "compiler/passes/rewrite.h"

namespace tenon::compiler {

/// Convolutions of plain images, forwards and transposed, of floats and of integers.
bool isPlainConvolution(const NodeRecord& node);
/// Largest elements and means of windows or of whole images, plain ones.
bool isPlainPool(const NodeRecord& node);

/// What `node`, one of these, computes of [N, C, H, W], computed of `image`, [N, C, W, H], which
/// has the same values: [N, O, OW, OH] of a kernel that is turned, too.
ValueRef turnedWindow(const Module& module, PatchWriter& patch, const NodeRecord& node,
                      ValueRef image);

/// Whether `node` is a convolution, without groups, whose kernel is as wide as the image, so that
/// the result is a column, [N, O, OH, 1] with OH above 1.
bool spansRows(const Module& module, const NodeRecord& node);
/// What such a node computes, as [N, O, 1, OH], with the columns of its image as channels.
ValueRef columnsAsChannels(const Module& module, PatchWriter& patch, const NodeRecord& node);

} // namespace tenon::compiler
