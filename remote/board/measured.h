// SPDX-License-Identifier: Apache-2.0
// Measured: what a board's server found out of its machine, and the target that carries it.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::remote {

struct Measured
{
    double clockGhz = 0;                                 ///< 0: not known
    std::vector<std::pair<std::string, double>> figures; ///< by the names that -machine has
};

/// Reads lines "name value"; names that this build does not know are skipped. BoardFailure: nothing
/// could be read.
core::Result<Measured> parseMeasured(std::string_view text);

/// The figures of a target's -machine that are numbers, as it has them; empty: none.
std::string figuresOf(const std::string& target);
/// The target with these in their place; empty: without.
core::Result<std::string> withFigures(const std::string& target, const std::string& figures);

/// The target with what was measured. ContradictoryFacts: no machine is like that.
core::Result<std::string> measuredTarget(const std::string& target, const Measured& measured);

} // namespace tenon::remote
