// SPDX-License-Identifier: Apache-2.0
// What the codes of narrow types mean (OCP 8-bit formats, arXiv 2206.02915).
#include "compiler/frontend/import/narrow_types.h"

#include <cmath>
#include <limits>

namespace tenon::compiler {

using namespace core;

uint32_t NarrowType::highestCode() const
{
    const uint32_t all = (1u << (bits - (hasSign() ? 1 : 0))) - 1;
    switch (specials) {
    case NarrowSpecials::None:
    case NarrowSpecials::NanAtMinusZero: return all;
    case NarrowSpecials::NanAtAllOnes:
    case NarrowSpecials::NanAtTop: return all - 1;
    case NarrowSpecials::Ieee: return all - (1u << fractionBits);
    }
    return all;
}

double NarrowType::decode(uint32_t code) const
{
    const uint32_t sign = hasSign() ? code >> (bits - 1) & 1 : 0;
    const uint32_t magnitude = hasSign() ? code & ((1u << (bits - 1)) - 1) : code;
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    if (specials == NarrowSpecials::NanAtMinusZero && sign == 1 && magnitude == 0) return kNan;
    const uint32_t highest = highestCode();
    if (magnitude > highest) {
        if (specials != NarrowSpecials::Ieee || magnitude > highest + 1) return kNan;
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return sign == 1 ? -kInfinity : kInfinity;
    }
    const auto exponent = static_cast<int>(magnitude >> fractionBits);
    const auto fraction =
        static_cast<double>(magnitude & ((1u << fractionBits) - 1)) / (1 << fractionBits);
    const bool isSubnormal = exponent == 0 && specials != NarrowSpecials::NanAtTop;
    const double value =
        isSubnormal ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return sign == 1 ? -value : value;
}

std::vector<uint8_t> unpackedCodes(const NarrowType& type, std::span<const std::byte> packed,
                                   int64_t count)
{
    std::vector<uint8_t> out;
    const auto perByte = static_cast<size_t>(8 / type.bits);
    const uint32_t mask = (1u << type.bits) - 1;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const auto byte = static_cast<uint32_t>(packed[i / perByte]);
        uint32_t code = byte >> (i % perByte * static_cast<size_t>(type.bits)) & mask;
        const bool isNegative = type.held == kInt8 && (code >> (type.bits - 1)) == 1;
        if (isNegative) code |= ~mask;
        out.push_back(static_cast<uint8_t>(code));
    }
    return out;
}

} // namespace tenon::compiler
