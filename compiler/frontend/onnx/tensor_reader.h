// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor: element types, literal data, raw bytes in the mapped file, external files.
#pragma once

#include "compiler/frontend/onnx/external_data.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/tensor/tensor.h"

#include <optional>

namespace tenon::compiler {

/// Where the bytes of mapped_offset lie and who keeps them alive.
struct TensorStorage
{
    std::span<const std::byte> file;
    std::shared_ptr<const void> owner;
    ExternalFiles* external = nullptr; ///< null: external data is refused
};

/// Our type of an ONNX element type; nothing for strings, complex numbers and types under 8 bits.
std::optional<DataType> dataTypeOf(int32_t onnxType);
/// ONNX's number of our type (0 when it has none).
int32_t onnxTypeOf(DataType dtype);
/// "float32", "string", "int4", "type 99".
std::string onnxTypeName(int32_t onnxType);

/// Narrow types come as their codes (narrow_types.h). Shares the file's bytes when they are aligned
/// for the type, else copies them. Every size is compared with what is really there before anything
/// is allocated.
Result<Tensor> readTensor(const tenon_onnx::TensorProto& proto, const TensorStorage& storage,
                          std::vector<Diagnostic>& notes);

/// Values as they would be written to a file (raw_data).
tenon_onnx::TensorProto tensorProtoOf(const Tensor& tensor, const std::string& name);

} // namespace tenon::compiler
