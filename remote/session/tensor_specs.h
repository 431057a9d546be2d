// SPDX-License-Identifier: Apache-2.0
// What a manifest says of a program's tensors, and values that are held to it.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/session/local_board.h"

#include <functional>
#include <vector>

namespace tenon::remote {

/// Errors: a data type that nobody knows.
core::Result<std::vector<TensorSpec>> specsOf(const std::vector<core::ManifestTensor>& tensors);

/// Whether a tensor's shape, the second one, is what a program declares.
using ShapeRule = std::function<bool(const std::vector<int64_t>&, const std::vector<int64_t>&)>;

/// The place of an input among the specs. Errors: UnknownName, ShapeMismatch.
core::Result<size_t> placeOfInput(const std::string& name, const core::Tensor& tensor,
                                  const std::vector<TensorSpec>& specs, const ShapeRule& fits);

/// Puts each input at its place in `values`, one per spec, of the same shape. Errors: UnknownName,
/// ShapeMismatch.
core::Status placeInputs(const NamedTensors& inputs, const std::vector<TensorSpec>& specs,
                         std::vector<core::Tensor>& values);

} // namespace tenon::remote
