// SPDX-License-Identifier: Apache-2.0
// The converter table from converters.def.
#include "compiler/frontend/tflite/converters/converters.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr TfliteConverter kConverters[] = {
#define CONVERTER(op, function) {op, function},
#include "compiler/frontend/tflite/converters/converters.def"
#undef CONVERTER
};

constexpr std::string_view kTakesComplex[] = {"COMPLEX_ABS", "EXPAND_DIMS", "IMAG",    "REAL",
                                              "RESHAPE",     "RFFT2D",      "SQUEEZE", "TRANSPOSE"};

} // namespace

std::span<const TfliteConverter> allTfliteConverters() { return kConverters; }

const TfliteConverter* findTfliteConverter(std::string_view op)
{
    const auto all = allTfliteConverters();
    const auto row = std::lower_bound(
        all.begin(), all.end(), op,
        [](const TfliteConverter& c, std::string_view name) { return c.op < name; });
    return row != all.end() && row->op == op ? &*row : nullptr;
}

bool takesComplex(std::string_view op)
{
    return std::find(std::begin(kTakesComplex), std::end(kTakesComplex), op) !=
           std::end(kTakesComplex);
}

} // namespace tenon::compiler
