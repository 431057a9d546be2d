// SPDX-License-Identifier: Apache-2.0
// What kinds of elements the standard allows as the first operand of an operator.
#pragma once

#include "compiler/frontend/onnx/graph/onnx_node.h"

namespace tenon::compiler {

/// Fails when input 0 has elements that the standard does not allow, though we could compute with
/// them: such a model means something else than it says. `key` is the converter table's name.
void checkOperandKind(OnnxNode& node, std::string_view key);

} // namespace tenon::compiler
