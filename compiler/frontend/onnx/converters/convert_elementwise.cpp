// SPDX-License-Identifier: Apache-2.0
// Element-wise arithmetic, comparison and logic: one foreign name, one operator of ours.
#include "compiler/frontend/onnx/converters/convert_narrow.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/file/element_types.h"
#include "core/base/text.h"

#include <array>
#include <utility>

namespace tenon::compiler {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr std::array<NamePair, 27> kUnary{{
    {"Abs", "abs"},         {"Acos", "acos"},
    {"Acosh", "acosh"},     {"Asin", "asin"},
    {"Asinh", "asinh"},     {"Atan", "atan"},
    {"Atanh", "atanh"},     {"BitwiseNot", "bitwise_not"},
    {"Ceil", "ceil"},       {"Cos", "cos"},
    {"Cosh", "cosh"},       {"Erf", "erf"},
    {"Exp", "exp"},         {"Floor", "floor"},
    {"IsNaN", "isnan"},     {"Log", "log"},
    {"Neg", "negative"},    {"Not", "logical_not"},
    {"Relu", "nn.relu"},    {"Round", "round"},
    {"Sigmoid", "sigmoid"}, {"Sign", "sign"},
    {"Sin", "sin"},         {"Sinh", "sinh"},
    {"Sqrt", "sqrt"},       {"Tan", "tan"},
    {"Tanh", "tanh"},
}};

constexpr std::array<NamePair, 16> kBinary{{
    {"Add", "add"},
    {"And", "logical_and"},
    {"BitwiseAnd", "bitwise_and"},
    {"BitwiseOr", "bitwise_or"},
    {"BitwiseXor", "bitwise_xor"},
    {"Div", "divide"},
    {"Equal", "equal"},
    {"Greater", "greater"},
    {"GreaterOrEqual", "greater_equal"},
    {"Less", "less"},
    {"LessOrEqual", "less_equal"},
    {"Mul", "multiply"},
    {"Or", "logical_or"},
    {"Pow", "power"},
    {"Sub", "subtract"},
    {"Xor", "logical_xor"},
}};

template <size_t N>
std::string mapped(const std::array<NamePair, N>& table, std::string_view op)
{
    for (const auto& [foreign, ours] : table)
        if (foreign == op) return std::string(ours);
    CHECK(false) << "no element-wise operator for " << op;
    return {};
}

/// Folds a variadic operator from the left.
ValueRef chain(OnnxNode& node, const std::string& op)
{
    ValueRef out = node.input(0);
    for (size_t i = 1; i < node.inputCount(); ++i) out = node.emit(op, {out, node.input(i)});
    return out;
}

} // namespace

void convertUnary(OnnxNode& node)
{
    node.output(0, node.emit(mapped(kUnary, node.op()), {node.input(0)}));
}

void convertBinary(OnnxNode& node)
{
    node.output(0, node.emit(mapped(kBinary, node.op()), {node.input(0), node.input(1)}));
}

void convertBinaryLegacy(OnnxNode& node)
{
    // Before opset 7 the second operand is aligned with `axis` of the first, or with its end.
    ValueRef b = node.input(1);
    const int64_t rankA = node.rank(0), rankB = node.rank(1);
    if (node.integer("broadcast", 0) != 0 && node.hasAttr("axis")) {
        const int64_t axis = node.axisOf(node.integer("axis", 0), rankA);
        const int64_t behind = rankA - axis - rankB;
        if (behind < 0 && !node.hasFailed())
            node.fail(DiagnosticCode::BadAttribute,
                      "axis " + std::to_string(axis) + " leaves no room for an operand of rank " +
                          std::to_string(rankB),
                      "axis");
        if (behind > 0)
            b = node.emit("expand_dims", {b}, {{"axis", rankB}, {"num_newaxis", behind}});
    }
    node.output(0, node.emit(mapped(kBinary, node.op()), {node.input(0), b}));
}

void convertPow(OnnxNode& node)
{
    const DataType dtype = node.type(0).dtype;
    ValueRef exponent = node.input(1);
    if (!node.hasFailed() && node.type(1).dtype != dtype)
        exponent = node.emit("cast", {exponent}, {{"dtype", dtype}});
    node.output(0, node.emit("power", {node.input(0), exponent}));
}

void convertMod(OnnxNode& node)
{
    // fmod=1 keeps the dividend's sign (C); fmod=0 the divisor's (Python).
    const bool isC = node.integer("fmod", 0) != 0;
    node.output(0, node.emit(isC ? "mod" : "floor_mod", {node.input(0), node.input(1)}));
}

void convertMaximum(OnnxNode& node)
{
    if (node.inputCount() == 1)
        node.forward(0, 0);
    else
        node.output(0, chain(node, "maximum"));
}

void convertMinimum(OnnxNode& node)
{
    if (node.inputCount() == 1)
        node.forward(0, 0);
    else
        node.output(0, chain(node, "minimum"));
}

void convertSum(OnnxNode& node)
{
    if (node.inputCount() == 1)
        node.forward(0, 0);
    else
        node.output(0, chain(node, "add"));
}

void convertMean(OnnxNode& node)
{
    if (node.inputCount() == 1) {
        node.forward(0, 0);
        return;
    }
    const ValueRef sum = chain(node, "add");
    const ValueRef count =
        node.scalar(static_cast<double>(node.inputCount()), node.typeOf(sum).dtype);
    node.output(0, node.emit("divide", {sum, count}));
}

void convertIsInf(OnnxNode& node)
{
    const bool hasNegative = node.integer("detect_negative", 1) != 0;
    const bool hasPositive = node.integer("detect_positive", 1) != 0;
    const ValueRef isInfinite = node.emit("isinf", {node.input(0)});
    if (hasNegative && hasPositive) {
        node.output(0, isInfinite);
        return;
    }
    // Neither sign asked for: nothing counts.
    const ValueRef zero = node.scalar(0, node.type(0).dtype);
    const ValueRef hasSign =
        hasNegative || hasPositive
            ? node.emit(hasPositive ? "greater" : "less", {node.input(0), zero})
            : node.emit("not_equal", {isInfinite, isInfinite});
    node.output(0, node.emit("logical_and", {isInfinite, hasSign}));
}

void convertReciprocal(OnnxNode& node)
{
    const ValueRef one = node.scalar(1, node.type(0).dtype);
    node.output(0, node.emit("divide", {one, node.input(0)}));
}

void convertWhere(OnnxNode& node)
{
    node.output(0, node.emit("where", {node.input(0), node.input(1), node.input(2)}));
}

namespace {

/// Input 0 as `target`, whose codes are the results, or as `dtype` where that is null. Narrow types
/// are codes on either side.
void castTo(OnnxNode& node, const NarrowType* target, std::optional<DataType> dtype,
            const std::string& name)
{
    const NarrowType* source = node.narrowType(0);
    if (node.hasFailed()) return;
    if (!dtype) {
        node.fail(DiagnosticCode::UnsupportedDtype, "casts to " + name + " are not supported",
                  "to");
        return;
    }
    if ((source && source == target) ||
        (!target && !source && node.isTyped(0) && node.type(0).dtype == *dtype)) {
        node.forward(0, 0);
        return;
    }
    if (!target && !source) {
        node.output(0, node.emit("cast", {node.input(0)}, {{"dtype", *dtype}}));
        return;
    }
    ValueRef value = node.input(0);
    if (source) value = decodedNarrow(node, value, *source, *dtype);
    if (target) {
        node.markResultsNarrow(target);
        value = encodedNarrow(node, value, *target);
    }
    node.output(0, value);
}

} // namespace

void convertCast(OnnxNode& node)
{
    const auto to = static_cast<int32_t>(node.integer("to", 0));
    const NarrowType* target = narrowTypeOf(to);
    castTo(node, target, target ? kFloat32 : dataTypeOf(to), onnxTypeName(to));
}

void convertCastLike(OnnxNode& node)
{
    const DataType dtype = node.type(1).dtype;
    if (node.hasFailed()) return;
    const NarrowType* target = node.narrowType(1);
    castTo(node, target, target ? kFloat32 : dtype, dtype.text());
}

} // namespace tenon::compiler
