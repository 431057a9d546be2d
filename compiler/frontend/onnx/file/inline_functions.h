// SPDX-License-Identifier: Apache-2.0
// Model-local functions: every call is replaced by the function's nodes before the import.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/diagnostic.h"

#include <vector>

namespace tenon::compiler {

/// Nodes that came from a call are named "call/node" and carry the opset that their function
/// imports. What cannot be replaced (recursion, too many nodes) stays a call and is reported.
std::vector<core::Diagnostic> inlineFunctions(tenon_onnx::ModelProto& model);

} // namespace tenon::compiler
