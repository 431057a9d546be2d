// SPDX-License-Identifier: Apache-2.0
// ONNX's element types by their numbers (TensorProto.DataType).
#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::core {

/// Our type of an ONNX element type; nothing for strings, complex numbers and types under 8 bits.
std::optional<DataType> dataTypeOf(int32_t onnxType);
/// ONNX's number of our type (0 when it has none).
int32_t onnxTypeOf(DataType dtype);
/// "float32", "string", "int4", "type 99".
std::string onnxTypeName(int32_t onnxType);

} // namespace tenon::core
