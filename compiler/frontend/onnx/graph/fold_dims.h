// SPDX-License-Identifier: Apache-2.0
// Import-time evaluation of shape arithmetic on dimensions that are known by name only, so that
// Shape-Gather-Concat-Reshape chains become plain attributes.
#pragma once

#include "compiler/frontend/onnx/graph/onnx_node.h"

namespace tenon::compiler {

/// False when the node is none of these, or an element of an input is not known.
bool foldDims(OnnxNode& node);

} // namespace tenon::compiler
