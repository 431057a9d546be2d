// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two operands and their fused activations.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <array>
#include <utility>

namespace tenon::compiler {
namespace {

using NamePair = std::pair<std::string_view, const char*>;

constexpr std::array<NamePair, 22> kBinary{{{"ADD", "add"},
                                            {"BITWISE_XOR", "bitwise_xor"},
                                            {"DIV", "divide"},
                                            {"EQUAL", "equal"},
                                            {"FLOOR_DIV", "floor_divide"},
                                            {"FLOOR_MOD", "floor_mod"},
                                            {"GREATER", "greater"},
                                            {"GREATER_EQUAL", "greater_equal"},
                                            {"LESS", "less"},
                                            {"LESS_EQUAL", "less_equal"},
                                            {"LOGICAL_AND", "logical_and"},
                                            {"LOGICAL_OR", "logical_or"},
                                            {"MAXIMUM", "maximum"},
                                            {"MINIMUM", "minimum"},
                                            {"MUL", "multiply"},
                                            {"NOT_EQUAL", "not_equal"},
                                            {"STABLEHLO_ADD", "add"},
                                            {"STABLEHLO_AND", "logical_and"},
                                            {"STABLEHLO_MAXIMUM", "maximum"},
                                            {"STABLEHLO_MINIMUM", "minimum"},
                                            {"STABLEHLO_MULTIPLY", "multiply"},
                                            {"SUB", "subtract"}}};

const char* binaryName(std::string_view op)
{
    for (const auto& [foreign, ours] : kBinary)
        if (foreign == op) return ours;
    CHECK(false) << "no element-wise operator for " << op;
    return "";
}

bool areAllQuantized(TfliteNode& node)
{
    return node.isQuantized(0) && node.isQuantized(1) && node.isOutputQuantized(0) &&
           node.type(0).dtype.bits <= 16 && node.type(1).dtype.bits <= 16;
}

/// Bytes on a scale that the reference adds in fixed point, halves up.
bool isFixedTerm(DataType dtype, const TensorScale& in, const TensorScale& out)
{
    const int64_t lowest = dtype.isSigned() ? -128 : 0;
    const double ratio = in.scale / out.scale;
    return dtype.bits == 8 && in.zero >= lowest && in.zero <= lowest + 255 && ratio >= 1.0 / 1024 &&
           ratio < 256;
}

/// Bits of the reference's multipliers.
constexpr int64_t kMultiplierBits = 21;

/// Two quantized tensors by one operator on their integers: sums and products.
void integerBinary(TfliteNode& node, const char* op, double sign, FusedActivation activation)
{
    const TensorScale a = oneScale(node, node.inputTensor(0)),
                      b = oneScale(node, node.inputTensor(1)),
                      out = oneScale(node, node.outputTensor(0));
    Attrs attrs = integerLimits(node, 0, activation);
    if (node.hasFailed()) return;
    attrs.set("lhs_scale", a.scale);
    attrs.set("lhs_zero_point", a.zero);
    attrs.set("rhs_scale", sign * b.scale);
    attrs.set("rhs_zero_point", b.zero);
    attrs.set("output_scale", out.scale);
    attrs.set("output_zero_point", out.zero);
    const bool isFixed = std::string_view(op) == "qnn.add" && node.outputType(0)->bits == 8 &&
                         isFixedTerm(node.type(0).dtype, a, out) &&
                         isFixedTerm(node.type(1).dtype, b, out);
    if (isFixed) attrs.set("multiplier_bits", kMultiplierBits);
    const PictureLayout layout = layoutOf(node, {0, 1});
    outputIn(node, 0,
             node.emit(op, {inputIn(node, 0, layout), inputIn(node, 1, layout)}, std::move(attrs)),
             layout);
}

void realBinary(TfliteNode& node, FusedActivation activation)
{
    const PictureLayout layout = layoutOf(node, {0, 1});
    const ValueRef a = realInput(node, 0, layout), b = realInput(node, 1, layout);
    if (node.hasFailed()) return;
    outputReal(node, 0, node.emit(binaryName(node.op()), {a, b}), layout, activation);
}

} // namespace

void convertAdd(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 0);
    if (areAllQuantized(node) && !node.hasFailed())
        return integerBinary(node, "qnn.add", 1, activation);
    realBinary(node, activation);
}

void convertSub(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 0);
    if (areAllQuantized(node) && !node.hasFailed())
        return integerBinary(node, "qnn.add", -1, activation);
    realBinary(node, activation);
}

void convertMul(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 0);
    if (areAllQuantized(node) && !node.hasFailed())
        return integerBinary(node, "qnn.mul", 1, activation);
    realBinary(node, activation);
}

void convertDiv(TfliteNode& node) { realBinary(node, activationAt(node, 0)); }

void convertBinary(TfliteNode& node) { realBinary(node, FusedActivation::None); }

/// Integers of one scale compare and choose as their real values do.
void convertOrdered(TfliteNode& node)
{
    const bool isComparison = node.outputType(0) == kBool;
    const bool isPlain = node.isQuantized(0) &&
                         haveSameScale(node.inputTensor(0), node.inputTensor(1)) &&
                         (isComparison || haveSameScale(node.inputTensor(0), node.outputTensor(0)));
    if (!isPlain) return realBinary(node, FusedActivation::None);
    const PictureLayout layout = layoutOf(node, {0, 1});
    const ValueRef a = inputIn(node, 0, layout), b = inputIn(node, 1, layout);
    outputIn(node, 0, node.emit(binaryName(node.op()), {a, b}), layout);
}

void convertSquaredDifference(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0, 1});
    const ValueRef a = realInput(node, 0, layout), b = realInput(node, 1, layout);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef difference = f.subtract(a, b);
    outputReal(node, 0, f.multiply(difference, difference), layout);
}

void convertPow(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0, 1});
    const ValueRef a = realInput(node, 0, layout), b = realInput(node, 1, layout);
    if (!node.hasFailed()) outputReal(node, 0, node.emit("power", {a, b}), layout);
}

void convertAddN(TfliteNode& node)
{
    const PictureLayout layout = layoutOfAll(node);
    ValueRef sum = realInput(node, 0, layout);
    for (size_t i = 1; i < node.inputCount(); ++i)
        sum = Formula(node).add(sum, realInput(node, i, layout));
    if (!node.hasFailed()) outputReal(node, 0, sum, layout);
}

} // namespace tenon::compiler
