// SPDX-License-Identifier: Apache-2.0
// Serialised arrays and the params blob, byte for byte as TVM writes them.
#pragma once

#include "compiler/executor/byte_stream.h"
#include "core/tensor/tensor.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

using NamedTensors = std::vector<std::pair<std::string, core::Tensor>>;

/// Magic, device (CPU), rank, dtype, shape, byte count, data.
void writeNdArray(ByteStream& out, const core::Tensor& tensor);

/// What `save_param_dict` gives and `load_params` takes.
std::string paramsBlob(const NamedTensors& params);

/// Reads a params blob; tensors copy their bytes. Error BadArtifact says at which byte.
core::Result<NamedTensors> readParamsBlob(std::string_view bytes);

} // namespace tenon::compiler
