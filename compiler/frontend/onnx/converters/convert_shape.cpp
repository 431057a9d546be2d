// SPDX-License-Identifier: Apache-2.0
// Operators that only change the shape: Reshape, Flatten, Squeeze, Unsqueeze, Expand.
#include "compiler/frontend/import/run_time_axes.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The dimension that entry `i` asks for, where 0 copies; nothing, after a failure, where it cannot
/// be one.
std::optional<Dim> entryOf(OnnxNode& node, const std::vector<Dim>& wanted, size_t i,
                           bool zeroIsSize)
{
    const Shape& input = node.type(0).shape;
    const Dim& dim = wanted[i];
    if (dim.isConst() && dim.value() < -1) {
        node.fail(DiagnosticCode::ShapeMismatch, "the new shape has the entry " + dim.text());
        return std::nullopt;
    }
    if (!(dim == Dim(0)) || zeroIsSize) return dim;
    if (i < input.size()) return input[i];
    node.fail(DiagnosticCode::ShapeMismatch, "the new shape copies dimension " + std::to_string(i) +
                                                 " but the input has the shape " +
                                                 shapeText(input));
    return std::nullopt;
}

/// Replaces 0 (copy) and the one -1 (whatever is left) of a Reshape by dimensions.
std::optional<Shape> resolvedShape(OnnxNode& node, const std::vector<Dim>& wanted, bool zeroIsSize)
{
    const Shape& input = node.type(0).shape;
    Shape out;
    Shape rest = input; ///< input dimensions that the new shape does not repeat
    Dim known(1);
    std::optional<size_t> open;
    for (size_t i = 0; i < wanted.size(); ++i) {
        std::optional<Dim> dim = entryOf(node, wanted, i, zeroIsSize);
        if (!dim) return std::nullopt;
        if (*dim == Dim(-1)) {
            if (open) {
                node.fail(DiagnosticCode::ShapeMismatch, "the new shape has two entries -1");
                return std::nullopt;
            }
            open = i;
            dim = Dim(1);
        }
        out.push_back(*dim);
        const auto same = dim->isConst() ? rest.end() : std::find(rest.begin(), rest.end(), *dim);
        if (same != rest.end())
            rest.erase(same);
        else
            known = known * *dim;
    }
    if (!open) return out;
    Dim total(1);
    for (const Dim& dim : rest) total = total * dim;
    const bool isDivisible = !total.isConst() || !known.isConst() ||
                             (known.value() != 0 && total.value() % known.value() == 0);
    if (known == Dim(0) || !isDivisible) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the shape " + shapeText(input) + " cannot be reshaped to " + shapeText(wanted));
        return std::nullopt;
    }
    out[*open] = floorDiv(total, known);
    return out;
}

/// newshape as numbers: symbolic dimensions become 0 where they copy the input's, else one -1;
/// nothing when that does not say it.
std::optional<std::vector<int64_t>> shapeAttr(OnnxNode& node, const Shape& shape)
{
    const Shape& input = node.type(0).shape;
    std::vector<int64_t> out;
    bool hasOpen = false;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i].isConst()) {
            out.push_back(shape[i].value());
        } else if (i < input.size() && shape[i] == input[i]) {
            out.push_back(0);
        } else if (!hasOpen) {
            hasOpen = true;
            out.push_back(-1);
        } else {
            return std::nullopt;
        }
    }
    return out;
}

void reshapeTo(OnnxNode& node, const std::vector<Dim>& wanted, bool zeroIsSize)
{
    const auto shape = resolvedShape(node, wanted, zeroIsSize);
    if (!shape) return;
    const auto numbers = shapeAttr(node, *shape);
    node.output(0, numbers ? node.emit("reshape", {node.input(0)}, {{"newshape", *numbers}})
                           : emitSized(node, "reshape", {node.input(0)}, *shape,
                                       {{"newshape", std::vector<int64_t>{}}}));
}

std::vector<Dim> dimsOf(const std::vector<int64_t>& numbers)
{
    return {numbers.begin(), numbers.end()};
}

std::vector<int64_t> axesArgument(OnnxNode& node)
{
    return node.has(1) ? node.staticIntegers(1) : node.integers("axes", {});
}

} // namespace

void convertReshapeAttr(OnnxNode& node)
{
    reshapeTo(node, dimsOf(node.integers("shape", {})), false);
}

void convertReshape(OnnxNode& node)
{
    const bool zeroIsSize = node.integer("allowzero", 0) != 0;
    if (node.rank(0) < 0 || node.hasFailed()) return;
    const auto* dims = node.dims(1);
    if (node.isRuntime(1)) return reshapeAtRunTime(node, zeroIsSize);
    if (dims && *dims)
        reshapeTo(node, **dims, zeroIsSize);
    else
        reshapeTo(node, dimsOf(node.staticIntegers(1)), zeroIsSize);
}

void convertFlatten(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    int64_t axis = node.integer("axis", 1);
    if (axis < -rank || axis > rank) {
        node.fail(DiagnosticCode::BadAttribute,
                  "axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) + ", " +
                      std::to_string(rank) + "]",
                  "axis");
        return;
    }
    if (axis < 0) axis += rank;
    const Shape& input = node.type(0).shape;
    Dim rows(1);
    Dim columns(1);
    for (int64_t i = 0; i < rank; ++i) {
        Dim& side = i < axis ? rows : columns;
        side = side * input[static_cast<size_t>(i)];
    }
    reshapeTo(node, {rows, columns}, true);
}

void convertSqueeze(OnnxNode& node)
{
    if (node.isRuntime(1) && node.rank(0) > 0) {
        RunTimeAxes axes(node, node.input(1), node.rank(0), RunTimeAxes::Empty::None);
        node.output(0, axes.squeeze(node.input(0)));
        return;
    }
    std::vector<int64_t> axes = node.axesOf(axesArgument(node), node.rank(0));
    if (node.hasFailed()) return;
    const Shape& shape = node.type(0).shape;
    if (axes.empty()) {
        for (size_t i = 0; i < shape.size(); ++i)
            if (shape[i] == Dim(1)) axes.push_back(static_cast<int64_t>(i));
    }
    for (const int64_t axis : axes)
        if (const Dim& dim = shape[static_cast<size_t>(axis)]; dim.isConst() && dim.value() != 1) {
            node.fail(DiagnosticCode::ShapeMismatch,
                      "axis " + std::to_string(axis) + " of the shape " + shapeText(shape) +
                          " is not 1 and cannot be removed",
                      "axes");
            return;
        }
    std::sort(axes.begin(), axes.end());
    if (axes.empty())
        node.forward(0, 0);
    else
        node.output(0, node.emit("squeeze", {node.input(0)}, {{"axis", axes}}));
}

void convertUnsqueeze(OnnxNode& node)
{
    if (node.isRuntime(1)) {
        const std::vector<int64_t> count = node.shape(1);
        if (node.hasFailed()) return;
        const int64_t rank = node.rank(0) + elementCount(count);
        RunTimeAxes axes(node, node.input(1), rank, RunTimeAxes::Empty::None);
        node.output(0, axes.unsqueeze(node.input(0)));
        return;
    }
    std::vector<int64_t> axes = axesArgument(node);
    const int64_t rank = node.rank(0) + static_cast<int64_t>(axes.size());
    axes = node.axesOf(axes, rank);
    if (node.hasFailed()) return;
    std::sort(axes.begin(), axes.end());
    if (axes.empty()) {
        node.forward(0, 0);
        return;
    }
    ValueRef out = node.input(0);
    for (size_t i = 0; i < axes.size();) {
        size_t run = 1;
        while (i + run < axes.size() && axes[i + run] == axes[i] + static_cast<int64_t>(run)) ++run;
        out = node.emit("expand_dims", {out},
                        {{"axis", axes[i]}, {"num_newaxis", static_cast<int64_t>(run)}});
        i += run;
    }
    node.output(0, out);
}

void convertExpand(OnnxNode& node)
{
    if (!node.constant(1) || !constantShape(node.type(0).shape)) return expandAtRunTime(node);
    std::vector<int64_t> wanted = node.staticIntegers(1);
    const std::vector<int64_t> input = node.shape(0);
    if (node.hasFailed()) return;
    // The result broadcasts both ways: an entry 1 keeps the input's dimension.
    const size_t rank = std::max(wanted.size(), input.size());
    std::vector<int64_t> out(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
        const int64_t a = i < input.size() ? input[input.size() - 1 - i] : 1;
        const int64_t b = i < wanted.size() ? wanted[wanted.size() - 1 - i] : 1;
        if (a != b && a != 1 && b != 1) {
            node.fail(DiagnosticCode::ShapeMismatch, "the shape (" + join(input, ", ") +
                                                         ") cannot be expanded to (" +
                                                         join(wanted, ", ") + ")");
            return;
        }
        out[rank - 1 - i] = a == 1 ? b : a;
    }
    if (out == input)
        node.forward(0, 0);
    else
        node.output(0, node.emit("broadcast_to", {node.input(0)}, {{"shape", out}}));
}

} // namespace tenon::compiler
