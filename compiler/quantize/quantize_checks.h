// SPDX-License-Identifier: Apache-2.0
// What stands against a quantization before anything was computed.
#pragma once

#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/quantize.h"

namespace tenon::compiler {

/// Error BadModel names the first node that computes with integers already.
Status refuseQuantized(const tenon_onnx::ModelProto& model, const std::string& path);
/// Error UnknownName for nodes and operators that the options name and the model does not have.
Status checkNames(const tenon_onnx::ModelProto& model, const QuantizeOptions& options);

/// Why nothing of a model is quantized that has weights of 16 or 64 bits; "" where it has none.
std::string otherFloatsReason(const tenon_onnx::ModelProto& model);

} // namespace tenon::compiler
