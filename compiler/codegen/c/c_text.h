// SPDX-License-Identifier: Apache-2.0
// Spelling of C: types, literals, identifiers.
#pragma once

#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

#include <set>
#include <string>
#include <string_view>

namespace tenon::compiler {

/// "float", "int8_t", ...; "" for types that C99 does not have. Booleans are `uint8_t` in memory.
std::string cType(core::DataType dtype);
/// "f32", "i64", ...: the end of helper names. Small integers are as wide as C computes with them.
std::string cSuffix(core::DataType dtype);

/// The shortest decimal literal that reads back as the same number.
std::string cFloat(double value, core::DataType dtype);
std::string cInteger(int64_t value, core::DataType dtype);

/// A string literal of ASCII characters.
std::string cString(std::string_view text);

/// Letters, digits and underscores: a part of a longer identifier.
std::string cName(std::string_view name);
/// The same in capitals, as macros are named.
std::string cMacro(std::string_view name);
/// The same on its own: never a keyword, never empty, no digit in front.
std::string cIdentifier(std::string_view name);
/// The same, with a number behind it when `taken` has it; becomes taken.
std::string uniqueIdentifier(std::string_view name, std::set<std::string>& taken);

/// A tensor's elements between braces, several to a line.
std::string cInitializer(const core::Tensor& tensor);

} // namespace tenon::compiler
