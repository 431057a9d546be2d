// SPDX-License-Identifier: Apache-2.0
// The facts that a target is compiled with: the machine's, and what its -machine says of it.
#pragma once

#include "compiler/codegen/back_end.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::compiler {

struct MachineFacts
{
    TargetFacts facts;
    MachineChoice choice; ///< whose figures they begin with
    /// What the target's -machine gives in their place.
    std::vector<std::pair<std::string, double>> given;
    /// A note where the processor has no row, a warning where measured figures contradict
    /// themselves.
    std::vector<Diagnostic> remarks;
};

Result<MachineFacts> machineFacts(const Target& target, const MachineSpec& machine);

/// Whether a target could be compiled for with these figures in place of the table's. Errors: those
/// of the target, ContradictoryFacts.
Status checkFigures(std::string_view target,
                    const std::vector<std::pair<std::string, double>>& figures);

} // namespace tenon::compiler
