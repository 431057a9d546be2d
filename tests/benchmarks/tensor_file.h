// SPDX-License-Identifier: Apache-2.0
// Reads one ONNX TensorProto file (.pb) without protobuf: dims, element type, name and raw data.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::bench {

struct TensorFile
{
    std::vector<int64_t> dims;
    int32_t elementType = 0; ///< TensorProto.DataType
    std::string name;
    std::string raw; ///< little-endian elements
};

core::Result<TensorFile> readTensorFile(const std::string& path);

} // namespace tenon::bench
