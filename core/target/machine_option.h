// SPDX-License-Identifier: Apache-2.0
// -machine of a target: whose figures the cost models take, and figures that were measured.
#pragma once

#include "core/target/machine_table.h"
#include "core/target/target.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::core {

/// "cortex-a72,l2_bytes=524288": a row of the table, fields of TargetFacts, or both.
struct MachineOption
{
    const Machine* machine = nullptr; ///< null: the row that the processor has anyway
    std::vector<std::pair<std::string, double>> figures;
};

/// Of the target; nothing where it has no such option. BadTarget: no such row, no such figure, no
/// number.
Result<std::optional<MachineOption>> machineOption(const Target& target);

/// "l1_bytes=32768,..." of what was measured, for the option.
std::string machineText(const std::vector<std::pair<std::string, double>>& figures);

/// Names of the figures that can be given, as visitFields() has them.
std::vector<std::string> measurableFigures();

/// Puts the figures in the place of the table's. ContradictoryFacts, with the facts as they were:
/// no machine is like that.
Status applyFigures(const std::vector<std::pair<std::string, double>>& figures, TargetFacts& facts);

/// What contradicts itself: a smaller cache behind a larger one, a slower one before a faster one,
/// what is not a positive number.
Status checkFacts(const TargetFacts& facts);

} // namespace tenon::core
