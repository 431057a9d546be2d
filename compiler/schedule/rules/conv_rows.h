// SPDX-License-Identifier: Apache-2.0
// Convolutions that are computed strip by strip, one behind the other: tiles for the rows that one
// strip needs.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// Register tiles for all rows of a blocked convolution and for what follows it, inside the loops
/// around them; the result names the blocks that cannot follow.
std::vector<std::string> tileConv2dRows(Schedule& schedule, const std::string& conv,
                                        const TargetFacts& facts);
/// The same for a blocked depthwise convolution.
std::vector<std::string> tileWindowRows(Schedule& schedule, const std::string& window,
                                        const TargetFacts& facts);
/// Lets a convolution read the planes of an image themselves, not padded copies: few sums per
/// element took as long as the copy, which waits for memory; false where it cannot.
bool inlinePlanePad(Schedule& schedule, const std::string& pad, const std::string& conv);
/// Lets a window of few columns read the image itself, not a padded copy; false where it cannot.
bool inlineWindowPad(Schedule& schedule, const std::string& pad, const std::string& window,
                     const TargetFacts& facts);

} // namespace tenon::compiler
