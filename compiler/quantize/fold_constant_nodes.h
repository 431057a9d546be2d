// SPDX-License-Identifier: Apache-2.0
// Floats that are computed from constants become constants: weights that a file reshapes first.
#pragma once

#include "compiler/quantize/onnx_document.h"

namespace tenon::compiler {

/// Nodes with one 32-bit float result and constant operands, computed by our own operators; what
/// those cannot compute stays.
void foldConstantNodes(tenon_onnx::ModelProto& model);

/// Of a model without inputs; nothing where they cannot be computed, or one has more elements.
std::vector<Tensor> resultsOf(const tenon_onnx::ModelProto& model, int64_t most);

} // namespace tenon::compiler
