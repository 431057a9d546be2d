// SPDX-License-Identifier: Apache-2.0
// Sizes that the caller binds become those that a model declares, and values become constants.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "compiler/frontend/tflite/file/tflite_model.h"

namespace tenon::compiler {

/// Of inputs and of all that has the same symbols. Bindings that do not fit are left out: opening
/// the model says what is wrong with them.
void bindSizes(tenon_onnx::GraphProto& graph, const ImportOptions& sizes);

/// Inputs of tensors whose value the caller gives are constants from now on. Error ShapeMismatch
/// names the input that has another number of elements.
Status bindValues(tenon_onnx::GraphProto& graph, const ImportOptions& options);

/// The first size, where an input leaves it open, in all tensors that do. Errors ShapeMismatch and
/// UnsupportedFeature name the input.
Status bindSizes(TfliteModel& model, const ImportOptions& sizes);

} // namespace tenon::compiler
