// SPDX-License-Identifier: Apache-2.0
// Operators whose result is as large as the data says: NonZero, Compress, Unique and
// NonMaxSuppression. A kernel writes rows and their number; the number becomes a size.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

ValueRef result(ValueRef first, uint32_t index) { return {first.node, index}; }

/// The first `count` rows of `rows`.
ValueRef firstRows(OnnxNode& node, ValueRef rows, const Dim& count)
{
    Shape shape = node.typeOf(rows).shape;
    if (shape.empty()) return rows;
    shape[0] = count;
    return emitSized(node, "dynamic_slice", {rows, node.sizesOf({Dim(0)})}, shape,
                     {{"axes", std::vector<int64_t>{0}}, {"strides", std::vector<int64_t>{1}}});
}

/// Indices of what is not zero, one row each.
ValueRef nonzeroRows(OnnxNode& node, ValueRef data, Dim& count)
{
    const ValueRef found = node.emit("nonzero", {data});
    const std::vector<Dim> bound = node.boundDims(result(found, 1));
    if (node.hasFailed()) return {};
    count = bound[0];
    return firstRows(node, found, count);
}

ValueRef flattened(OnnxNode& node, ValueRef value, const Shape& shape)
{
    return emitSized(node, "reshape", {value}, shape, {{"newshape", std::vector<int64_t>{}}});
}

/// A one-element input as rank 1, or `fallback`.
ValueRef oneElement(OnnxNode& node, size_t input, double fallback, DataType dtype)
{
    if (!node.has(input))
        return node.constantNode(Tensor::make(dtype, {1}, [&](std::span<std::byte> out) {
            if (dtype.isInt())
                storeInteger(dtype, out, 0, static_cast<int64_t>(fallback));
            else
                storeNumber(dtype, out, 0, fallback);
        }));
    return flattened(node, node.input(input), {Dim(1)});
}

/// Where a condition known at import holds.
ValueRef chosenPositions(OnnxNode& node, const Tensor& condition, const Dim& extent)
{
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < condition.size(); ++i)
        if (condition.integer(i) != 0) positions.push_back(i);
    if (!positions.empty() && extent.isConst() && positions.back() >= extent.value())
        node.fail(DiagnosticCode::ShapeMismatch, "the condition chooses element " +
                                                     std::to_string(positions.back()) +
                                                     " of an axis of " + extent.text());
    const auto count = static_cast<int64_t>(positions.size());
    return node.constantNode(Tensor::of<int64_t>(kInt64, {count}, positions));
}

} // namespace

void convertNonZero(OnnxNode& node)
{
    ValueRef data = node.input(0);
    const auto rank = static_cast<int64_t>(node.type(0).shape.size());
    if (node.hasFailed()) return;
    Dim count;
    const ValueRef rows = nonzeroRows(node, data, count);
    // A scalar has no indices: the result is (0, number of nonzeros).
    node.output(0, rank == 0
                       ? emitSized(node, "reshape", {rows}, {Dim(0), count},
                                   {{"newshape", std::vector<int64_t>{}}})
                       : node.emit("transpose", {rows}, {{"axes", std::vector<int64_t>{1, 0}}}));
}

void convertCompress(OnnxNode& node)
{
    ValueRef data = node.input(0);
    const Shape shape = node.type(0).shape;
    if (node.hasFailed()) return;
    int64_t axis = 0;
    if (node.hasAttr("axis"))
        axis = node.axisOf(node.integer("axis", 0), static_cast<int64_t>(shape.size()));
    else
        data = flattened(node, data, {product(shape)});
    if (node.hasFailed()) return;
    ValueRef chosen;
    if (const Tensor* condition = node.constant(1)) {
        chosen = chosenPositions(node, *condition,
                                 node.typeOf(data).shape.at(static_cast<size_t>(axis)));
    } else {
        Dim count;
        const ValueRef rows = nonzeroRows(node, node.input(1), count);
        if (node.hasFailed()) return;
        chosen = flattened(node, rows, {count});
    }
    node.output(0, node.emit("take", {data, chosen}, {{"axis", axis}}));
}

void convertUnique(OnnxNode& node)
{
    ValueRef data = node.input(0);
    Shape shape = node.type(0).shape;
    if (node.hasFailed()) return;
    int64_t axis = 0;
    std::vector<int64_t> order;
    if (node.hasAttr("axis")) {
        axis = node.axisOf(node.integer("axis", 0), static_cast<int64_t>(shape.size()));
        order.push_back(axis);
        for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
            if (d != axis) order.push_back(d);
        if (node.hasFailed()) return;
        std::rotate(shape.begin(), shape.begin() + axis, shape.begin() + axis + 1);
    } else {
        shape = {product(shape)};
        data = flattened(node, data, shape);
    }
    const ValueRef first =
        order.size() > 1 ? node.emit("transpose", {data}, {{"axes", order}}) : data;
    const ValueRef rows =
        flattened(node, first, {shape[0], product(Shape(shape.begin() + 1, shape.end()))});
    const ValueRef found = node.emit("unique", {rows}, {{"sorted", node.integer("sorted", 1)}});
    const std::vector<Dim> count = node.boundDims(result(found, 3));
    if (node.hasFailed()) return;
    const ValueRef firsts = firstRows(node, result(found, 0), count[0]);
    node.output(0, node.emit("take", {data, firsts}, {{"axis", axis}}));
    node.output(1, firsts);
    node.output(2, result(found, 1));
    node.output(3, firstRows(node, result(found, 2), count[0]));
}

void convertNonMaxSuppression(OnnxNode& node)
{
    const std::vector<ValueRef> operands = {
        node.input(0),
        node.input(1),
        oneElement(node, 2, 0, kInt64),
        oneElement(node, 3, 0, kFloat32),
        oneElement(node, 4, -std::numeric_limits<float>::infinity(), kFloat32),
    };
    const ValueRef found = node.emit("vision.non_max_suppression", operands,
                                     {{"center_point_box", node.integer("center_point_box", 0)}});
    const std::vector<Dim> count = node.boundDims(result(found, 1));
    if (node.hasFailed()) return;
    node.output(0, firstRows(node, found, count[0]));
}

} // namespace tenon::compiler
