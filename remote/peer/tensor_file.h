// SPDX-License-Identifier: Apache-2.0
// Reads and writes one ONNX TensorProto file (.pb) without protobuf: dims, element type, name and
// raw data.
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

struct TensorFile
{
    std::vector<int64_t> dims;
    int32_t elementType = 0; ///< TensorProto.DataType
    std::string name;
    std::string raw; ///< little-endian elements
};

core::Result<TensorFile> readTensorFile(const std::string& path);

/// Error UnsupportedFeature for element types that ONNX does not have.
core::Status writeTensorFile(const std::string& path, const std::string& name,
                             const core::Tensor& tensor);
/// TensorProto as bytes.
std::string tensorBytes(const std::vector<int64_t>& dims, int elementType, std::string_view raw,
                        const std::string& name = {});

} // namespace tenon::remote
