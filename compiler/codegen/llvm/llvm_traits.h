// SPDX-License-Identifier: Apache-2.0
// LlvmTraits: what a back end says of its processors that LLVM's tables do not, or not in time.
#pragma once

#include "compiler/codegen/llvm/expand_missing.h"
#include "compiler/codegen/machine_spec.h"
#include "core/target/machine_table.h"
#include "core/target/target_facts.h"

#include <optional>
#include <string_view>

namespace llvm {
class MCSubtargetInfo;
class Module;
} // namespace llvm

namespace tenon::compiler {

extern const BackEnd llvmBackEnd; ///< of all processors that have no folder of their own

struct LlvmTraits
{
    std::string_view triple = {}; ///< of targets that name none; empty: this computer's
    std::string_view cpu = {};    ///< likewise; empty: as LLVM's architecture has it
    Status (*check)(const MachineSpec&) = nullptr; ///< what no code is generated for
    void (*addFacts)(const llvm::MCSubtargetInfo&, TargetFacts&) = nullptr;
    std::optional<MachineFamily> family =
        {};                       ///< in the table of machines; none: as the triple says
    const Lacks* lacks = nullptr; ///< null: as the processor's features say
    bool lacksHalf = false;       ///< there are no conversions from and to 16-bit floats
    bool isPlaced = false;        ///< memory is the code's own: nothing is ever moved
    void (*addBuiltins)(llvm::Module&) = nullptr; ///< functions that LLVM's code calls
};

} // namespace tenon::compiler
