// SPDX-License-Identifier: Apache-2.0
// Cortex-M cores and Arm's MPS2 and MPS3 boards as QEMU emulates them.
#include "core/target/micro_core.h"

#include "core/base/text.h"
#include "core/target/c_options.h"

#include <algorithm>

namespace tenon::core {
namespace {

constexpr MicroCore kCores[] = {
    {.cpu = "cortex-m0", .floatOptions = ""},
    {.cpu = "cortex-m0plus", .floatOptions = ""},
    {.cpu = "cortex-m3", .floatOptions = "", .board = "mps2-an385"},
    {.cpu = "cortex-m4",
     .floatOptions = "-mfloat-abi=hard -mfpu=fpv4-sp-d16",
     .board = "mps2-an386"},
    {.cpu = "cortex-m7", .floatOptions = "-mfloat-abi=hard -mfpu=fpv5-d16", .board = "mps2-an500"},
    {.cpu = "cortex-m33",
     .floatOptions = "-mfloat-abi=hard -mfpu=fpv5-sp-d16",
     .board = "mps2-an505",
     .flashAddress = 0x10000000,
     .ramAddress = 0x38000000,
     .clockHz = 20000000,
     .uartAddress = 0x50200000},
    {.cpu = "cortex-m55",
     .floatOptions = "-mfloat-abi=hard",
     .board = "mps3-an547",
     .flashBytes = 0x80000,
     .ramBytes = 0x80000,
     .clockHz = 32000000,
     .uartAddress = 0x59303000},
};

} // namespace

std::span<const MicroCore> allMicroCores() { return kCores; }

const MicroCore* microCoreOf(const Target& target)
{
    if (target.kind != "c") return nullptr;
    const std::string cpu = target.mcpu.substr(0, target.mcpu.find('+'));
    for (const MicroCore& core : kCores)
        if (core.cpu == cpu) return &core;
    return nullptr;
}

const MicroCore* microCoreOnBoard(std::string_view board)
{
    for (const MicroCore& core : kCores)
        if (!board.empty() && core.board == board) return &core;
    return nullptr;
}

// GCC knows best what goes together, but calls a core without a unit a matter of its library.
Result<std::vector<std::string>> microCompilerOptions(const MicroCore& core, const Target& target)
{
    const std::string abi = target.stringOption("mfloat-abi");
    if (core.floatOptions.empty() && !abi.empty() && abi != "soft")
        return makeError(DiagnosticCode::BadTarget,
                         std::string(core.cpu) + " has no floating-point unit; -mfloat-abi=" + abi +
                             " needs one, leave it out or write soft",
                         {.detail = "mfloat-abi"});
    std::vector<std::string> out{"-mcpu=" + target.mcpu, "-mthumb"};
    const std::vector<std::string> given = cCompilerOptions(target);
    const auto isGiven = [&](const std::string& option) {
        const std::string name = option.substr(0, option.find('=') + 1);
        return std::any_of(given.begin(), given.end(),
                           [&](const std::string& each) { return each.starts_with(name); });
    };
    for (const std::string& option : split(std::string(core.floatOptions), ' '))
        if (!option.empty() && !isGiven(option)) out.push_back(option);
    for (const std::string& option : given)
        if (!option.starts_with("-mcpu=")) out.push_back(option);
    return out;
}

} // namespace tenon::core
