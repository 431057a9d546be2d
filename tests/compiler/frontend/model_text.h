// SPDX-License-Identifier: Apache-2.0
// A few lines of text -> ONNX model, so that import tests read as cases.
#pragma once

#include "compiler/frontend/onnx/onnx.pb.h"

#include <string>

namespace tenon::test {

/// One statement per line:
///
///     opset 13                          [domain version] (default: ai.onnx 13)
///     input x float32 1,3,n,8           symbols are dim_param, `?` an unknown dimension, `*` no
///     shape init w float32 4,3,3,3            all elements 0.5 (raw_data) ints shape int64 2 =
///     1,-1         an initializer with values floats scale float32 1 = 0.5,2 external w float32 8
///     location=a.bin offset=0 node Conv c1 x,w -> y pads=[1,1] mode="edge" alpha=0.5f group=2
///     domain:my.ops info y float32 1,4                value_info output y float32 1,4,8,8
///     graph then          a body, up to `end`; a node takes it as then_branch=g:then
///
/// `_` is an empty name (absent input, nameless node). Unknown statements throw.
tenon_onnx::ModelProto modelOf(const std::string& text);

} // namespace tenon::test
