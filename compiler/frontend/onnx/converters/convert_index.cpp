// SPDX-License-Identifier: Apache-2.0
// Operators that read or write elements at computed positions.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// ONNX's names for the ways of combining, ours for plain replacement.
std::string reductionOf(OnnxNode& node)
{
    const std::string reduction = node.string("reduction", "none");
    if (reduction == "none") return "update";
    if (reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max")
        node.fail(DiagnosticCode::BadAttribute, "reduction is " + quoted(reduction), "reduction");
    return reduction;
}

/// The one value of an input that must be known at import.
int64_t staticInteger(OnnxNode& node, size_t input)
{
    const std::vector<int64_t> values = node.staticIntegers(input);
    if (values.size() == 1) return values[0];
    if (!node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "input " + std::to_string(input) + " must have one element");
    return 0;
}

ValueRef cumulativeAlong(OnnxNode& node, const char* op, int64_t axis)
{
    return node.emit(op, {node.input(0)},
                     {{"axis", axis},
                      {"exclusive", int64_t{node.integer("exclusive", 0) != 0}},
                      {"reverse", int64_t{node.integer("reverse", 0) != 0}}});
}

/// Along every axis, of which the one that is known at run time is chosen.
ValueRef cumulativeAtRunTime(OnnxNode& node, const char* op)
{
    Formula f(node);
    const int64_t rank = node.rank(0);
    const ValueRef given = f.reshape(f.cast(node.input(1), kInt64), {});
    const ValueRef axis =
        f.where(f.compare("less", given, 0), f.add(given, static_cast<double>(rank)), given);
    ValueRef out = cumulativeAlong(node, op, 0);
    for (int64_t i = 1; i < rank; ++i)
        out = f.where(f.compare("equal", axis, static_cast<double>(i)),
                      cumulativeAlong(node, op, i), out);
    return out;
}

void cumulative(OnnxNode& node, const char* op)
{
    if (node.isOpen(1) && node.rank(0) > 0) return node.output(0, cumulativeAtRunTime(node, op));
    const int64_t axis = node.axisOf(staticInteger(node, 1), node.rank(0));
    node.output(0, cumulativeAlong(node, op, axis));
}

/// `k` is a number or a size that is known at run time.
void topK(OnnxNode& node, const Dim& k, bool takesLargest)
{
    const int64_t axis = node.axisOf(node.integer("axis", -1), node.rank(0));
    Attrs attrs{{"axis", axis}, {"largest", int64_t{takesLargest}}};
    if (k.isConst()) attrs.set("k", k.value());
    const ValueRef out = k.isConst() ? node.emit("topk", {node.input(0)}, std::move(attrs))
                                     : emitSized(node, "topk", {node.input(0)}, {k}, attrs);
    node.output(0, out);
    node.output(1, {out.node, 1});
}

} // namespace

void convertGatherElements(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    node.output(0, node.emit("gather", {node.input(0), node.input(1)}, {{"axis", axis}}));
}

void convertGatherNd(OnnxNode& node)
{
    node.output(0, node.emit("gather_nd", {node.input(0), node.input(1)},
                             {{"batch_dims", node.integer("batch_dims", 0)}}));
}

void convertScatterElements(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    node.output(0, node.emit("scatter_elements", {node.input(0), node.input(1), node.input(2)},
                             {{"axis", axis}, {"reduction", reductionOf(node)}}));
}

void convertScatterNd(OnnxNode& node)
{
    node.output(0, node.emit("scatter_nd", {node.input(0), node.input(1), node.input(2)},
                             {{"reduction", reductionOf(node)}}));
}

void convertTensorScatter(OnnxNode& node)
{
    const std::vector<int64_t> cache = node.shape(0), update = node.shape(1);
    const int64_t axis = node.axisOf(node.integer("axis", -2), static_cast<int64_t>(cache.size()));
    const std::string mode = node.string("mode", "linear");
    if (node.hasFailed()) return;
    if (axis == 0 || (mode != "linear" && mode != "circular") || update.size() != cache.size()) {
        node.fail(DiagnosticCode::BadAttribute,
                  "axis " + std::to_string(axis) + " and mode " + quoted(mode) +
                      " do not fit the cache (" + join(cache, ", ") + ")",
                  "axis");
        return;
    }
    Formula f(node);
    const auto rank = static_cast<int64_t>(cache.size());
    ValueRef position = f.iota(update[static_cast<size_t>(axis)], axis, rank);
    if (node.has(2)) {
        std::vector<int64_t> perBatch(cache.size(), 1);
        perBatch[0] = cache[0];
        position = f.add(position, f.reshape(f.cast(node.input(2), kInt64), perBatch));
    }
    if (mode == "circular")
        position = f.call(
            "floor_mod",
            {position, f.number(static_cast<double>(cache[static_cast<size_t>(axis)]), position)});
    node.output(0, node.emit("scatter_elements",
                             {node.input(0), f.broadcast(position, update), node.input(1)},
                             {{"axis", axis}}));
}

namespace {

/// The depth is a size that is known when the model runs.
void oneHotAtRunTime(OnnxNode& node, int64_t axis, int64_t rank)
{
    Formula f(node);
    const ValueRef given = f.cast(node.input(1), kInt64);
    const std::vector<Dim> depth = node.boundDims(f.rank(given) == 0 ? f.expand(given, 0) : given);
    if (node.hasFailed() || depth.size() != 1) return;
    const ValueRef count = node.sizeOf(depth[0]);
    const ValueRef index = f.expand(f.cast(node.input(0), kInt64), axis);
    const ValueRef wrapped = f.where(f.compare("less", index, 0), f.add(index, count), index);
    ValueRef places =
        emitSized(node, "arange", {wholeNumber(node, 0), wholeNumber(node, 1)}, depth);
    if (axis + 1 < rank) places = f.expand(places, 1, rank - 1 - axis);
    const ValueRef isOn = f.call("equal", {wrapped, places});
    const ValueRef values = node.input(2);
    node.output(0, f.where(isOn, f.squeeze(f.slice(values, 0, 1, 2), {0}),
                           f.squeeze(f.slice(values, 0, 0, 1), {0})));
}

} // namespace

void convertOneHot(OnnxNode& node)
{
    const int64_t rank = node.rank(0) + 1;
    const int64_t axis = node.axisOf(node.integer("axis", -1), rank);
    if (node.isOpen(1)) return oneHotAtRunTime(node, axis, rank);
    const std::vector<double> depths = node.staticNumbers(1);
    if (node.hasFailed()) return;
    if (depths.size() != 1 || !(depths[0] >= 1) || depths[0] > static_cast<double>(kMaxMadeUp)) {
        node.fail(DiagnosticCode::BadModel, "depth must be one positive number");
        return;
    }
    const auto depth = static_cast<int64_t>(depths[0]);
    Formula f(node);
    const ValueRef given = f.expand(f.cast(node.input(0), kInt64), axis);
    const ValueRef index =
        f.where(f.compare("less", given, 0), f.add(given, static_cast<double>(depth)), given);
    const ValueRef isOn = f.call("equal", {index, f.iota(depth, axis, rank)});
    const ValueRef values = node.input(2);
    node.output(0, f.where(isOn, f.squeeze(f.slice(values, 0, 1, 2), {0}),
                           f.squeeze(f.slice(values, 0, 0, 1), {0})));
}

namespace {

/// Along an axis of a matrix, the number of each row or column.
ValueRef numbersAlong(OnnxNode& node, const Dim& extent, int64_t axis)
{
    Formula f(node);
    if (extent.isConst()) return f.iota(extent.value(), axis, 2);
    return f.expand(countedTo(node, extent), axis == 0 ? 1 : 0);
}

} // namespace

void convertTrilu(OnnxNode& node)
{
    const auto rank = static_cast<size_t>(node.rank(0));
    if (node.hasFailed()) return;
    if (rank < 2) {
        node.fail(DiagnosticCode::ShapeMismatch, "the input must be a matrix or a stack of them");
        return;
    }
    Formula f(node);
    const Shape shape = node.type(0).shape;
    const ValueRef row = numbersAlong(node, shape[rank - 2], 0);
    const ValueRef column = numbersAlong(node, shape[rank - 1], 1);
    const ValueRef diagonal =
        node.has(1) ? f.add(row, f.reshape(f.cast(node.input(1), kInt64), {})) : row;
    const bool isUpper = node.integer("upper", 1) != 0;
    const ValueRef isKept = f.call(isUpper ? "greater_equal" : "less_equal", {column, diagonal});
    const ValueRef x = node.input(0);
    node.output(0, f.dtype(x).isBool() ? f.both(x, isKept) : f.where(isKept, x, f.number(0, x)));
}

void convertEyeLike(OnnxNode& node)
{
    const Shape shape = node.type(0).shape;
    const DataType own = node.type(0).dtype;
    const auto dtype = dataTypeOf(static_cast<int32_t>(node.integer("dtype", onnxTypeOf(own))));
    if (node.hasFailed()) return;
    if (shape.size() != 2 || !dtype) {
        node.fail(DiagnosticCode::BadAttribute, "the input must be a matrix and dtype a number",
                  "dtype");
        return;
    }
    Formula f(node);
    const ValueRef row =
        f.add(numbersAlong(node, shape[0], 0), static_cast<double>(node.integer("k", 0)));
    const ValueRef isOne = f.call("equal", {numbersAlong(node, shape[1], 1), row});
    node.has(0); // only its shape matters
    node.output(0, dtype->isBool()
                       ? isOne
                       : f.where(isOne, node.scalar(1, *dtype), node.scalar(0, *dtype)));
}

void convertReverseSequence(OnnxNode& node)
{
    const std::vector<int64_t> shape = node.shape(0);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t time = node.axisOf(node.integer("time_axis", 0), rank);
    const int64_t batch = node.axisOf(node.integer("batch_axis", 1), rank);
    if (node.hasFailed()) return;
    if (time == batch) {
        node.fail(DiagnosticCode::BadAttribute,
                  "time_axis and batch_axis are both " + std::to_string(time), "batch_axis");
        return;
    }
    Formula f(node);
    std::vector<int64_t> perBatch(shape.size(), 1);
    perBatch[static_cast<size_t>(batch)] = shape[static_cast<size_t>(batch)];
    const ValueRef length = f.reshape(f.cast(node.input(1), kInt64), perBatch);
    const ValueRef step = f.iota(shape[static_cast<size_t>(time)], time, rank);
    const ValueRef mirrored = f.subtract(f.subtract(length, 1), step);
    const ValueRef index = f.where(f.call("less", {step, length}), mirrored, step);
    node.output(0,
                node.emit("gather", {node.input(0), f.broadcast(index, shape)}, {{"axis", time}}));
}

void convertTopK1(OnnxNode& node) { topK(node, Dim(node.integer("k", -1)), true); }

void convertTopK(OnnxNode& node)
{
    Dim k;
    if (node.isOpen(1)) {
        const std::vector<Dim> dims = node.boundDims(1);
        if (dims.size() == 1) k = dims[0];
    } else {
        k = Dim(staticInteger(node, 1));
    }
    topK(node, k, node.integer("largest", 1) != 0);
}

void convertCumSum(OnnxNode& node) { cumulative(node, "cumsum"); }
void convertCumProd(OnnxNode& node) { cumulative(node, "cumprod"); }

void convertHardmax(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    int64_t axis = node.axisOf(node.integer("axis", node.opset() >= 13 ? -1 : 1), rank);
    if (node.hasFailed()) return;
    const std::vector<int64_t> shape = axis > 0 ? node.batchShape(0) : node.shape(0);
    if (node.hasFailed()) return;
    Formula f(node);
    ValueRef x = node.input(0);
    std::vector<int64_t> own = shape;
    if (node.opset() < 13) { // everything from `axis` on is one row
        const auto middle = shape.begin() + axis;
        const bool isOpen = !node.type(0).shape[0].isConst();
        own = {isOpen ? -1 : elementCount({shape.begin(), middle}),
               elementCount({middle, shape.end()})};
        axis = 1;
        x = f.reshape(x, own);
    }
    const ValueRef best =
        f.call("argmax", {x}, {{"axis", std::vector<int64_t>{axis}}, {"keepdims", int64_t{1}}});
    const ValueRef position =
        f.iota(own[static_cast<size_t>(axis)], axis, static_cast<int64_t>(own.size()));
    const ValueRef isBest = f.call("equal", {f.cast(best, kInt64), position});
    node.output(0, f.reshape(f.where(isBest, f.number(1, x), f.number(0, x)), shape));
}

} // namespace tenon::compiler
