// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of plain images, whose columns lie side by side.
#pragma once

#include "compiler/schedule/rules/rule.h"

namespace tenon::compiler {

/// Loops for the convolution and everything around it; false where `conv` reads more than one
/// channel for a result or its rows are no vectors, and nothing was done.
bool scheduleDepthwisePlain(Schedule& schedule, const std::string& conv, const TargetFacts& facts);

} // namespace tenon::compiler
