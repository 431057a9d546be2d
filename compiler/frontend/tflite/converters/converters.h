// SPDX-License-Identifier: Apache-2.0
// The one table of converters: operator of the schema -> function that emits graph IR.
#pragma once

#include "compiler/frontend/tflite/graph/tflite_node.h"

#include <span>
#include <string_view>

namespace tenon::compiler {

struct TfliteConverter
{
    std::string_view op;
    void (*convert)(TfliteNode&);
};

/// Sorted by operator.
std::span<const TfliteConverter> allTfliteConverters();
/// Null when the operator is not imported.
const TfliteConverter* findTfliteConverter(std::string_view op);
/// True for what may have complex numbers as its input or result.
bool takesComplex(std::string_view op);

#define CONVERTER(op, function) void function(TfliteNode& node);
#include "compiler/frontend/tflite/converters/converters.def"
#undef CONVERTER

} // namespace tenon::compiler
