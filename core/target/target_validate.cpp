// SPDX-License-Identifier: Apache-2.0
// Checks a target's CPU and features against the tables of a code generator.
#include "core/base/text.h"
#include "core/target/machine_table.h"
#include "core/target/target.h"

#include <algorithm>

namespace tenon::core {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string nearestText(std::string_view name, const std::vector<std::string>& candidates)
{
    std::vector<std::string> nearest = nearestNames(name, candidates, 5);
    for (std::string& candidate : nearest) candidate = quoted(candidate);
    return nearest.empty() ? "nothing is known for this triple"
                           : "nearest are " + join(nearest, ", ");
}

/// Of a processor that another machine has, where that is what was meant.
std::string elsewhereText(std::string_view cpu, const std::vector<std::string>& here)
{
    std::vector<std::string> names = here;
    for (const Machine* machine : allMachines())
        if (!machine->isGeneric()) names.emplace_back(machine->name);
    const std::string nearest = nearestNames(cpu, names, 1).front();
    if (contains(here, nearest)) return {};
    return "; " + quoted(nearest) + " is of another machine: name that with -mtriple" +
           (findMachine(nearest)->family == MachineFamily::ArmM ? ", or take target kind `c`" : "");
}

} // namespace

std::string llvmCpuName(const Target& target)
{
    if (target.kind == "hexagon" && target.mcpu.starts_with('v')) return "hexagon" + target.mcpu;
    // The C compiler's "+nodsp" suffixes are features to LLVM, not part of the name.
    return target.mcpu.substr(0, target.mcpu.find('+'));
}

std::vector<Diagnostic> validateTarget(const Target& target, const CpuTables& tables)
{
    std::vector<Diagnostic> problems;
    const std::string where = target.mtriple.empty() ? "this computer" : quoted(target.mtriple);
    const std::string cpu = llvmCpuName(target);
    const bool named = !cpu.empty() && cpu != "native" && cpu != "generic";
    if (named && !contains(tables.cpus, cpu))
        problems.push_back(makeError(DiagnosticCode::BadTarget,
                                     "unknown CPU " + quoted(target.mcpu) + " for " + where + "; " +
                                         nearestText(cpu, tables.cpus) +
                                         elsewhereText(cpu, tables.cpus),
                                     {.detail = "mcpu"}));
    for (const std::string& feature : target.mattr) {
        const std::string name = feature.substr(1);
        if (contains(tables.features, name)) continue;
        problems.push_back(makeError(DiagnosticCode::UnknownFeature,
                                     "unknown processor feature " + quoted(name) + " for " + where +
                                         "; " + nearestText(name, tables.features),
                                     {.detail = "mattr"}));
    }
    return problems;
}

} // namespace tenon::core
