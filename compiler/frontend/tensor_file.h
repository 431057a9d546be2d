// SPDX-License-Identifier: Apache-2.0
// Tensors in files of their own: ONNX's TensorProto (.pb), NumPy's .npy and .npz.
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct NamedTensor
{
    std::string name; ///< as stored; empty in .npy
    core::Tensor tensor;
};

/// One tensor; the format is told by the content.
core::Result<NamedTensor> readTensorFile(const std::string& path);
/// All tensors of a .npz in archive order, or the one of any other file.
core::Result<std::vector<NamedTensor>> readTensorFiles(const std::string& path);

/// The bytes of a .npy or .pb file, also for tests and fuzzing.
core::Result<core::Tensor> parseNpy(std::string_view bytes);
core::Result<NamedTensor> parseTensorProto(std::string_view bytes);
std::string npyText(const core::Tensor& tensor);

/// Writes .npy, or .pb when `path` ends so; atomically.
core::Status writeTensorFile(const std::string& path, const core::Tensor& tensor,
                             const std::string& name);

} // namespace tenon::compiler
