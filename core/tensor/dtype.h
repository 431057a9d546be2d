// SPDX-License-Identifier: Apache-2.0
// DataType: element types with DLPack's codes (kind, bits, lanes).
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::core {

/// Kinds carry DLPack's numeric codes; Bool is stored as UInt with 1 bit, one byte per element.
enum class DtypeKind : uint8_t
{
    Int = 0,
    UInt = 1,
    Float = 2,
    Handle = 3,
    Bfloat = 4
};

struct DataType
{
    DtypeKind kind = DtypeKind::Float;
    uint8_t bits = 32;
    uint16_t lanes = 1;

    friend constexpr bool operator==(DataType, DataType) = default;
    friend constexpr auto operator<=>(DataType, DataType) = default;

    constexpr bool isBool() const { return kind == DtypeKind::UInt && bits == 1; }
    constexpr bool isFloat() const { return kind == DtypeKind::Float || kind == DtypeKind::Bfloat; }
    constexpr bool isInt() const { return kind == DtypeKind::Int || kind == DtypeKind::UInt; }
    constexpr bool isSigned() const { return kind == DtypeKind::Int; }
    /// Bytes of one element (all lanes); sub-byte types take one byte.
    constexpr int64_t bytes() const { return ((bits + 7) / 8) * int64_t{lanes}; }
    constexpr DataType withLanes(int n) const { return {kind, bits, static_cast<uint16_t>(n)}; }
    constexpr DataType scalar() const { return withLanes(1); }
    /// TVM's text: "float32", "int8", "bool", "float32x16", "handle".
    std::string text() const;
};

inline constexpr DataType kFloat16{DtypeKind::Float, 16, 1};
inline constexpr DataType kFloat32{DtypeKind::Float, 32, 1};
inline constexpr DataType kFloat64{DtypeKind::Float, 64, 1};
inline constexpr DataType kBfloat16{DtypeKind::Bfloat, 16, 1};
inline constexpr DataType kInt8{DtypeKind::Int, 8, 1};
inline constexpr DataType kInt16{DtypeKind::Int, 16, 1};
inline constexpr DataType kInt32{DtypeKind::Int, 32, 1};
inline constexpr DataType kInt64{DtypeKind::Int, 64, 1};
inline constexpr DataType kUInt8{DtypeKind::UInt, 8, 1};
inline constexpr DataType kUInt16{DtypeKind::UInt, 16, 1};
inline constexpr DataType kUInt32{DtypeKind::UInt, 32, 1};
inline constexpr DataType kUInt64{DtypeKind::UInt, 64, 1};
inline constexpr DataType kBool{DtypeKind::UInt, 1, 1};
inline constexpr DataType kHandle{DtypeKind::Handle, 64, 1};

/// Reads the text form; error BadText names what was seen.
Result<DataType> parseDataType(std::string_view text);

} // namespace tenon::core
