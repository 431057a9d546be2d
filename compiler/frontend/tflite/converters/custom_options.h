// SPDX-License-Identifier: Apache-2.0
// The options of custom operators, each checked: numbers by name (a flexbuffer), or the plain
// struct of C that an operator's kernel reads.
#pragma once

#include "compiler/frontend/tflite/graph/tflite_node.h"

namespace tenon::compiler {

/// A whole number in [low, high]; fails for others and where it is missing.
int64_t wholeOption(TfliteNode& node, const char* name, int64_t low, int64_t high);
/// A finite number above zero, or any finite one where `fallback` says what an absent one is.
double positiveOption(TfliteNode& node, const char* name);
double realOption(TfliteNode& node, const char* name, double fallback);
/// Whole numbers in [0, limit); fails for others and where there are none.
std::vector<int64_t> indicesOption(TfliteNode& node, const char* name, int64_t limit);
/// The first `count` numbers of a struct of 32-bit integers; fails when it is shorter.
std::vector<int64_t> structOptions(TfliteNode& node, size_t count);

} // namespace tenon::compiler
