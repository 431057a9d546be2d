// SPDX-License-Identifier: Apache-2.0
// Tensors that somebody gives to a model: read from files and folders, and matched to its inputs.
#pragma once

#include "core/artifact/manifest.h"
#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "remote/session/local_board.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::runs {

using namespace core;

/// By the name in the file, which may be empty; then by position.
using GivenTensors = std::vector<std::pair<std::string, Tensor>>;

/// Tensors of files and folders (input_0.pb, input_1.pb, ... in numeric order), in order.
Result<GivenTensors> readTensors(const std::vector<std::string>& paths);

/// The same bytes as another type of the same size.
Tensor sameBits(const Tensor& tensor, DataType dtype);

/// Gives each tensor to the input of its name, else to the next input without one. Errors when one
/// does not fit or an input has none.
Result<remote::NamedTensors> assignInputs(const std::vector<ManifestTensor>& inputs,
                                          const GivenTensors& given);

} // namespace tenon::runs
