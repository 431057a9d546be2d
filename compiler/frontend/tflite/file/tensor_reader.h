// SPDX-License-Identifier: Apache-2.0
// The constant of a .tflite tensor: its buffer, shared where the elements are aligned.
#pragma once

#include "compiler/frontend/tflite/file/tflite_model.h"
#include "core/tensor/tensor.h"

namespace tenon::compiler {

Result<Tensor> readTfliteTensor(const TfliteModel& model, const TfliteTensor& tensor);

} // namespace tenon::compiler
