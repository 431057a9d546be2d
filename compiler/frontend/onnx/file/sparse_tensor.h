// SPDX-License-Identifier: Apache-2.0
// SparseTensorProto -> Tensor, written out densely.
#pragma once

#include "compiler/frontend/onnx/file/tensor_reader.h"

namespace tenon::compiler {

/// The values at their indices (linear, or a tuple per value), zero elsewhere. A small file must
/// not fill the memory: what would take more than 64 MiB is refused.
Result<Tensor> readSparseTensor(const tenon_onnx::SparseTensorProto& proto,
                                const TensorStorage& storage, std::vector<Diagnostic>& notes);

} // namespace tenon::compiler
