// SPDX-License-Identifier: Apache-2.0
// What the printer and the parser of the loop IR agree on.
#pragma once

#include "core/ir/tir/expr.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

/// Words that cannot name a variable or buffer.
inline constexpr std::string_view kReservedWords[] = {"T",    "and",  "as",    "def",  "else",
                                                      "for",  "if",   "in",    "not",  "or",
                                                      "pass", "True", "False", "with", "while"};

/// Function attribute in the text that holds PrimFunc::outputCount when it is not 1.
inline constexpr const char* kOutputsKey = "tir.outputs";

/// `name` with everything that is no identifier character replaced.
std::string identifier(std::string_view name);

/// Of a token: digits, "inf", "-inf" or "nan".
double numberOfText(std::string_view digits);

/// Type of an intrinsic when its call does not say another one.
DataType intrinsicResult(Intrinsic intrinsic, const std::vector<Expr>& args);

} // namespace tenon::tir
