// SPDX-License-Identifier: Apache-2.0
// Machine: what is known of a processor beyond its instructions, one row each, every figure with
// its source; and the choice of a row for a processor that has none.
#pragma once

#include "core/target/target_facts.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// A number and who says so. Without a source it is estimated, and shown as such.
struct Figure
{
    double value = 0;
    std::string_view source = {};

    constexpr bool isEstimated() const { return source.empty(); }
};

enum class MachineFamily : uint8_t
{
    X86,
    Arm64,
    Arm32,
    ArmM, ///< Cortex-M
    RiscV,
    WebAssembly,
    Hexagon
};

/// Rates are per cycle of one core.
struct Machine
{
    std::string_view name;  ///< LLVM's -mcpu, or "generic-arm64" and the like
    std::string_view title; ///< "Arm Cortex-A72"
    MachineFamily family;
    /// Processors without a row whose nearest this is, by name; "x-*" stands for all that begin so.
    std::string_view kin = {};
    /// LLVM's feature that makes this row the nearest of processors that nobody names as kin; of a
    /// generic row, what a processor without a name must have.
    std::string_view feature = {};
    /// LLVM's feature that its rates come from, and the row that holds where a virtual machine
    /// hides it; empty: none that is hidden.
    std::string_view needs = {}, without = {};
    Figure clockGhz;
    Figure floatMacs, byteMacs;
    Figure byteTileMacs = {}; ///< 0: it multiplies no tiles
    Figure vectorPipes, issueWidth, loads, sumLatency;
    Figure l1KiB, l1BytesPerCycle;
    Figure l2KiB, l2BytesPerCycle;
    Figure l3KiB, l3BytesPerCycle; ///< 0 KiB: there is none
    Figure memoryBytesPerCycle;
    Figure coldShare = {8.0 / 9}; ///< of what a stream reads that is asked for in time
    Figure forkCycles;

    constexpr bool isGeneric() const { return name.starts_with("generic-"); }
};

/// All rows; those of a family side by side, its generic ones last.
std::vector<const Machine*> allMachines();
const Machine* findMachine(std::string_view name);

/// The figures of a row by name, unit and meaning, for whoever shows them.
struct NamedFigure
{
    std::string_view name; ///< of the field of TargetFacts that follows from it, or "clock_ghz"
    std::string_view unit;
    Figure figure;
};
std::vector<NamedFigure> figuresOf(const Machine& machine);

/// Which row stands for a processor.
struct MachineChoice
{
    const Machine* machine = nullptr;
    bool isNearest = false; ///< the processor has a name, but no row
    std::string why;        ///< then: "of the same kind", "has avx2, too"
};

/// The row of the processor; else its nearest: by name, then by features, then the generic one.
MachineChoice chooseMachine(MachineFamily family, std::string_view cpu,
                            const std::function<bool(std::string_view)>& hasFeature);

/// The row that holds for a processor which may lack features of its kind, as virtual machines do.
MachineChoice withoutHidden(MachineChoice choice,
                            const std::function<bool(std::string_view)>& hasFeature);

/// Writes what cost models need into the facts; vectors and registers stay as they are.
void applyMachine(const Machine& machine, TargetFacts& facts);

/// "no figures of cortex-a73: those of Arm Cortex-A72 are taken (of the same kind)".
std::string nearestText(std::string_view cpu, const MachineChoice& choice);

} // namespace tenon::core
