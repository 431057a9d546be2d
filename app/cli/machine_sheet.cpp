// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of processors, targets and the facts that cost models read.
#include "app/cli/machine_sheet.h"

#include "compiler/driver/machine_facts.h"
#include "core/base/text.h"
#include "core/target/machine_option.h"
#include "core/target/target_facts_fields.h"

#include <algorithm>

namespace tenon::cli {
namespace {

constexpr MachineFamily kFamilies[] = {
    MachineFamily::X86,   MachineFamily::Arm64,       MachineFamily::Arm32,  MachineFamily::ArmM,
    MachineFamily::RiscV, MachineFamily::WebAssembly, MachineFamily::Hexagon};

std::string sourceText(const Figure& figure)
{
    return figure.isEstimated() ? "estimated" : std::string(figure.source);
}

/// A row, or that of the nearest processor of a known kind.
Result<MachineChoice> machineOf(const std::string& name)
{
    if (const Machine* row = findMachine(name)) return MachineChoice{row, false, {}};
    for (const MachineFamily family : kFamilies) {
        const MachineChoice choice =
            chooseMachine(family, name, [](std::string_view) { return false; });
        if (choice.isNearest && !choice.machine->isGeneric()) return choice;
    }
    std::vector<std::string> names;
    for (const Machine* machine : allMachines()) names.emplace_back(machine->name);
    std::vector<std::string> nearest = nearestNames(name, names, 3);
    for (std::string& each : nearest) each = core::quoted(each);
    return makeError(DiagnosticCode::UnknownName,
                     "no figures are known of " + core::quoted(name) + "; nearest are " +
                         join(nearest, ", ") + "; a target string shows what is taken instead");
}

int listMachines(const CommonOptions& common)
{
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows;
    for (const Machine* machine : allMachines()) {
        const auto figures = figuresOf(*machine);
        const auto estimated =
            std::count_if(figures.begin(), figures.end(),
                          [](const NamedFigure& each) { return each.figure.isEstimated(); });
        list.push_back(machineJson(*machine));
        rows.push_back({std::string(machine->name), " " + std::string(machine->title),
                        " " + std::to_string(figures.size() - static_cast<size_t>(estimated)) +
                            " of " + std::to_string(figures.size()) + " figures with a source"});
    }
    common.json ? printJson({{"machines", std::move(list)}}) : print(table(rows));
    return kSuccess;
}

/// The facts that a target is compiled with, and whose they are.
int showTarget(const std::string& text, const CommonOptions& common)
{
    const auto target = parseTarget(text);
    if (!target) return failure(target.error());
    const auto machine = compiler::machineSpec(*target);
    if (!machine) return failure(machine.error());
    const auto known = compiler::machineFacts(*target, *machine);
    if (!known) return failure(known.error());
    printDiagnostics(known->remarks);
    const auto given = machineText(known->given);
    if (common.json)
        printJson({{"machine", machineJson(*known->choice.machine)},
                   {"given", given},
                   {"facts", factsJson(known->facts)}});
    else
        print(machineSheet(*known->choice.machine) +
              (given.empty() ? "" : "in their place, by -machine: " + given + "\n"));
    return kSuccess;
}

} // namespace

Json factsJson(const TargetFacts& facts)
{
    Json out = Json::object();
    visitFields(facts, [&](const char* name, const auto& value) { out[name] = value; });
    return out;
}

Json machineJson(const Machine& machine)
{
    Json figures = Json::array();
    for (const NamedFigure& each : figuresOf(machine))
        figures.push_back({{"name", each.name},
                           {"value", each.figure.value},
                           {"unit", each.unit},
                           {"source", each.figure.source},
                           {"estimated", each.figure.isEstimated()}});
    return {{"name", machine.name}, {"title", machine.title}, {"figures", std::move(figures)}};
}

std::string machineSheet(const Machine& machine)
{
    std::vector<std::vector<std::string>> rows;
    for (const NamedFigure& each : figuresOf(machine)) {
        const bool isNone = each.figure.value == 0; // a cache that is not there
        rows.push_back({"  " + std::string(each.name), isNone ? "" : exact(each.figure.value),
                        isNone ? " none" : " " + std::string(each.unit),
                        isNone ? "" : " " + sourceText(each.figure)});
    }
    return std::string(machine.title) + " (" + std::string(machine.name) + ")\n" + table(rows);
}

int showMachine(const std::string& name, const CommonOptions& common)
{
    if (name == "all") return listMachines(common);
    if (name.find(' ') != std::string::npos) return showTarget(name, common);
    const auto choice = machineOf(name);
    if (!choice) return failure(choice.error());
    if (common.json) {
        printJson({{"machine", machineJson(*choice->machine)}, {"nearest", choice->isNearest}});
        return kSuccess;
    }
    print((choice->isNearest ? nearestText(name, *choice) + "\n" : std::string()) +
          machineSheet(*choice->machine));
    return kSuccess;
}

} // namespace tenon::cli
