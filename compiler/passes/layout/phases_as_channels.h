// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of few results, which by themselves fill no vector.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>

namespace tenon::compiler {

/// A transposed convolution [N, C, H, W] with weights [C, O, KH, KW] (plain: constant float32, no
/// groups, no dilation) and steps of s as one convolution of s x s x O channels, one for every
/// result of a window of the image: all phases read the same window, of ~KH/s x ~KW/s pixels. The
/// channels are then laid out as pixels, and what the padding takes is cut off. Nothing where it
/// takes pixels of the image.
std::optional<Patch> phasesAsChannels(const Module& module, const GraphFunction& function,
                                      const NodeRecord& node);

} // namespace tenon::compiler
