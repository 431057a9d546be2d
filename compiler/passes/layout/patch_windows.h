// SPDX-License-Identifier: Apache-2.0
// PatchWindow: which elements of an image the windows of a patch of results reach.
#pragma once

#include "compiler/passes/transposed_phases.h"
#include "core/ir/module.h"

#include <array>
#include <vector>

namespace tenon::compiler {

using namespace core;

struct PatchWindow
{
    std::vector<int64_t> patch;  ///< rows and columns that are read
    std::vector<int64_t> step;   ///< from one patch to the next
    std::vector<int64_t> before; ///< of the first patch before the image

    Attrs attrs() const; ///< of a cut_patches
};

/// Of windows of `kernel` elements for results of `sides`.
PatchWindow patchWindow(const NodeRecord& node, const std::vector<int64_t>& kernel,
                        const std::array<int64_t, 2>& sides);

/// Results of a transposed convolution are those at i * s + k * d - p of the elements i: a patch of
/// `steps` * s of them comes from so many that begin `before` the patch's own.
struct TransposedWindow
{
    PatchWindow window;
    std::vector<int64_t> padding; ///< of the convolution of the patch: what leaves it
    std::vector<int64_t> extra;   ///< and what it adds behind it
};

TransposedWindow transposedWindow(const NodeRecord& node, const std::array<TransposedAxis, 2>& axes,
                                  const std::array<int64_t, 2>& steps);

} // namespace tenon::compiler
