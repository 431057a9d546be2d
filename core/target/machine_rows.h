// SPDX-License-Identifier: Apache-2.0
// The rows of the table of machines by family; machine_table.h is what others read.
#pragma once

#include "core/target/machine_table.h"

#include <span>

namespace tenon::core {

std::span<const Machine> x86Machines();
std::span<const Machine> armMachines();
std::span<const Machine> armMMachines();
std::span<const Machine> riscvMachines();

/// A row for another processor with the same core, but for the size of its second-level cache.
constexpr Machine sameCore(Machine row, std::string_view name, std::string_view title, Figure l2KiB)
{
    row.name = name;
    row.title = title;
    row.kin = row.feature = {};
    row.l2KiB = l2KiB;
    return row;
}

/// The row of a processor whose wide vectors are hidden.
constexpr Machine hiding(const Machine& own, std::string_view title, double floatMacs,
                         double byteMacs, double l1BytesPerCycle)
{
    Machine row = own;
    row.name = own.without;
    row.title = title;
    row.kin = row.feature = row.needs = row.without = {};
    row.floatMacs = {floatMacs};
    row.byteMacs = {byteMacs};
    row.l1BytesPerCycle = {l1BytesPerCycle};
    return row;
}

} // namespace tenon::core
