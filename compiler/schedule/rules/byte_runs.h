// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes where one instruction multiplies a run of them for one sum.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// True where the weights are laid out for it.
bool multipliesRuns(const Schedule& schedule, const std::string& conv, const ConvShape& shape);
/// `isFlat`: rows and columns are one axis.
void scheduleConvRuns(Schedule& schedule, const std::string& conv, const ConvSite& site,
                      bool isFlat, const TargetFacts& facts);

/// Loops for all rows of the convolution and for what follows it, inside the loops around them; the
/// result names the blocks that cannot follow.
std::vector<std::string> tileConvRuns(Schedule& schedule, const std::string& conv,
                                      const ConvSite& site, const TargetFacts& facts);

} // namespace tenon::compiler
