// SPDX-License-Identifier: Apache-2.0
// GCC's options for a processor, its float ABI and its instruction set.
#include "core/target/c_options.h"

namespace tenon::core {

std::vector<std::string> cCompilerOptions(const Target& target)
{
    std::vector<std::string> out;
    if (target.kind != "c") return out;
    // GCC names RISC-V's processors by their instructions, and knows few others.
    const bool isRiscV = target.mcpu.starts_with("rv32");
    if (isRiscV) out = {"-march=" + target.mcpu, "-mabi=ilp32"};
    if (!target.mcpu.empty() && !isRiscV) out.push_back("-mcpu=" + target.mcpu);
    for (const char* name : {"march", "mfloat-abi", "mfpu"})
        if (const std::string value = target.stringOption(name); !value.empty())
            out.push_back("-" + std::string(name) + "=" + value);
    return out;
}

} // namespace tenon::core
