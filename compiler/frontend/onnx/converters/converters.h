// SPDX-License-Identifier: Apache-2.0
// The one table of converters: ONNX operator and opset version -> function that emits graph IR.
#pragma once

#include "compiler/frontend/onnx/graph/onnx_node.h"

#include <span>
#include <string_view>

namespace tenon::compiler {

struct Converter
{
    std::string_view op; ///< with its domain in front ("ai.onnx.ml.") when it is not ai.onnx
    int sinceVersion;    ///< first opset of ai.onnx whose semantics this function implements
    void (*convert)(OnnxNode&);
};

/// Sorted by operator, then by version.
std::span<const Converter> allConverters();

/// The converter for `op` in a model that imports `opset`: the newest that is not newer than it.
/// Null when there is none; `oldest` then is the first version we know, or 0.
const Converter* findConverter(std::string_view op, int64_t opset, int* oldest);

/// Why an operator of the standard is not imported, and what would help; empty for others.
std::string_view declinedReason(std::string_view op);

/// The newest opset whose changes the table takes into account.
inline constexpr int64_t kNewestOpset = 27;

#define CONVERTER(op, since, function) void function(OnnxNode& node);
#include "compiler/frontend/onnx/converters/converters.def"
#undef CONVERTER

/// Answers nodes whose inputs are small constants or known dimensions; true when it did.
bool foldAtImport(OnnxNode& node);

} // namespace tenon::compiler
