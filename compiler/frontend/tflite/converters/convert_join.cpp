// SPDX-License-Identifier: Apache-2.0
// CONCATENATION, padding, and the rearrangements of pictures in blocks.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// A part under the result's scale.
ValueRef rescaledPart(TfliteNode& node, size_t input, PictureLayout layout, const Attrs& limits)
{
    const ValueRef value = inputIn(node, input, layout);
    if (haveSameScale(node.inputTensor(input), node.outputTensor(0)) && !limits.has("a_min"))
        return value;
    const TensorScale from = oneScale(node, node.inputTensor(input)),
                      to = oneScale(node, node.outputTensor(0));
    if (node.hasFailed()) return {};
    Formula f(node);
    Attrs attrs = limits;
    attrs.set("input_zero_point", from.zero);
    const float ratio = static_cast<float>(from.scale) / static_cast<float>(to.scale);
    return f.call("qnn.requantize",
                  {value, f.numbers({static_cast<double>(ratio)}, {}, kFloat32),
                   integerScalar(node, to.zero, *node.outputType(0))},
                  std::move(attrs));
}

} // namespace

void convertConcatenation(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 1);
    const int64_t axis = node.axisOf(node.integer(0), node.rank(0));
    if (node.hasFailed()) return;
    const PictureLayout layout = layoutOfAll(node);
    const bool isInteger = node.isOutputQuantized(0) && node.outputType(0)->bits <= 16;
    const Attrs limits = isInteger ? integerLimits(node, 0, activation) : Attrs();
    std::vector<ValueRef> parts;
    for (size_t i = 0; i < node.inputCount() && !node.hasFailed(); ++i)
        parts.push_back(isInteger ? rescaledPart(node, i, layout, limits)
                                  : inputIn(node, i, layout));
    if (node.hasFailed()) return;
    ValueRef out = Formula(node).concat(parts, axisIn(axis, layout));
    if (!isInteger) out = activated(node, out, activation);
    outputIn(node, 0, out, layout);
}

namespace {

/// [before, behind] of each axis of the file.
std::vector<std::vector<int64_t>> paddings(TfliteNode& node)
{
    const std::vector<int64_t> flat = node.staticIntegers(1);
    const int64_t rank = node.rank(0);
    if (node.hasFailed()) return {};
    if (static_cast<int64_t>(flat.size()) != 2 * rank) {
        node.fail(DiagnosticCode::ShapeMismatch, "the paddings have " +
                                                     std::to_string(flat.size()) + " numbers for " +
                                                     std::to_string(rank) + " axes");
        return {};
    }
    std::vector<std::vector<int64_t>> out;
    for (size_t i = 0; i < flat.size(); i += 2) {
        if (flat[i] < 0 || flat[i + 1] < 0 || flat[i] > (1 << 28) || flat[i + 1] > (1 << 28))
            node.fail(DiagnosticCode::BadAttribute,
                      "the paddings [" + join(flat, ", ") + "] are not usable");
        out.push_back({flat[i], flat[i + 1]});
    }
    return out;
}

void padWith(TfliteNode& node, double value)
{
    const auto each = paddings(node);
    if (node.hasFailed()) return;
    const PictureLayout layout = layoutOf(node, {0});
    std::vector<int64_t> width;
    for (const std::vector<int64_t>& axis : listIn(each, layout))
        width.insert(width.end(), axis.begin(), axis.end());
    outputIn(node, 0, Formula(node).pad(inputIn(node, 0, layout), width, value), layout);
}

} // namespace

void convertPad(TfliteNode& node)
{
    const bool isInteger = node.isOutputQuantized(0);
    padWith(node, isInteger ? static_cast<double>(node.outputTensor(0)->quantization.zeros[0]) : 0);
}

void convertPadV2(TfliteNode& node)
{
    const std::vector<double> value = node.staticNumbers(2);
    if (!node.hasFailed() && value.size() != 1)
        node.fail(DiagnosticCode::BadAttribute, "one value is needed to pad with");
    if (!node.hasFailed()) padWith(node, value[0]);
}

void convertMirrorPad(TfliteNode& node)
{
    const auto each = paddings(node);
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const int64_t edge = node.byte(0) != 0 ? 1 : 0; // SYMMETRIC repeats the border
    const PictureLayout layout = layoutOf(node, {0});
    ValueRef value = inputIn(node, 0, layout);
    Formula f(node);
    for (size_t axis = 0; axis < each.size() && !node.hasFailed(); ++axis) {
        const auto [before, behind] = std::pair(each[axis][0], each[axis][1]);
        const int64_t extent = shape[axis];
        if (before == 0 && behind == 0) continue;
        if (std::max(before, behind) > extent - 1 + edge) {
            node.fail(DiagnosticCode::BadAttribute, "an axis of " + std::to_string(extent) +
                                                        " elements cannot be mirrored by " +
                                                        std::to_string(std::max(before, behind)));
            return;
        }
        if (extent + before + behind > kMaxMadeUp) {
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "an axis of " + std::to_string(extent) + " elements is too long to mirror");
            return;
        }
        std::vector<int64_t> from;
        for (int64_t i = before; i > 0; --i) from.push_back(i - edge);
        for (int64_t i = 0; i < extent; ++i) from.push_back(i);
        for (int64_t i = 0; i < behind; ++i) from.push_back(extent - 2 + edge - i);
        const auto count = static_cast<int64_t>(from.size());
        value =
            f.take(value, f.integers(from, {count}), axisIn(static_cast<int64_t>(axis), layout));
    }
    outputIn(node, 0, value, layout);
}

namespace {

/// Size of the blocks; 0 when it does not divide.
int64_t blockOf(TfliteNode& node, const std::vector<int64_t>& shape, bool isSpace)
{
    const int64_t block = node.integer(0);
    if (node.hasFailed()) return 0;
    const bool fits = shape.size() == 4 && block >= 1 && block <= 4096 &&
                      (isSpace ? shape[1] % block == 0 && shape[2] % block == 0
                               : shape[3] % (block * block) == 0);
    if (fits) return block;
    node.fail(DiagnosticCode::BadAttribute, "blocks of " + std::to_string(block) +
                                                " do not divide the shape (" + join(shape, ", ") +
                                                ")");
    return 0;
}

} // namespace

void convertSpaceToDepth(TfliteNode& node)
{
    const std::vector<int64_t> s = node.shape(0);
    const int64_t b = blockOf(node, s, true);
    if (b == 0) return;
    Formula f(node);
    ValueRef value = f.reshape(node.channelsFirst(0), {s[0], s[3], s[1] / b, b, s[2] / b, b});
    value = f.transpose(value, {0, 3, 5, 1, 2, 4});
    node.outputChannelsFirst(0, f.reshape(value, {s[0], b * b * s[3], s[1] / b, s[2] / b}));
}

void convertDepthToSpace(TfliteNode& node)
{
    const std::vector<int64_t> s = node.shape(0);
    const int64_t b = blockOf(node, s, false);
    if (b == 0) return;
    Formula f(node);
    const int64_t channels = s[3] / (b * b);
    ValueRef value = f.reshape(node.channelsFirst(0), {s[0], b, b, channels, s[1], s[2]});
    value = f.transpose(value, {0, 3, 4, 1, 5, 2});
    node.outputChannelsFirst(0, f.reshape(value, {s[0], channels, s[1] * b, s[2] * b}));
}

namespace {

struct BatchBlocks
{
    std::vector<int64_t> blocks, edges, shape;
};

BatchBlocks batchBlocks(TfliteNode& node)
{
    BatchBlocks out{node.staticIntegers(1), node.staticIntegers(2), node.shape(0)};
    if (node.hasFailed()) return out;
    bool fits = out.edges.size() == 2 * out.blocks.size() &&
                out.shape.size() >= out.blocks.size() + 1 && !out.blocks.empty();
    for (const int64_t block : out.blocks) fits = fits && block >= 1 && block <= 4096;
    for (const int64_t edge : out.edges) fits = fits && edge >= 0 && edge <= (1 << 24);
    if (!fits)
        node.fail(DiagnosticCode::BadAttribute,
                  "blocks [" + join(out.blocks, ", ") + "] and edges [" + join(out.edges, ", ") +
                      "] do not fit the shape (" + join(out.shape, ", ") + ")");
    return out;
}

} // namespace

void convertSpaceToBatchNd(TfliteNode& node)
{
    const BatchBlocks b = batchBlocks(node);
    if (node.hasFailed()) return;
    Formula f(node);
    std::vector<int64_t> width(2 * b.shape.size(), 0);
    std::copy(b.edges.begin(), b.edges.end(), width.begin() + 2);
    const double zero = node.isOutputQuantized(0)
                            ? static_cast<double>(node.outputTensor(0)->quantization.zeros[0])
                            : 0;
    ValueRef value = f.pad(node.input(0), width, zero);
    const std::vector<int64_t> padded = f.shape(value);
    if (node.hasFailed()) return;
    const size_t count = b.blocks.size();
    std::vector<int64_t> apart{padded[0]}, order, joined{padded[0]};
    for (size_t i = 0; i < count; ++i) {
        if (padded[1 + i] % b.blocks[i] != 0) {
            node.fail(DiagnosticCode::ShapeMismatch,
                      "the blocks do not divide the padded shape (" + join(padded, ", ") + ")");
            return;
        }
        apart.insert(apart.end(), {padded[1 + i] / b.blocks[i], b.blocks[i]});
        joined[0] *= b.blocks[i];
        joined.push_back(padded[1 + i] / b.blocks[i]);
        order.push_back(static_cast<int64_t>(2 + 2 * i));
    }
    order.push_back(0);
    for (size_t i = 0; i < count; ++i) order.push_back(static_cast<int64_t>(1 + 2 * i));
    for (size_t i = 1 + count; i < padded.size(); ++i) {
        order.push_back(static_cast<int64_t>(apart.size()));
        apart.push_back(padded[i]);
        joined.push_back(padded[i]);
    }
    node.output(0, f.reshape(f.transpose(f.reshape(value, apart), order), joined));
}

void convertBatchToSpaceNd(TfliteNode& node)
{
    const BatchBlocks b = batchBlocks(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const size_t count = b.blocks.size();
    const int64_t product = elementCount(b.blocks);
    if (product == 0 || b.shape[0] % product != 0) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the blocks do not divide the batch of " + std::to_string(b.shape[0]));
        return;
    }
    std::vector<int64_t> apart = b.blocks, order{static_cast<int64_t>(count)};
    std::vector<int64_t> joined{b.shape[0] / product};
    apart.push_back(b.shape[0] / product);
    for (size_t i = 0; i < count; ++i) {
        order.push_back(static_cast<int64_t>(count + 1 + i));
        order.push_back(static_cast<int64_t>(i));
        joined.push_back(b.shape[1 + i] * b.blocks[i]);
    }
    for (size_t i = 1 + count; i < b.shape.size(); ++i) {
        order.push_back(static_cast<int64_t>(count + i));
        joined.push_back(b.shape[i]);
    }
    apart.insert(apart.end(), b.shape.begin() + 1, b.shape.end());
    ValueRef value = f.reshape(f.transpose(f.reshape(node.input(0), apart), order), joined);
    for (size_t i = 0; i < count; ++i)
        value = f.slice(value, static_cast<int64_t>(1 + i), b.edges[2 * i],
                        joined[1 + i] - b.edges[2 * i + 1]);
    node.output(0, value);
}

} // namespace tenon::compiler
