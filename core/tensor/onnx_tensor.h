// SPDX-License-Identifier: Apache-2.0
// One tensor as ONNX writes it into a file of its own (a TensorProto message, .pb).
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// Also of element types that are none of ours.
struct OnnxTensor
{
    std::vector<int64_t> dims;
    int32_t elementType = 0; ///< of onnx_types.h
    std::string name;
    std::string raw; ///< little-endian elements, also of files that list them by type
};

/// Error BadModel for what is none, has its data in another file, or less or more of it than the
/// shape needs (types that are not ours: the reader compares).
Result<OnnxTensor> parseOnnxTensor(std::string_view bytes);
Result<OnnxTensor> readOnnxTensor(const std::string& path);

std::string onnxTensorBytes(const OnnxTensor& tensor);
/// Element type 0 where ONNX has no such tensors.
OnnxTensor onnxTensorOf(const Tensor& tensor, const std::string& name);

} // namespace tenon::core
