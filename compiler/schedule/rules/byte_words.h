// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes where instructions multiply words of them and there are no vectors.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// True where weights are words and registers hold no more than one.
bool multipliesWords(const ConvShape& shape, const TargetFacts& facts);
/// `isFlat`: rows and columns are one axis.
void scheduleConvWords(Schedule& schedule, const std::string& conv, const ConvSite& site,
                       bool isFlat, const TargetFacts& facts);

/// Loops for all rows of the convolution and for what follows it, inside the loops around them; the
/// result names the blocks that cannot follow.
std::vector<std::string> tileConvWords(Schedule& schedule, const std::string& conv,
                                       const ConvSite& site, const TargetFacts& facts);

} // namespace tenon::compiler
