// SPDX-License-Identifier: Apache-2.0
// ONNX's numbers of the element types that are held as codes.
#pragma once

#include "compiler/frontend/import/narrow_types.h"

namespace tenon::compiler {

/// Null for types that are ours (core/tensor/onnx_types.h) and for what is no number.
const NarrowType* narrowTypeOf(int32_t onnxType);

} // namespace tenon::compiler
