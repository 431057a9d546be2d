// SPDX-License-Identifier: Apache-2.0
// Weights of recurrent operators in the order in which their kernels read them at every step.
#pragma once

#include "compiler/passes/layout/layout_values.h"

namespace tenon::compiler {

/// Columns of constant weights in tiles, so that a step reads one run of memory after the other;
/// false where they are no constants or in tiles already, or where no width of tiles fits.
bool packRecurrentWeight(const Module& module, const NodeRecord& node, LayoutValues& values,
                         PatchWriter& patch, const TargetFacts& facts);

} // namespace tenon::compiler
