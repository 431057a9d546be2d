// SPDX-License-Identifier: Apache-2.0
// A model under a newer version of ONNX's operators, which means the same.
#pragma once

#include "compiler/quantize/onnx_document.h"

namespace tenon::compiler {

inline constexpr int64_t kOldestOpset = 7;
inline constexpr int64_t kPerChannelOpset = 13; ///< scales per channel
inline constexpr int64_t kWideOpset = 21;       ///< activations of 16 bits

/// Raises the opset to at least `version`, and the IR version to what that needs; nodes whose form
/// changed take the new one. Error UnsupportedFeature names a node that has none.
Status raiseOpset(tenon_onnx::ModelProto& model, int64_t version);

} // namespace tenon::compiler
