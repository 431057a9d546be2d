// SPDX-License-Identifier: Apache-2.0
// Inputs and results of a quantized model as the integers themselves: what a microcontroller has
// at hand, without a float at either end.
#pragma once

#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/quantize.h"

namespace tenon::compiler {

/// Inputs and results keep their names; what they are stands in `report.ends` and, for others, in
/// the file's metadata as "tenon.scale.NAME" and "tenon.zero_point.NAME". Warns of floats that
/// stay.
void makeEndsInteger(tenon_onnx::ModelProto& model, QuantizeReport& report);

} // namespace tenon::compiler
