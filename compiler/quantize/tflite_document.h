// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model of floats as an ONNX message, to be quantized like any other.
#pragma once

#include "compiler/quantize/onnx_document.h"

#include <span>

namespace tenon::compiler {

/// Inputs and results keep names, shapes (but for a first size that is bound) and the order of
/// their axes. Between layers that take pictures data lie as ONNX has them, with the channels in
/// front. Errors: BadModel for a model that is quantized or damaged, UnsupportedOp with all
/// operators that have no counterpart, ShapeMismatch for sizes that cannot be bound.
Result<tenon_onnx::ModelProto> readTfliteDocument(std::span<const std::byte> bytes,
                                                  const std::string& path,
                                                  const ImportOptions& sizes = {});

} // namespace tenon::compiler
