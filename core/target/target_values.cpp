// SPDX-License-Identifier: Apache-2.0
// Numbers in range and words that are known, option by option.
#include "core/target/target_values.h"

#include "core/base/text.h"
#include "core/target/machine_option.h"
#include "core/target/thread_choice.h"

#include <algorithm>

namespace tenon::core {

Diagnostic targetError(const std::string& key, const std::string& what)
{
    return makeError(DiagnosticCode::BadTarget, "target option " + core::quoted(key) + ": " + what,
                     {.detail = key});
}

namespace {

constexpr int64_t kMostAlignment = 4096;

bool oneOf(const std::string& text, std::initializer_list<std::string_view> words)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Of options that are numbers.
Status checkNumbers(const Target& target)
{
    for (const char* option : {"workspace-byte-alignment", "constants-byte-alignment"})
        if (const int64_t bytes = target.intOption(option, 16);
            bytes < 1 || bytes > kMostAlignment || (bytes & (bytes - 1)) != 0)
            return targetError(option, std::to_string(bytes) + " is no power of two up to " +
                                           std::to_string(kMostAlignment));
    const int64_t cores = target.intOption("num-cores", 1);
    if (cores < 1 || cores > kMostThreads)
        return targetError("num-cores", std::to_string(cores) + " is no number of cores; 1 to " +
                                            std::to_string(kMostThreads) + " can be used");
    const int64_t level = target.intOption("opt-level", 0);
    if (level < 0 || level > 3) return targetError("opt-level", "must be 0, 1, 2 or 3");
    return kDone;
}

} // namespace

Status checkTargetValues(const Target& target)
{
    const std::string abi = target.stringOption("mfloat-abi");
    if (!abi.empty() && !oneOf(abi, {"hard", "softfp", "soft"}))
        return targetError("mfloat-abi",
                           core::quoted(abi) + " is none of `hard`, `softfp`, `soft`");
    if (target.kind == "hexagon" && !target.mtriple.empty() &&
        !target.mtriple.starts_with("hexagon"))
        return targetError("mtriple",
                           core::quoted(target.mtriple) +
                               " is no Hexagon; write -mtriple in a target of kind `llvm`");
    const std::string jit = target.stringOption("jit");
    if (!jit.empty() && !oneOf(jit, {"mcjit", "orcjit"}))
        return targetError("jit", core::quoted(jit) + " is neither `mcjit` nor `orcjit`");
    const std::string arch = target.kind == "nvptx" ? target.mcpu : target.stringOption("arch");
    if (oneOf(target.kind, {"cuda", "nvptx"}) && !arch.starts_with("sm_"))
        return targetError(target.kind == "nvptx" ? "mcpu" : "arch",
                           core::quoted(arch) +
                               " is no compute capability; write for example `sm_80`");
    if (target.kind == "nvptx" && target.mtriple != "nvptx64-nvidia-cuda")
        return targetError("mtriple", "must be `nvptx64-nvidia-cuda` for kind `nvptx`");
    for (const std::string& feature : target.mattr)
        if (feature.size() < 2 || (feature[0] != '+' && feature[0] != '-'))
            return targetError("mattr",
                               core::quoted(feature) +
                                   " must start with + (add) or - (remove), as in `+neon`");
    if (target.device.find(',') != std::string::npos)
        return targetError("device", "is one name; it may not have a comma");
    if (const auto machine = machineOption(target); !machine) return machine.error();
    return checkNumbers(target);
}

} // namespace tenon::core
