// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor: element types, literal data, raw bytes in the mapped file, external files.
#pragma once

#include "compiler/frontend/onnx/file/external_data.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/tensor/onnx_types.h"
#include "core/tensor/tensor.h"

namespace tenon::compiler {

/// Where the bytes of mapped_offset lie and who keeps them alive.
struct TensorStorage
{
    std::span<const std::byte> file;
    std::shared_ptr<const void> owner;
    ExternalFiles* external = nullptr; ///< null: external data is refused
};

/// Narrow types come as their codes (narrow_types.h). Shares the file's bytes when they are aligned
/// for the type, else copies them. Every size is compared with what is really there before anything
/// is allocated.
Result<Tensor> readTensor(const tenon_onnx::TensorProto& proto, const TensorStorage& storage,
                          std::vector<Diagnostic>& notes);

} // namespace tenon::compiler
