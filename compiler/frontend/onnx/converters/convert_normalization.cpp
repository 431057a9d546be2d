// SPDX-License-Identifier: Apache-2.0
// Normalizations and softmax; all but batch normalization and softmax are decomposed.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// (x - mean) / sqrt(variance + epsilon) over `axes`.
ValueRef normalized(OnnxNode& node, ValueRef x, const std::vector<int64_t>& axes, double epsilon)
{
    const Attrs keep{{"axis", axes}, {"keepdims", int64_t{1}}};
    const ValueRef centred = node.emit("subtract", {x, node.emit("mean", {x}, keep)});
    const ValueRef variance = node.emit("mean", {node.emit("multiply", {centred, centred})}, keep);
    const ValueRef shifted =
        node.emit("add", {variance, node.scalar(epsilon, node.typeOf(variance).dtype)});
    return node.emit("divide", {centred, node.emit("sqrt", {shifted})});
}

/// A vector of C elements shaped to broadcast along axis 1 of a tensor of `rank`.
ValueRef perChannel(OnnxNode& node, size_t input, int64_t rank)
{
    const std::vector<int64_t> shape = node.shape(input);
    if (node.hasFailed()) return {};
    std::vector<int64_t> wide(static_cast<size_t>(rank), 1);
    wide[1] = elementCount(shape);
    return node.emit("reshape", {node.input(input)}, {{"newshape", wide}});
}

void convertSoftmaxAs(OnnxNode& node, const std::string& op, int64_t fallbackAxis)
{
    const int64_t rank = node.rank(0);
    const int64_t axis = node.axisOf(node.integer("axis", fallbackAxis), rank);
    if (node.hasFailed()) return;
    if (node.opset() >= 13 || axis == rank - 1) {
        node.output(0, node.emit(op, {node.input(0)}, {{"axis", axis}}));
        return;
    }
    // Before opset 13 everything from `axis` on is one row.
    const std::vector<int64_t> shape = axis > 0 ? node.batchShape(0) : node.shape(0);
    if (node.hasFailed()) return;
    const auto middle = shape.begin() + axis;
    const bool isOpen = !node.type(0).shape[0].isConst();
    const int64_t rows = isOpen ? -1 : elementCount({shape.begin(), middle});
    const int64_t columns = elementCount({middle, shape.end()});
    const ValueRef flat =
        node.emit("reshape", {node.input(0)}, {{"newshape", std::vector<int64_t>{rows, columns}}});
    const ValueRef out = node.emit(op, {flat}, {{"axis", int64_t{1}}});
    node.output(0, node.emit("reshape", {out}, {{"newshape", shape}}));
}

} // namespace

namespace {

/// Statistics of the batch instead of the stored ones, which it moves along.
void trainBatchNormalization(OnnxNode& node)
{
    Formula f(node);
    const int64_t rank = node.rank(0);
    const double momentum = node.number("momentum", 0.9);
    const double epsilon = node.number("epsilon", 1e-5);
    std::vector<int64_t> axes = counted(0, rank);
    if (rank < 2 || node.hasFailed()) {
        node.fail(DiagnosticCode::ShapeMismatch, "the input needs a channel axis");
        return;
    }
    axes.erase(axes.begin() + 1);
    const ValueRef x = node.input(0);
    const ValueRef mean = f.reduce("mean", x, axes, Formula::Keep::Yes);
    const ValueRef centred = f.subtract(x, mean);
    const ValueRef variance =
        f.reduce("mean", f.multiply(centred, centred), axes, Formula::Keep::Yes);
    const ValueRef out = f.divide(centred, f.apply("sqrt", f.add(variance, epsilon)));
    const ValueRef scaled = f.multiply(out, perChannel(node, 1, rank));
    node.output(0, f.add(scaled, perChannel(node, 2, rank)));
    const auto moved = [&](size_t input, ValueRef seen) {
        const ValueRef old = node.input(input);
        const ValueRef now = f.cast(f.squeeze(seen, axes), f.dtype(old));
        return f.add(f.multiply(old, momentum), f.multiply(now, 1 - momentum));
    };
    node.output(1, moved(3, mean));
    node.output(2, moved(4, variance));
}

/// x / sqrt(mean of squares + epsilon) over `axes`, computed in `inner`.
ValueRef overRootMeanSquare(Formula& f, ValueRef x, const std::vector<int64_t>& axes,
                            double epsilon)
{
    const ValueRef power = f.reduce("mean", f.multiply(x, x), axes, Formula::Keep::Yes);
    return f.divide(x, f.apply("sqrt", f.add(power, epsilon)));
}

/// The type a normalization computes in: what stash_type says, or the input's own when wider.
DataType stashType(OnnxNode& node)
{
    const DataType own = node.type(0).dtype;
    const auto asked = dataTypeOf(static_cast<int32_t>(node.integer("stash_type", 1)));
    return asked && asked->isFloat() && asked->bits > own.bits ? *asked : own;
}

} // namespace

void convertBatchNormalization(OnnxNode& node)
{
    if (node.integer("spatial", 1) == 0) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "spatial=0 (statistics per element) is not supported; export with opset 9 or "
                  "later",
                  "spatial");
        return;
    }
    // Opset 6 had is_test where opset 14 has training_mode; in between the outputs tell.
    if (node.opset() < 7 && node.integer("is_test", 0) == 0 && node.isRead(1)) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "is_test=0 (training) is not supported before opset 7; export for inference",
                  "is_test");
        return;
    }
    if (node.integer("training_mode", 0) != 0) {
        trainBatchNormalization(node);
        return;
    }
    for (size_t i = 1; i < node.outputCount(); ++i)
        if (node.isRead(i)) {
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "outputs besides the first belong to training; export the model for "
                      "inference");
            return;
        }
    const double epsilon = node.number("epsilon", 1e-5);
    node.output(
        0, node.emit("nn.batch_norm",
                     {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)},
                     {{"axis", int64_t{1}}, {"epsilon", epsilon}}));
}

void convertRmsNormalization(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const int64_t axis = node.axisOf(node.integer("axis", -1), rank);
    const double epsilon = node.number("epsilon", 1e-5);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef x = f.cast(node.input(0), stashType(node));
    const ValueRef out = overRootMeanSquare(f, x, counted(axis, rank), epsilon);
    node.output(0, f.multiply(f.cast(out, node.type(1).dtype), node.input(1)));
}

void convertLpNormalization(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", -1), node.rank(0));
    const int64_t p = node.integer("p", 2);
    if (p != 1 && p != 2) {
        node.fail(DiagnosticCode::BadAttribute, "p is " + std::to_string(p) + "; it may be 1 or 2",
                  "p");
        return;
    }
    Formula f(node);
    const ValueRef x = node.input(0);
    const ValueRef size = p == 1 ? f.apply("abs", x) : f.multiply(x, x);
    ValueRef sum = f.reduce("sum", size, {axis}, Formula::Keep::Yes);
    if (p == 2) sum = f.apply("sqrt", sum);
    // A vector of zeros stays one.
    const ValueRef isZero = f.compare("equal", sum, 0);
    node.output(0, f.where(isZero, f.number(0, x), f.divide(x, sum)));
}

void convertInstanceNormalization(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const double epsilon = node.number("epsilon", 1e-5);
    if (node.hasFailed()) return;
    if (rank < 3) {
        node.fail(DiagnosticCode::ShapeMismatch, "the input needs at least one spatial axis");
        return;
    }
    const ValueRef out = normalized(node, node.input(0), counted(2, rank), epsilon);
    const ValueRef scaled = node.emit("multiply", {out, perChannel(node, 1, rank)});
    node.output(0, node.emit("add", {scaled, perChannel(node, 2, rank)}));
}

void convertGroupNormalization(OnnxNode& node)
{
    const int64_t rank = node.rank(0), groups = node.integer("num_groups", 0);
    const double epsilon = node.number("epsilon", 1e-5);
    if (node.hasFailed()) return;
    const Shape shape = node.type(0).shape;
    if (rank >= 2 && !shape[1].isConst()) node.shape(0); // says what to bind
    const std::vector<int64_t> scale = node.shape(1);
    if (node.hasFailed()) return;
    const int64_t channels = rank < 2 ? 0 : shape[1].value();
    if (rank < 2 || groups < 1 || channels % groups != 0) {
        node.fail(DiagnosticCode::BadAttribute,
                  "num_groups is " + std::to_string(groups) + " but the input has the shape " +
                      shapeText(shape),
                  "num_groups");
        return;
    }
    Shape split{shape[0], groups, channels / groups};
    split.insert(split.end(), shape.begin() + 2, shape.end());
    ValueRef x = reshapedTo(node, node.input(0), split);
    x = normalized(node, x, counted(2, rank + 1), epsilon);
    if (elementCount(scale) == channels) {
        x = reshapedTo(node, x, shape);
        x = node.emit("multiply", {x, perChannel(node, 1, rank)});
        node.output(0, node.emit("add", {x, perChannel(node, 2, rank)}));
        return;
    }
    // Before opset 21 scale and bias are per group.
    x = node.emit("multiply", {x, perChannel(node, 1, rank + 1)});
    x = node.emit("add", {x, perChannel(node, 2, rank + 1)});
    node.output(0, reshapedTo(node, x, shape));
}

void convertLayerNormalization(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const int64_t axis = node.axisOf(node.integer("axis", -1), rank);
    const double epsilon = node.number("epsilon", 1e-5);
    if (node.hasFailed()) return;
    Formula f(node);
    const std::vector<int64_t> axes = counted(axis, rank);
    const DataType own = node.type(0).dtype;
    const ValueRef x = f.cast(node.input(0), stashType(node));
    ValueRef out;
    if (node.isRead(1) || node.isRead(2)) {
        const ValueRef mean = f.reduce("mean", x, axes, Formula::Keep::Yes);
        const ValueRef centred = f.subtract(x, mean);
        const ValueRef variance =
            f.reduce("mean", f.multiply(centred, centred), axes, Formula::Keep::Yes);
        const ValueRef deviation = f.apply("sqrt", f.add(variance, epsilon));
        node.output(1, mean);
        node.output(2, f.divide(f.number(1, deviation), deviation));
        out = f.divide(centred, deviation);
    } else {
        out = normalized(node, x, axes, epsilon);
    }
    out = f.multiply(f.cast(out, own), node.input(1));
    if (node.has(2)) out = f.add(out, node.input(2));
    node.output(0, out);
}

void convertMeanVarianceNormalization(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const std::vector<int64_t> axes = node.axesOf(node.integers("axes", {0, 2, 3}), rank);
    node.output(0, normalized(node, node.input(0), axes, 1e-9));
}

void convertLrn(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const int64_t size = node.integer("size", 0);
    const double alpha = node.number("alpha", 1e-4);
    const double beta = node.number("beta", 0.75);
    const double bias = node.number("bias", 1);
    if (node.hasFailed()) return;
    if (rank < 2 || size < 1 || size > (int64_t{1} << 20)) {
        node.fail(DiagnosticCode::BadAttribute, "size is " + std::to_string(size), "size");
        return;
    }
    // The sum over neighbouring channels is an average pooling along the channel axis times size.
    const DataType dtype = node.type(0).dtype;
    const ValueRef square = node.emit("multiply", {node.input(0), node.input(0)});
    const Shape shape = node.type(0).shape;
    Dim points(1);
    for (size_t i = 2; i < shape.size(); ++i) points = points * shape[i];
    const int64_t before = (size - 1) / 2;
    ValueRef mean = reshapedTo(node, square, {shape[0], Dim(1), shape[1], points});
    mean = node.emit("nn.avg_pool2d", {mean},
                     {{"pool_size", std::vector<int64_t>{size, 1}},
                      {"strides", std::vector<int64_t>{1, 1}},
                      {"padding", std::vector<int64_t>{before, 0, size - 1 - before, 0}},
                      {"dilation", std::vector<int64_t>{1, 1}},
                      {"ceil_mode", int64_t{0}},
                      {"count_include_pad", int64_t{1}}});
    mean = reshapedTo(node, mean, shape);
    ValueRef base = node.emit("multiply", {mean, node.scalar(alpha, dtype)});
    base = node.emit("add", {base, node.scalar(bias, dtype)});
    const ValueRef power = node.emit("power", {base, node.scalar(beta, dtype)});
    node.output(0, node.emit("divide", {node.input(0), power}));
}

void convertSoftmax(OnnxNode& node)
{
    convertSoftmaxAs(node, "nn.softmax", node.opset() >= 13 ? -1 : 1);
}

void convertLogSoftmax(OnnxNode& node)
{
    convertSoftmaxAs(node, "nn.log_softmax", node.opset() >= 13 ? -1 : 1);
}

} // namespace tenon::compiler
