// SPDX-License-Identifier: Apache-2.0
// Chains of quantized convolutions that exist to save memory: of what lies between two of them only
// a strip of rows is ever held.
#pragma once

#include "compiler/passes/fuse/fusion_groups.h"

namespace tenon::compiler {

/// Joins groups around blocked convolutions of bytes where what they read and write is the most
/// that any group needs, as long as that becomes less; rows that two strips need are computed
/// twice, which may not take more than 1.3 times the multiply-adds of the function.
std::vector<FusionGroup> joinMemoryChains(const Module& module, const GraphFunction& function,
                                          std::vector<FusionGroup> groups);

/// Joins what quantizes a function's input with the convolution behind it, whose padding then reads
/// the floats: nobody holds all bytes of the image.
std::vector<FusionGroup> joinQuantizedInputs(const Module& module, const GraphFunction& function,
                                             std::vector<FusionGroup> groups);

} // namespace tenon::compiler
