// SPDX-License-Identifier: Apache-2.0
// Element types of .tflite files: their numbers in the schema, their names, what they are here.
#pragma once

#include "compiler/frontend/import/narrow_types.h"

#include <optional>
#include <string>

namespace tenon::compiler {

/// Nothing for what cannot be computed with: strings, complex numbers, handles.
std::optional<DataType> tfliteDataType(int type);
/// Types of fewer than 8 bits, which are held as codes of one byte; else null.
const NarrowType* tfliteNarrowType(int type);
std::string tfliteTypeName(int type);

inline constexpr int kTfliteComplex = 8;   ///< of two float32
inline constexpr int kTfliteResource = 13; ///< the handle of a variable

} // namespace tenon::compiler
