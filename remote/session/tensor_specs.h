// SPDX-License-Identifier: Apache-2.0
// What a manifest says of a program's tensors, and values that are held to it.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/session/local_board.h"

#include <vector>

namespace tenon::remote {

/// Errors: a data type that nobody knows.
core::Result<std::vector<TensorSpec>> specsOf(const std::vector<core::ManifestTensor>& tensors);

/// Puts each input at its place in `values`, one per spec. Errors: UnknownName, ShapeMismatch.
core::Status placeInputs(const NamedTensors& inputs, const std::vector<TensorSpec>& specs,
                         std::vector<core::Tensor>& values);

} // namespace tenon::remote
