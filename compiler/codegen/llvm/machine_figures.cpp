// SPDX-License-Identifier: Apache-2.0
// Which row of the table of machines a processor of LLVM's has.
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"
#include "compiler/codegen/llvm/target_machine.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace tenon::compiler {
namespace {

MachineFamily familyOf(const MachineSpec& spec)
{
    if (const auto family = spec.backEnd->llvm->family) return *family;
    const llvm::Triple triple(spec.triple);
    if (triple.isX86()) return MachineFamily::X86;
    if (triple.isAArch64()) return MachineFamily::Arm64;
    if (triple.isRISCV()) return MachineFamily::RiscV;
    return spec.cpu.starts_with("cortex-m") ? MachineFamily::ArmM : MachineFamily::Arm32;
}

} // namespace

MachineChoice llvmFigures(const MachineSpec& spec)
{
    const auto machine = createTargetMachine(spec);
    const auto hasFeature = [&](std::string_view feature) {
        const std::string wanted = "+" + std::string(feature);
        const llvm::MCSubtargetInfo* info = machine ? (*machine)->getMCSubtargetInfo() : nullptr;
        return info && info->checkFeatures(wanted);
    };
    return withoutHidden(chooseMachine(familyOf(spec), spec.cpu, hasFeature), hasFeature);
}

} // namespace tenon::compiler
