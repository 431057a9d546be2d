// SPDX-License-Identifier: Apache-2.0
// Parts by their numbers in CPUID, settings by their words.
#include "remote/micro/board_words.h"

#include "core/base/text.h"

#include <cstdlib>

namespace tenon::remote {
namespace {

struct Part
{
    unsigned number; ///< bits 4 to 15 of CPUID
    const char* cpu;
};

constexpr Part kParts[] = {{0xC20, "cortex-m0"},  {0xC60, "cortex-m0plus"}, {0xC23, "cortex-m3"},
                           {0xC24, "cortex-m4"},  {0xC27, "cortex-m7"},     {0xD20, "cortex-m23"},
                           {0xD21, "cortex-m33"}, {0xD22, "cortex-m55"},    {0xD23, "cortex-m85"}};

/// Extensions have a bit each, by their letter.
std::string riscvName(unsigned long misa)
{
    std::string out = "rv32";
    for (const char letter : std::string_view("iemafdc"))
        if (misa >> (letter - 'a') & 1) out += letter;
    return out;
}

std::string onOff(const std::string& value) { return value == "0" ? "off" : "on"; }

/// A number of hertz as "25 MHz", "16.5 MHz"; other text as it is.
std::string clockText(const std::string& hertz)
{
    const double mhz = std::atof(hertz.c_str()) / 1e6;
    if (mhz <= 0) return hertz + " Hz";
    const bool isWhole = mhz >= 1 && mhz - static_cast<double>(static_cast<long>(mhz)) < 0.005;
    return core::fixed(mhz, isWhole ? 0 : 2) + " MHz";
}

} // namespace

std::string coreOf(const MicroBoard& board)
{
    if (const auto misa = board.words.find("misa"); misa != board.words.end())
        return riscvName(std::strtoul(misa->second.c_str(), nullptr, 16));
    const auto cpuid = board.words.find("cpuid");
    if (cpuid == board.words.end()) return {};
    const unsigned long value = std::strtoul(cpuid->second.c_str(), nullptr, 16);
    for (const Part& part : kParts)
        if (part.number == (value >> 4 & 0xFFF)) return part.cpu;
    return {};
}

std::string settingsOf(const MicroBoard& board)
{
    std::vector<std::string> out;
    const auto take = [&](const char* name, auto&& words) {
        const auto at = board.words.find(name);
        if (at != board.words.end()) out.push_back(words(at->second));
    };
    take("clock_hz", clockText);
    take("icache", [](const std::string& v) { return "instruction cache " + onOff(v); });
    take("dcache", [](const std::string& v) { return "data cache " + onOff(v); });
    for (const auto& [name, value] : board.words)
        if (name != "cpuid" && name != "misa" && name != "clock_hz" && name != "icache" &&
            name != "dcache")
            out.push_back(core::replaced(name, "_", " ") + " " + value);
    return core::join(out, ", ");
}

} // namespace tenon::remote
