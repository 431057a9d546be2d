// SPDX-License-Identifier: Apache-2.0
// All rows together, the row of a name, and the nearest kin of a processor without one.
#include "core/target/machine_table.h"

#include "core/base/text.h"
#include "core/target/machine_rows.h"

#include <algorithm>

namespace tenon::core {
namespace {

constexpr double kKiB = 1024;

/// "apple-*" stands for every name that begins so.
bool isKin(const Machine& machine, std::string_view cpu)
{
    const std::vector<std::string> kin = split(machine.kin, ' ');
    return std::any_of(kin.begin(), kin.end(), [&](const std::string& name) {
        if (name.empty()) return false;
        return name.back() == '*' ? cpu.starts_with(name.substr(0, name.size() - 1)) : name == cpu;
    });
}

/// The first row of the family that fulfils `is`.
template <class Predicate>
const Machine* firstOf(MachineFamily family, const Predicate& is)
{
    for (const Machine* machine : allMachines())
        if (machine->family == family && is(*machine)) return machine;
    return nullptr;
}

int64_t bytesOf(const Figure& kib) { return static_cast<int64_t>(kib.value * kKiB); }

} // namespace

std::vector<const Machine*> allMachines()
{
    std::vector<const Machine*> out;
    for (const std::span<const Machine> rows :
         {x86Machines(), armMachines(), armMMachines(), riscvMachines()})
        for (const Machine& row : rows) out.push_back(&row);
    return out;
}

const Machine* findMachine(std::string_view name)
{
    for (const Machine* machine : allMachines())
        if (machine->name == name) return machine;
    return nullptr;
}

std::vector<NamedFigure> figuresOf(const Machine& m)
{
    std::vector<NamedFigure> figures{
        {"clock_ghz", "GHz", m.clockGhz},
        {"float_macs", "multiply-adds of float32 per cycle", m.floatMacs},
        {"byte_macs", "multiply-adds of int8 per cycle", m.byteMacs},
        {"vector_pipes", "vector instructions per cycle", m.vectorPipes},
        {"issue_width", "instructions per cycle", m.issueWidth},
        {"loads", "loads per cycle", m.loads},
        {"sum_latency", "cycles", m.sumLatency},
        {"l1_bytes", "KiB", m.l1KiB},
        {"l1_bytes_per_cycle", "bytes per cycle", m.l1BytesPerCycle},
        {"l2_bytes", "KiB", m.l2KiB},
        {"l2_bytes_per_cycle", "bytes per cycle", m.l2BytesPerCycle},
        {"l3_bytes", "KiB", m.l3KiB},
        {"l3_bytes_per_cycle", "bytes per cycle", m.l3BytesPerCycle},
        {"memory_bytes_per_cycle", "bytes per cycle", m.memoryBytesPerCycle},
        {"cold_share", "of that", m.coldShare},
        {"fork_cycles", "cycles", m.forkCycles}};
    if (m.byteTileMacs.value > 0)
        figures.insert(
            figures.begin() + 3,
            {"byte_tile_macs", "multiply-adds of int8 per cycle, by tiles", m.byteTileMacs});
    return figures;
}

MachineChoice chooseMachine(MachineFamily family, std::string_view cpu,
                            const std::function<bool(std::string_view)>& hasFeature)
{
    const Machine* generic = firstOf(family, [&](const Machine& m) {
        return m.isGeneric() && (m.feature.empty() || hasFeature(m.feature));
    });
    const bool hasRows = firstOf(family, [](const Machine& m) { return !m.isGeneric(); });
    const bool isNamed =
        hasRows && !cpu.empty() && !cpu.starts_with("generic") && !cpu.starts_with("x86-64");
    if (const Machine* own = findMachine(cpu); own && isNamed) return {own, false, {}};
    const Machine* kin = firstOf(family, [&](const Machine& m) { return isKin(m, cpu); });
    const Machine* alike = firstOf(family, [&](const Machine& m) {
        return !m.isGeneric() && !m.feature.empty() && hasFeature(m.feature);
    });
    // Virtual machines of x86 claim models that lack what they have: a richer row is nearer then.
    const bool isDisguised =
        family == MachineFamily::X86 && kin && alike &&
        kin != firstOf(family, [&](const Machine& m) { return &m == kin || &m == alike; });
    if (isNamed && kin && !isDisguised) return {kin, true, "of the same kind"};
    if (isNamed && alike)
        return {alike, true, "which has " + std::string(alike->feature) + ", too"};
    return {generic, isNamed, "of any of its architecture"};
}

MachineChoice withoutHidden(MachineChoice choice,
                            const std::function<bool(std::string_view)>& hasFeature)
{
    const std::string_view needs = choice.machine->needs;
    if (needs.empty() || hasFeature(needs)) return choice;
    choice.machine = findMachine(choice.machine->without);
    return choice;
}

void applyMachine(const Machine& m, TargetFacts& facts)
{
    facts.floatMacs = m.floatMacs.value;
    facts.byteMacs = m.byteMacs.value;
    facts.byteTileMacs = m.byteTileMacs.value;
    facts.vectorPipes = m.vectorPipes.value;
    facts.issueWidth = m.issueWidth.value;
    facts.loads = m.loads.value;
    facts.sumLatency = m.sumLatency.value;
    facts.l1BytesPerCycle = m.l1BytesPerCycle.value;
    facts.memoryBytesPerCycle = m.memoryBytesPerCycle.value;
    facts.coldShare = m.coldShare.value;
    facts.forkCycles = m.forkCycles.value;
    facts.l3Bytes = bytesOf(m.l3KiB);
    facts.l3BytesPerCycle = m.l3KiB.value > 0 ? m.l3BytesPerCycle.value : facts.memoryBytesPerCycle;
    const bool hasSecond = m.l2KiB.value > 0;
    facts.l2BytesPerCycle = hasSecond ? m.l2BytesPerCycle.value : facts.memoryBytesPerCycle;
    // What stays beside the core is not a cache.
    if (m.family == MachineFamily::ArmM || m.l1KiB.value == 0) return;
    facts.l1Bytes = bytesOf(m.l1KiB);
    facts.l2Bytes = hasSecond ? bytesOf(m.l2KiB) : facts.l1Bytes;
}

std::string nearestText(std::string_view cpu, const MachineChoice& choice)
{
    // Where nothing says that there is such a processor, it may be a slip of the pen.
    std::vector<std::string> names;
    for (const Machine* machine : allMachines())
        if (choice.machine->isGeneric() && machine->family == choice.machine->family &&
            !machine->isGeneric())
            names.push_back(quoted(machine->name));
    const std::vector<std::string> nearest = nearestNames(quoted(cpu), names, 2);
    return "no figures of " + quoted(cpu) + ": those of " + std::string(choice.machine->title) +
           " are taken, " + choice.why +
           (nearest.empty() ? "" : "; nearest names are " + join(nearest, ", ")) +
           "; see `tenon targets --machine " + std::string(choice.machine->name) + "`";
}

} // namespace tenon::core
