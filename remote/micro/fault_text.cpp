// SPDX-License-Identifier: Apache-2.0
// Bits of CFSR and HFSR: Armv7-M and Armv8-M Architecture Reference Manuals; mcause: RISC-V
// Instruction Set Manual, volume II.
#include "remote/micro/fault_text.h"

#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace tenon::remote {
namespace {

struct Cause
{
    uint32_t bit;
    const char* kind;
    const char* words;
    const char* advice;
};

constexpr const char* kStackAdvice = "give the stack more room";
constexpr const char* kPointerAdvice =
    "look for memory that the board lacks: pools, the stack, the linker script's map";
constexpr const char* kCoreAdvice = "is -mcpu that of the board, and its floating-point unit on?";

/// The first that is set is told: those of the stack hide others.
constexpr Cause kCauses[] = {
    {1u << 20, "usage fault", "the stack went below its limit", kStackAdvice},
    {1u << 4, "memory fault", "registers could not be saved on the stack", kStackAdvice},
    {1u << 12, "bus fault", "registers could not be saved on the stack", kStackAdvice},
    {1u << 3, "memory fault", "registers could not be read back from the stack", kStackAdvice},
    {1u << 11, "bus fault", "registers could not be read back from the stack", kStackAdvice},
    {1u << 16, "usage fault", "an instruction that the core does not have", kCoreAdvice},
    {1u << 19, "usage fault", "an instruction of a unit that is absent or off", kCoreAdvice},
    {1u << 17, "usage fault", "a jump to what is no Thumb code", kPointerAdvice},
    {1u << 18, "usage fault", "a return to nowhere", kStackAdvice},
    {1u << 24, "usage fault", "an access that is not aligned", "align the pools of the board"},
    {1u << 25, "usage fault", "a division by zero", "look at the data"},
    {1u << 0, "memory fault", "code where none may be executed", kPointerAdvice},
    {1u << 1, "memory fault", "an access that is not allowed", kPointerAdvice},
    {1u << 8, "bus fault", "code where there is no memory", kPointerAdvice},
    {1u << 9, "bus fault", "an access where there is no memory", kPointerAdvice},
    {1u << 10, "bus fault", "a write that failed some instructions before", kPointerAdvice},
    {1u << 5, "memory fault", "float registers could not be saved on the stack", kStackAdvice},
    {1u << 13, "bus fault", "float registers could not be saved on the stack", kStackAdvice}};

/// By number, from 0.
constexpr Cause kTraps[] = {
    {0, "trap", "a jump to where no instruction begins", kPointerAdvice},
    {1, "trap", "code where there is no memory", kPointerAdvice},
    {2, "trap", "an instruction that the core does not have", "is -mcpu that of the board?"},
    {3, "trap", "a breakpoint", "look at its program"},
    {4, "trap", "a read that is not aligned", "align the pools of the board"},
    {5, "trap", "a read where there is no memory", kPointerAdvice},
    {6, "trap", "a write that is not aligned", "align the pools of the board"},
    {7, "trap", "a write where there is no memory", kPointerAdvice}};

std::string hex(uint32_t value)
{
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

std::optional<uint32_t> numberIn(std::string_view line, std::string_view name)
{
    constexpr size_t kDigits = 8;
    const size_t at = line.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view digits = line.substr(at + name.size(), kDigits);
    uint32_t value = 0;
    const char* end = digits.data() + digits.size();
    if (digits.size() != kDigits || std::from_chars(digits.data(), end, value, 16).ptr != end)
        return std::nullopt;
    return value;
}

bool hasAddress(uint32_t cfsr) { return (cfsr & (1u << 7 | 1u << 15)) != 0; }

/// Reads numbers by their names; false when one is missing.
bool readAll(std::string_view line,
             std::initializer_list<std::pair<std::string_view, uint32_t*>> wanted)
{
    for (const auto& [name, to] : wanted) {
        const auto value = numberIn(line, name);
        if (!value) return false;
        *to = *value;
    }
    return true;
}

std::string placeText(const CoreFault& fault, const std::string& place)
{
    if (fault.pc == 0) return {};
    return ", at " + hex(fault.pc) + (place.empty() ? "" : " in " + place);
}

std::string trapText(const CoreFault& fault, const std::string& place)
{
    Cause told{0, "trap", "the core does not say why", "look at its program"};
    if (*fault.mcause < std::size(kTraps)) told = kTraps[*fault.mcause];
    const bool isAccess = *fault.mcause >= 4 && *fault.mcause < std::size(kTraps);
    return std::string("the board stopped with a ") + told.kind + ": " + told.words +
           (isAccess ? ", address " + hex(fault.address) : "") + placeText(fault, place) +
           " (mcause " + hex(*fault.mcause) + ", SP " + hex(fault.sp) + "); " + told.advice;
}

} // namespace

std::optional<CoreFault> parseFault(std::string_view line)
{
    if (!line.starts_with("fault ")) return std::nullopt;
    CoreFault out;
    if (const auto cause = numberIn(line, " mcause=")) {
        out.mcause = *cause;
        if (readAll(line, {{" addr=", &out.address}, {" pc=", &out.pc}, {" sp=", &out.sp}}))
            return out;
        return std::nullopt;
    }
    if (readAll(line, {{" cfsr=", &out.cfsr},
                       {" hfsr=", &out.hfsr},
                       {" addr=", &out.address},
                       {" pc=", &out.pc},
                       {" lr=", &out.lr},
                       {" sp=", &out.sp}}))
        return out;
    return std::nullopt;
}

std::string faultText(const CoreFault& fault, const std::string& place)
{
    if (fault.mcause) return trapText(fault, place);
    Cause told{0, "hard fault", "the core does not say why", "look at its program"};
    for (const Cause& cause : kCauses)
        if (told.bit == 0 && (fault.cfsr & cause.bit) != 0) told = cause;
    std::string out = std::string("the board stopped with a ") + told.kind + ": " + told.words;
    if (hasAddress(fault.cfsr)) out += ", address " + hex(fault.address);
    out += placeText(fault, place);
    out += " (CFSR " + hex(fault.cfsr) + ", HFSR " + hex(fault.hfsr) + ", LR " + hex(fault.lr) +
           ", SP " + hex(fault.sp) + "); " + told.advice;
    return out;
}

} // namespace tenon::remote
