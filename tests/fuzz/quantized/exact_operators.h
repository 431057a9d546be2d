// SPDX-License-Identifier: Apache-2.0
// ONNX operators evaluated in doubles, written without the compiler's: what quantized graphs are
// compared with.
#pragma once

#include "tests/fuzz/graphs/node_attributes.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

/// Numbers of any type, row by row.
struct Array
{
    Dims shape;
    std::vector<double> data;
};

int64_t countOf(const Dims& shape);
Array arrayOf(Dims shape, const std::function<double(int64_t)>& at);
/// Calls `each` with every index of `shape`, in order.
void forEachIndex(const Dims& shape, const std::function<void(const Dims&)>& each);
int64_t flatIndex(const Dims& shape, const Dims& index);

int64_t intOf(const tenon_onnx::NodeProto& node, const std::string& name, int64_t fallback);
double floatOf(const tenon_onnx::NodeProto& node, const std::string& name, double fallback);
std::string textOf(const tenon_onnx::NodeProto& node, const std::string& name);
Dims intsOf(const tenon_onnx::NodeProto& node, const std::string& name, Dims fallback);

/// Operands of one node; null: absent.
using Operands = std::vector<const Array*>;
/// The result of an operator on real numbers. CHECKs that it is one of those the graphs hold.
Array evaluateReal(const tenon_onnx::NodeProto& node, const Operands& in);
/// The same for operators that look through a window; false for others.
bool evaluateWindow(const tenon_onnx::NodeProto& node, const Operands& in, Array& out);
/// The same for operators that only move values or join them.
bool evaluateMovement(const tenon_onnx::NodeProto& node, const Operands& in, Array& out);

/// round(value), halves to even; what lies within rounding error of a half is one, because sums of
/// doubles are not exact either.
double wholeOf(double value);

} // namespace tenon::test
