// SPDX-License-Identifier: Apache-2.0
// Narrow types: element types of 2 to 8 bits in files that are no types of ours. Their values are
// held as codes of one byte: small integers by their value, small floats by their bits.
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::compiler {

using core::DataType;
using core::kInt8;
using core::kUInt8;

/// What the codes of a small float mean that are no plain numbers.
enum class NarrowSpecials : uint8_t
{
    None,           ///< every code is a number
    Ieee,           ///< infinities and NaNs as in IEEE 754
    NanAtAllOnes,   ///< S.1111.111 is NaN; no infinities
    NanAtMinusZero, ///< 0x80 is NaN; no infinities, no -0
    NanAtTop        ///< 0xff is NaN; no sign, no zero
};

struct NarrowType
{
    std::string_view name;
    int bits; ///< in a file
    DataType held;
    // Small floats; no exponent bits: an integer.
    int exponentBits = 0;
    int fractionBits = 0;
    int bias = 0;
    NarrowSpecials specials = NarrowSpecials::None;

    bool isFloat() const { return exponentBits > 0; }
    bool hasSign() const { return specials != NarrowSpecials::NanAtTop; }
    /// Codes of numbers at or above zero, in order of value: 0 to highestCode().
    uint32_t highestCode() const;
    double decode(uint32_t code) const;
};

// Values refer to these; their addresses tell them apart.
inline constexpr NarrowType kFloat8E4M3FN{
    "float8e4m3fn", 8, kUInt8, 4, 3, 7, NarrowSpecials::NanAtAllOnes};
inline constexpr NarrowType kFloat8E4M3FNUZ{
    "float8e4m3fnuz", 8, kUInt8, 4, 3, 8, NarrowSpecials::NanAtMinusZero};
inline constexpr NarrowType kFloat8E5M2{"float8e5m2", 8, kUInt8, 5, 2, 15, NarrowSpecials::Ieee};
inline constexpr NarrowType kFloat8E5M2FNUZ{
    "float8e5m2fnuz", 8, kUInt8, 5, 2, 16, NarrowSpecials::NanAtMinusZero};
inline constexpr NarrowType kFloat8E8M0{
    "float8e8m0", 8, kUInt8, 8, 0, 127, NarrowSpecials::NanAtTop};
inline constexpr NarrowType kFloat4E2M1{"float4e2m1", 4, kUInt8, 2, 1, 1, NarrowSpecials::None};
inline constexpr NarrowType kUInt4{"uint4", 4, kUInt8};
inline constexpr NarrowType kInt4{"int4", 4, kInt8};
inline constexpr NarrowType kUInt2{"uint2", 2, kUInt8};
inline constexpr NarrowType kInt2{"int2", 2, kInt8};

/// Codes packed as in a file, lowest bits first, one byte each; integers with their sign.
std::vector<uint8_t> unpackedCodes(const NarrowType& type, std::span<const std::byte> packed,
                                   int64_t count);

} // namespace tenon::compiler
