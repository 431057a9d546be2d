// SPDX-License-Identifier: Apache-2.0
// What /proc/cpuinfo means: the processor's name, and its features by the kernel's and LLVM's
// names.
#pragma once

#include "remote/board/board_facts.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

struct Processor
{
    std::string llvmName; ///< empty: not known, generic code is compiled
    std::string title;
};

/// `machine` as uname -m says it.
Processor processorOf(const std::string& machine, const std::string& cpuinfo);
/// Names of the Features, flags or isa line, sorted.
std::vector<std::string> hwcapFeatures(const std::string& machine, const std::string& cpuinfo);
/// LLVM triple of programs for the machine, empty without a code generator.
std::string tripleOf(const std::string& machine, bool isHardFloat);

/// A processor feature by its two names.
struct FeatureName
{
    std::string_view llvm;   ///< "dotprod"
    std::string_view kernel; ///< "asimddp"
};
/// Features of the machine that compiled code may need and a processor may lack.
std::vector<FeatureName> namedFeatures(const std::string& machine);
/// Those of them that a person looks for: what makes models fast.
std::vector<FeatureName> notableFeatures(const std::string& machine);
/// "+v", "-avx512f" and the like: where the board differs from `implied`, what LLVM takes the
/// named processor to have.
std::vector<std::string> featureOptions(const BoardFacts& facts,
                                        const std::vector<std::string>& implied);

} // namespace tenon::remote
