// SPDX-License-Identifier: Apache-2.0
// Narrow types: ONNX's element types of 2 to 8 bits that are no types of ours. Their values are
// held as codes of one byte: small integers by their value, small floats by their bits.
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::compiler {

using core::DataType;

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
    int32_t onnx; ///< TensorProto.DataType
    int bits;     ///< in a file
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

/// Nothing for types that are ours and for what is no number.
std::optional<NarrowType> narrowTypeOf(int32_t onnxType);
/// Codes packed as in a file, lowest bits first, one byte each; integers with their sign.
std::vector<uint8_t> unpackedCodes(const NarrowType& type, std::span<const std::byte> packed,
                                   int64_t count);

} // namespace tenon::compiler
