// SPDX-License-Identifier: Apache-2.0
// -machine=NAME,figure=number laid over the facts of a target.
#include "compiler/driver/machine_facts.h"

#include "core/base/option_code.h"
#include "core/target/machine_option.h"

namespace tenon::compiler {

Result<MachineFacts> machineFacts(const Target& target, const MachineSpec& machine)
{
    auto facts = targetFacts(machine);
    if (!facts) return facts.error();
    MachineFacts out{*facts, machineFigures(machine), {}, {}};
    const auto option = machineOption(target);
    if (!option) return option.error();
    if (*option && (*option)->machine) {
        out.choice = {(*option)->machine, false, {}};
        applyMachine(*out.choice.machine, out.facts);
    }
    if (out.choice.isNearest)
        out.remarks.push_back({Severity::Note,
                               OptionCode::NearestMachine,
                               nearestText(machine.cpu, out.choice),
                               {},
                               {}});
    if (!*option) return out;
    const bool hasTiles = facts->byteTileMacs > 0; // no figure gives a processor instructions
    out.given = (*option)->figures;
    if (const Status fine = applyFigures(out.given, out.facts); !fine) {
        Diagnostic warning = fine.error();
        warning.severity = Severity::Warning;
        out.remarks.push_back(std::move(warning));
    }
    if (!hasTiles) out.facts.byteTileMacs = 0;
    return out;
}

Status checkFigures(std::string_view text,
                    const std::vector<std::pair<std::string, double>>& figures)
{
    auto target = parseTarget(text);
    if (!target) return target.error();
    target->attributes.erase("machine");
    const auto machine = machineSpec(*target);
    if (!machine) return machine.error();
    auto known = machineFacts(*target, *machine);
    if (!known) return known.error();
    return applyFigures(figures, known->facts);
}

} // namespace tenon::compiler
