// SPDX-License-Identifier: Apache-2.0
// The processor features that code for a target may need.
#include "compiler/codegen/llvm/target_features.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace tenon::compiler {

Result<std::vector<std::string>> targetFeatures(const MachineSpec& spec)
{
    auto machine = createTargetMachine(spec);
    if (!machine) return machine.error();
    std::vector<std::string> names;
    for (const auto& entry : (*machine)->getMCSubtargetInfo()->getEnabledProcessorFeatures())
        names.emplace_back(entry.Key);
    return names;
}

} // namespace tenon::compiler
