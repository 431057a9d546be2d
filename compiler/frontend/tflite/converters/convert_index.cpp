// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by indices or conditions.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

void convertGather(TfliteNode& node)
{
    const int64_t axis = node.axisOf(node.integer(0), node.rank(0));
    const int64_t shared = node.integer(1) < 0 ? node.integer(1) + node.rank(1) : node.integer(1);
    const ValueRef data = node.input(0), indices = node.input(1);
    if (node.hasFailed()) return;
    Formula f(node);
    if (shared == 0) return node.output(0, f.take(data, indices, axis));
    if (shared != axis || shared < 0 || shared > node.rank(1)) {
        node.fail(DiagnosticCode::UnsupportedFeature, "batch_dims of " + std::to_string(shared) +
                                                          " before axis " + std::to_string(axis) +
                                                          " are not supported; they must be equal");
        return;
    }
    node.output(
        0, f.call("gather_nd", {data, f.expand(indices, node.rank(1))}, {{"batch_dims", shared}}));
}

void convertGatherNd(TfliteNode& node)
{
    const ValueRef data = node.input(0), indices = node.input(1);
    if (!node.hasFailed()) node.output(0, node.emit("gather_nd", {data, indices}));
}

void convertScatterNd(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.staticIntegers(2);
    const ValueRef indices = node.input(0), updates = node.input(1);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef zeros = f.broadcast(f.number(0, updates), shape);
    node.output(0, f.call("scatter_nd", {zeros, f.cast(indices, kInt64), updates},
                          {{"reduction", std::string("add")}}));
}

void convertEmbeddingLookup(TfliteNode& node)
{
    const ValueRef ids = node.input(0), table = node.input(1);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef rows = f.take(table, ids, 0);
    const bool isReal = node.outputType(0) == kFloat32 && node.type(1).dtype.isInt();
    if (isReal) {
        const TfliteTensor& tensor = *node.inputTensor(1);
        if (tensor.quantization.scales.size() == 1)
            return node.output(0, dequantized(node, rows, tensor, 0));
        return node.output(0, f.take(realInput(node, 1), ids, 0));
    }
    node.output(0, rows);
}

namespace {

/// The condition over the elements of what is chosen from.
void select(TfliteNode& node, bool isByRow)
{
    const PictureLayout layout = isByRow ? PictureLayout::File : layoutOf(node, {0, 1, 2});
    Formula f(node);
    ValueRef condition = inputIn(node, 0, layout);
    const int64_t rank = node.rank(1);
    if (node.hasFailed()) return;
    if (isByRow && node.rank(0) == 1 && rank > 1) condition = f.expand(condition, 1, rank - 1);
    outputIn(node, 0, f.where(condition, inputIn(node, 1, layout), inputIn(node, 2, layout)),
             layout);
}

} // namespace

void convertSelect(TfliteNode& node) { select(node, true); }
void convertSelectV2(TfliteNode& node) { select(node, false); }

void convertOneHot(TfliteNode& node)
{
    const std::vector<int64_t> depth = node.staticIntegers(1);
    const int64_t rank = node.rank(0);
    const int64_t axis = node.axisOf(node.integer(0, -1), rank + 1);
    const ValueRef indices = node.input(0), on = node.input(2), off = node.input(3);
    if (node.hasFailed()) return;
    if (depth.size() != 1 || depth[0] < 0) {
        node.fail(DiagnosticCode::BadAttribute, "one depth is needed");
        return;
    }
    Formula f(node);
    const ValueRef places = f.iota(depth[0], axis, rank + 1, f.dtype(indices));
    node.output(0, f.where(f.call("equal", {f.expand(indices, axis), places}), on, off));
}

void convertTile(TfliteNode& node)
{
    const std::vector<int64_t> times = node.staticIntegers(1);
    const ValueRef value = node.input(0);
    if (!node.hasFailed()) node.output(0, node.emit("tile", {value}, {{"reps", times}}));
}

void convertReverse(TfliteNode& node)
{
    const std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), node.rank(0));
    ValueRef value = node.input(0);
    for (const int64_t axis : axes) value = Formula(node).reversed(value, axis);
    if (!node.hasFailed()) node.output(0, value);
}

void convertReverseSequence(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t time = node.axisOf(node.integer(0), rank),
                  batch = node.axisOf(node.integer(1), rank);
    if (!node.hasFailed() && time == batch)
        node.fail(DiagnosticCode::BadAttribute,
                  "sequences and batches are both along axis " + std::to_string(time));
    if (node.hasFailed()) return;
    Formula f(node);
    std::vector<int64_t> perBatch(shape.size(), 1);
    perBatch[static_cast<size_t>(batch)] = shape[static_cast<size_t>(batch)];
    const ValueRef length = f.reshape(f.cast(node.input(1), kInt64), perBatch);
    const ValueRef step = f.iota(shape[static_cast<size_t>(time)], time, rank);
    const ValueRef mirrored = f.subtract(f.subtract(length, 1), step);
    const ValueRef from = f.where(f.call("less", {step, length}), mirrored, step);
    node.output(0, f.call("gather", {node.input(0), f.broadcast(from, shape)}, {{"axis", time}}));
}

void convertTopK(TfliteNode& node)
{
    const std::vector<int64_t> count = node.staticIntegers(1);
    const ValueRef value = node.input(0);
    if (node.hasFailed()) return;
    if (count.size() != 1) {
        node.fail(DiagnosticCode::BadAttribute, "one count is needed");
        return;
    }
    const ValueRef best = node.emit("topk", {value}, {{"k", count[0]}});
    node.output(0, best);
    if (!node.hasFailed() && node.usesOutput(1))
        node.output(1, Formula(node).cast({best.node, 1}, node.outputType(1).value_or(kInt32)));
}

void convertRange(TfliteNode& node)
{
    const std::vector<double> first = node.staticNumbers(0), limit = node.staticNumbers(1),
                              step = node.staticNumbers(2);
    if (node.hasFailed()) return;
    const DataType dtype = node.type(0).dtype;
    if (first.size() != 1 || limit.size() != 1 || step.size() != 1 || step[0] == 0) {
        node.fail(DiagnosticCode::BadAttribute, "its limits are not usable");
        return;
    }
    const double count = std::max(0.0, std::ceil((limit[0] - first[0]) / step[0]));
    if (!(count <= static_cast<double>(kMaxMadeUp))) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "a range of " + exact(count) + " elements is too long");
        return;
    }
    std::vector<double> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = first[0] + static_cast<double>(i) * step[0];
    const auto size = static_cast<int64_t>(values.size());
    node.outputConstant(0, Tensor::make(dtype, {size}, [&](std::span<std::byte> out) {
                            for (int64_t i = 0; i < size; ++i)
                                storeNumber(dtype, out, i, values[static_cast<size_t>(i)]);
                        }));
}

/// Each element of the operand is its own, or the update's where that lies over it.
void convertDynamicUpdateSlice(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0), part = node.shape(1);
    ValueRef value = node.input(1);
    const ValueRef starts = node.input(2);
    if (node.hasFailed()) return;
    Formula f(node);
    const auto rank = static_cast<int64_t>(shape.size());
    ValueRef isInside;
    for (int64_t axis = 0; axis < rank && !node.hasFailed(); ++axis) {
        const auto at = static_cast<size_t>(axis);
        if (part[at] > shape[at] || part[at] < 1) {
            node.fail(DiagnosticCode::ShapeMismatch, "an update of (" + join(part, ", ") +
                                                         ") does not fit (" + join(shape, ", ") +
                                                         ")");
            return;
        }
        const ValueRef given = f.cast(f.slice(starts, 0, axis, axis + 1), kInt64);
        const ValueRef start = f.clip(given, 0, static_cast<double>(shape[at] - part[at]));
        const ValueRef place = f.subtract(f.iota(shape[at], 0, 1), start);
        value = f.take(value, f.clip(place, 0, static_cast<double>(part[at] - 1)), axis);
        ValueRef covers = f.both(f.compare("greater_equal", place, 0),
                                 f.compare("less", place, static_cast<double>(part[at])));
        if (axis + 1 < rank) covers = f.expand(covers, 1, rank - axis - 1);
        isInside = isInside.node.isValid() ? f.both(isInside, covers) : covers;
    }
    if (node.hasFailed()) return;
    node.output(0, rank == 0 ? value : f.where(isInside, value, node.input(0)));
}

} // namespace tenon::compiler
