// SPDX-License-Identifier: Apache-2.0
// The processor features that code for a target may need.
#include "compiler/driver/target_features.h"

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"

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

Result<std::vector<std::string>> targetFeatures(std::string_view target)
{
    const auto parsed = parseTarget(target);
    if (!parsed) return parsed.error();
    const auto spec = machineSpec(*parsed);
    return spec ? targetFeatures(*spec) : spec.error();
}

} // namespace tenon::compiler
