// SPDX-License-Identifier: Apache-2.0
// The table of ONNX's element types; numbers from onnx.proto.
#include "core/tensor/onnx_types.h"

#include <array>

namespace tenon::core {
namespace {

struct TypeRow
{
    int32_t onnx;
    std::string_view name;
    std::optional<DataType> dtype;
};

constexpr std::array<TypeRow, 26> kTypes{{
    {1, "float32", kFloat32},
    {2, "uint8", kUInt8},
    {3, "int8", kInt8},
    {4, "uint16", kUInt16},
    {5, "int16", kInt16},
    {6, "int32", kInt32},
    {7, "int64", kInt64},
    {8, "string", std::nullopt},
    {9, "bool", kBool},
    {10, "float16", kFloat16},
    {11, "float64", kFloat64},
    {12, "uint32", kUInt32},
    {13, "uint64", kUInt64},
    {14, "complex64", std::nullopt},
    {15, "complex128", std::nullopt},
    {16, "bfloat16", kBfloat16},
    {17, "float8e4m3fn", std::nullopt},
    {18, "float8e4m3fnuz", std::nullopt},
    {19, "float8e5m2", std::nullopt},
    {20, "float8e5m2fnuz", std::nullopt},
    {21, "uint4", std::nullopt},
    {22, "int4", std::nullopt},
    {23, "float4e2m1", std::nullopt},
    {24, "float8e8m0", std::nullopt},
    {25, "uint2", std::nullopt},
    {26, "int2", std::nullopt},
}};

} // namespace

std::optional<DataType> dataTypeOf(int32_t onnxType)
{
    for (const TypeRow& row : kTypes)
        if (row.onnx == onnxType) return row.dtype;
    return std::nullopt;
}

int32_t onnxTypeOf(DataType dtype)
{
    for (const TypeRow& row : kTypes)
        if (row.dtype == dtype) return row.onnx;
    return 0;
}

std::string onnxTypeName(int32_t onnxType)
{
    for (const TypeRow& row : kTypes)
        if (row.onnx == onnxType) return std::string(row.name);
    return "type " + std::to_string(onnxType);
}

} // namespace tenon::core
