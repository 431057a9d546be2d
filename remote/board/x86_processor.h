// SPDX-License-Identifier: Apache-2.0
// LLVM's name of an x86 processor by its family and model.
#pragma once

#include <string>
#include <vector>

namespace tenon::remote {

/// What /proc/cpuinfo says of a processor.
struct X86Identity
{
    std::string vendor; ///< "GenuineIntel"
    unsigned family = 0;
    unsigned model = 0;
};

/// "znver3"; empty when it is not known. `features` are the kernel's names, sorted: one model
/// number stands for three processors.
std::string x86ProcessorName(const X86Identity& identity, const std::vector<std::string>& features);
/// Every name that x86ProcessorName() can give.
std::vector<std::string> x86ProcessorNames();

} // namespace tenon::remote
