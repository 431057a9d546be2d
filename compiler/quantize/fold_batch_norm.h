// SPDX-License-Identifier: Apache-2.0
// Batch normalization behind a layer becomes part of the layer's weights.
#pragma once

#include "compiler/quantize/onnx_document.h"

namespace tenon::compiler {

/// Behind Conv, ConvTranspose and Gemm whose weights are constants and whose result nobody else
/// reads. Returns how many were folded.
size_t foldBatchNorms(tenon_onnx::ModelProto& model);

} // namespace tenon::compiler
