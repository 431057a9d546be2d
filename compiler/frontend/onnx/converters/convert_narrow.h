// SPDX-License-Identifier: Apache-2.0
// What a node may do with narrow types: move them, convert them, quantize with them.
#pragma once

#include "compiler/frontend/import/narrow_types.h"
#include "compiler/frontend/onnx/graph/onnx_node.h"

namespace tenon::compiler {

/// Prepares a node that reads narrow values: marks the results of operators that only move
/// elements, and fails for operators that would compute with codes.
void admitNarrowInputs(OnnxNode& node);

/// Numbers for the codes of `type`; and back, as Cast does it.
ValueRef decodedNarrow(OnnxNode& node, ValueRef codes, const NarrowType& type, DataType to);
ValueRef encodedNarrow(OnnxNode& node, ValueRef numbers, const NarrowType& type);

} // namespace tenon::compiler
