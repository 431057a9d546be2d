// SPDX-License-Identifier: Apache-2.0
// Convolutions whose sums are computed part by part of the weights, each part for all rows.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// Parts of the input channels: more than one where few rows pass over weights that come from
/// memory, which then is asked for the next part while one is in use.
int64_t weightParts(const Schedule& schedule, const ConvSite& site, Walk walk,
                    const TargetFacts& facts);
/// Loops for the convolution, whose sums are in registers, and for everything after it.
void scheduleByParts(Schedule& schedule, const std::string& conv, const ConvSite& site, Walk walk,
                     const TargetFacts& facts);

} // namespace tenon::compiler
