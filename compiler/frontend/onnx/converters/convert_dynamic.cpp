// SPDX-License-Identifier: Apache-2.0
// Reshape, Expand, Tile, Slice and Range with shapes that are computed at run time.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

ValueRef asInt64(OnnxNode& node, ValueRef value)
{
    if (node.typeOf(value).dtype == kInt64) return value;
    return node.emit("cast", {value}, {{"dtype", kInt64}});
}

/// Number of elements of a rank-1 input; fails when it is not known.
int64_t listLength(OnnxNode& node, size_t input)
{
    const std::vector<int64_t> shape = node.shape(input);
    if (!node.hasFailed() && shape.size() == 1) return shape[0];
    node.fail(DiagnosticCode::DynamicShape, "input " + std::to_string(input) + " is " +
                                                node.type(input).text() +
                                                " but must be of rank 1 and known length");
    return 0;
}

ValueRef numbers(OnnxNode& node, const std::vector<int64_t>& values)
{
    return node.sizesOf(Shape(values.begin(), values.end()));
}

/// Repeats that are known up to symbols.
void tileBySizes(OnnxNode& node)
{
    Shape shape = node.type(0).shape;
    const std::vector<Dim> repeats = node.boundDims(1);
    if (!node.hasFailed() && repeats.size() != shape.size())
        node.fail(DiagnosticCode::ShapeMismatch, "repeats does not fit the rank of the input");
    if (node.hasFailed()) return;
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] * repeats[i];
    node.output(
        0, emitSized(node, "tile", {node.input(0)}, shape, {{"reps", std::vector<int64_t>{}}}));
}

void tileAtRunTime(OnnxNode& node)
{
    const Shape& input = node.type(0).shape;
    if (listLength(node, 1) != static_cast<int64_t>(input.size()))
        node.fail(DiagnosticCode::ShapeMismatch, "repeats does not fit the rank of the input");
    if (node.hasFailed()) return;
    const ValueRef sizes =
        node.emit("multiply", {asInt64(node, node.input(1)), node.sizesOf(input)});
    const Shape shape = node.boundDims(sizes);
    node.output(
        0, emitSized(node, "tile", {node.input(0)}, shape, {{"reps", std::vector<int64_t>{}}}));
}

} // namespace

void reshapeAtRunTime(OnnxNode& node, bool zeroIsSize)
{
    const auto rank = static_cast<size_t>(listLength(node, 1));
    Shape input = node.type(0).shape;
    const Dim total = product(input);
    if (node.hasFailed()) return;
    ValueRef wanted = asInt64(node, node.input(1));
    input.resize(rank, Dim(0)); // where nothing can be copied, 0 stays
    if (!zeroIsSize) {
        const ValueRef isCopied = node.emit("equal", {wanted, wholeNumber(node, 0)});
        wanted = node.emit("where", {isCopied, node.sizesOf(input), wanted});
    }
    const ValueRef isOpen = node.emit("equal", {wanted, wholeNumber(node, -1)});
    const ValueRef others = node.emit("where", {isOpen, wholeNumber(node, 1), wanted});
    const ValueRef known = node.emit("prod", {others});
    const ValueRef rest = node.emit(
        "floor_divide", {node.sizeOf(total), node.emit("maximum", {known, wholeNumber(node, 1)})});
    wanted = node.emit("where", {isOpen, rest, wanted});
    const Shape shape = node.boundDims(wanted);
    node.output(0, reshapedTo(node, node.input(0), shape));
}

void expandAtRunTime(OnnxNode& node)
{
    const auto wantedRank = static_cast<size_t>(listLength(node, 1));
    Shape input = node.type(0).shape;
    if (node.hasFailed()) return;
    const size_t rank = std::max(wantedRank, input.size());
    ValueRef wanted = asInt64(node, node.input(1));
    if (wantedRank < rank)
        wanted = node.emit("concatenate",
                           {numbers(node, std::vector<int64_t>(rank - wantedRank, 1)), wanted},
                           {{"axis", int64_t{0}}});
    input.insert(input.begin(), rank - input.size(), Dim(1));
    const ValueRef isKept = node.emit("equal", {wanted, wholeNumber(node, 1)});
    const Shape shape = node.boundDims(node.emit("where", {isKept, node.sizesOf(input), wanted}));
    node.output(0, emitSized(node, "broadcast_to", {node.input(0)}, shape,
                             {{"shape", std::vector<int64_t>{}}}));
}

void fillAtRunTime(OnnxNode& node)
{
    const Tensor zero = Tensor::of<float>(kFloat32, {1}, {0.0f});
    const auto given =
        node.hasAttr("value") ? node.tensorAttr("value") : std::make_shared<const Tensor>(zero);
    const Shape shape = node.boundDims(0);
    if (node.hasFailed()) return;
    if (given->size() != 1)
        return node.fail(DiagnosticCode::BadAttribute, "value must have one element", "value");
    const ValueRef scalar = node.constantNode(given->reshaped({}));
    node.output(0, shape.empty() ? scalar
                                 : emitSized(node, "full", {scalar}, shape,
                                             {{"shape", std::vector<int64_t>{}}}));
}

void convertTile(OnnxNode& node)
{
    if (node.isRuntime(1)) return tileAtRunTime(node);
    if (!node.constant(1)) return tileBySizes(node);
    const std::vector<int64_t> repeats = node.staticIntegers(1);
    node.output(0, node.emit("tile", {node.input(0)}, {{"reps", repeats}}));
}

namespace {

void checkSlice(OnnxNode& node, const std::vector<int64_t>& axes, const std::vector<int64_t>& steps)
{
    const bool fits = listLength(node, 1) == static_cast<int64_t>(axes.size()) &&
                      listLength(node, 2) == static_cast<int64_t>(axes.size()) &&
                      steps.size() == axes.size();
    if (!fits)
        node.fail(DiagnosticCode::BadAttribute,
                  "starts, ends, axes and steps must have equally many entries");
    for (const int64_t step : steps)
        if (step == 0 || step == std::numeric_limits<int64_t>::min())
            node.fail(DiagnosticCode::BadAttribute,
                      "the step " + std::to_string(step) + " is not allowed", "steps");
}

/// How many elements a slice takes from `begin` to `end`, `steps` apart.
Shape sliceLengths(OnnxNode& node, ValueRef begin, ValueRef end, const std::vector<int64_t>& steps)
{
    std::vector<int64_t> sign, magnitude, rounding;
    for (const int64_t step : steps) {
        sign.push_back(step > 0 ? 1 : -1);
        magnitude.push_back(step > 0 ? step : -step);
        rounding.push_back(magnitude.back() - 1);
    }
    const ValueRef span =
        node.emit("multiply", {node.emit("subtract", {end, begin}), numbers(node, sign)});
    const ValueRef padded = node.emit(
        "add", {node.emit("maximum", {span, wholeNumber(node, 0)}), numbers(node, rounding)});
    return node.boundDims(node.emit("floor_divide", {padded, numbers(node, magnitude)}));
}

} // namespace

void sliceAtRunTime(OnnxNode& node, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& steps)
{
    checkSlice(node, axes, steps);
    if (node.hasFailed()) return;
    const Shape input = node.type(0).shape;
    Shape extents, low, endHigh;
    for (size_t k = 0; k < axes.size(); ++k) {
        const Dim extent = input.at(static_cast<size_t>(axes[k]));
        const bool isForward = steps[k] > 0;
        extents.push_back(extent);
        low.emplace_back(isForward ? 0 : -1);
        endHigh.push_back(isForward ? extent : extent - Dim(1));
    }
    const auto bound = [&](size_t operand, const ValueRef& least) {
        const ValueRef given = asInt64(node, node.input(operand));
        const ValueRef isNegative = node.emit("less", {given, wholeNumber(node, 0)});
        const ValueRef counted = node.emit("add", {given, node.sizesOf(extents)});
        const ValueRef at = node.emit("where", {isNegative, counted, given});
        return node.emit("minimum", {node.emit("maximum", {at, least}), node.sizesOf(endHigh)});
    };
    const ValueRef begin = bound(1, wholeNumber(node, 0));
    const ValueRef end = bound(2, node.sizesOf(low));
    const Shape lengths = sliceLengths(node, begin, end, steps);
    if (node.hasFailed()) return;
    Shape shape = input;
    for (size_t k = 0; k < axes.size(); ++k) shape[static_cast<size_t>(axes[k])] = lengths[k];
    node.output(0, emitSized(node, "dynamic_slice", {node.input(0), begin}, shape,
                             {{"axes", axes}, {"strides", steps}}));
}

namespace {

/// As the import does with constants: what rounds to a whole number in fewer bits may be more.
ValueRef countOfReals(OnnxNode& node)
{
    const auto wide = [&](size_t input) {
        return node.emit("cast", {node.input(input)}, {{"dtype", kFloat64}});
    };
    const ValueRef span = node.emit("subtract", {wide(1), wide(0)});
    const ValueRef steps = node.emit("ceil", {node.emit("divide", {span, wide(2)})});
    const ValueRef count = node.emit("cast", {steps}, {{"dtype", kInt64}});
    if (node.constant(2)) return count;
    // A step of 0 is found by a division of integers, which complains.
    const ValueRef isStep = node.emit("cast", {node.input(2)}, {{"dtype", kBool}});
    return node.emit("floor_divide", {count, asInt64(node, isStep)});
}

/// A distance that int64 does not hold makes more elements than there can be.
ValueRef countOfIntegers(OnnxNode& node)
{
    const ValueRef start = asInt64(node, node.input(0)), limit = asInt64(node, node.input(1));
    const ValueRef span = node.emit("subtract", {limit, start});
    const ValueRef floor =
        node.emit("floor_divide", {node.emit("negative", {span}), asInt64(node, node.input(2))});
    const ValueRef count = node.emit("negative", {floor});
    const bool isFar = node.type(0).dtype.bits == 64 && (node.isRuntime(0) || node.isRuntime(1));
    if (!isFar) return count;
    // By signs: loops compare `limit - start < 0` as if nothing wrapped.
    const ValueRef signs = node.emit("bitwise_and", {node.emit("bitwise_xor", {limit, start}),
                                                     node.emit("bitwise_xor", {limit, span})});
    const ValueRef wraps = node.emit("less", {signs, wholeNumber(node, 0)});
    return node.emit("where", {wraps, wholeNumber(node, INT64_MAX), count});
}

} // namespace

void rangeAtRunTime(OnnxNode& node)
{
    const ValueRef start = node.input(0), step = node.input(2);
    const DataType dtype = node.typeOf(start).dtype;
    if (node.hasFailed()) return;
    const Tensor* constantStep = node.constant(2);
    if (constantStep && constantStep->number(0) == 0)
        return node.fail(DiagnosticCode::BadAttribute, "the step of a range is 0");
    ValueRef count = dtype.isFloat() ? countOfReals(node) : countOfIntegers(node);
    count = node.emit("maximum", {count, wholeNumber(node, 0)});
    const std::vector<Dim> length = node.boundDims(count);
    node.output(0, emitSized(node, "arange", {start, step}, length));
}

} // namespace tenon::compiler
