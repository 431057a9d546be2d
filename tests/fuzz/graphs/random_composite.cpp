// SPDX-License-Identifier: Apache-2.0
// Operators that stand for several: sequences, losses, images out of columns, samples of regions.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

using core::kFloat32;
using core::kInt64;

GraphValue matrix(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    return x.shape.size() == 2 ? x : b.addInput({b.pick(1, 5), b.pick(2, 6)});
}

/// Split, changed, and joined again.
void sequence(GraphBuilder& b)
{
    const GraphValue x = matrix(b);
    const std::string parts = b.newName(), more = b.newName(), fewer = b.newName();
    const GraphValue size = b.addIntegers({1}, true);
    setInt(b.addNode("SplitToSequence", {x, size}, {parts}), "axis", 1);
    b.applyTyped("SequenceLength", {{parts, kFloat32, {}}}, kInt64, {}, true);
    const Dims column{x.shape[0], 1};
    b.apply("SequenceAt",
            {{parts, kFloat32, {}, x.isExact},
             b.addIntegers({b.pick(-x.shape[1], x.shape[1] - 1)}, true)},
            column, true);
    b.apply("Neg", {b.last()}, column, true);
    const GraphValue made = b.last();
    std::vector<GraphValue> operands{{parts, kFloat32, {}}, made};
    if (b.chance(50)) operands.push_back(b.addIntegers({b.pick(0, x.shape[1])}, true));
    b.addNode("SequenceInsert", operands, {more});
    int64_t columns = x.shape[1] + 1;
    if (b.chance(50)) {
        b.addNode("SequenceErase",
                  {{more, kFloat32, {}}, b.addIntegers({b.pick(0, columns - 1)}, true)}, {fewer});
        --columns;
    }
    const std::string& last = columns == x.shape[1] ? fewer : more;
    setInt(b.apply("ConcatFromSequence", {{last, kFloat32, {}, x.isExact}}, {x.shape[0], columns},
                   true),
           "axis", 1);
}

void list(GraphBuilder& b)
{
    const GraphValue x = matrix(b), y = b.addConstant(x.shape);
    const std::string made = b.newName();
    b.addNode("SequenceConstruct", {x, y, x}, {made});
    auto& node = b.apply("ConcatFromSequence", {{made, kFloat32, {}, x.isExact}},
                         {3, x.shape[0], x.shape[1]}, true);
    setInt(node, "axis", 0);
    setInt(node, "new_axis", 1);
}

void loss(GraphBuilder& b)
{
    static const char* const kReductions[] = {"mean", "sum", "none"};
    const int64_t count = b.pick(1, 4), classes = b.pick(2, 5), reduction = b.pick(0, 2);
    const GraphValue x = b.addInput({count, classes});
    const GraphValue label = b.addWhole(kInt64, {count}, 0, classes - 1);
    const Dims shape = reduction == 2 ? Dims{count} : Dims{};
    const bool isWhole = b.chance(50);
    GraphValue scores = x;
    if (!isWhole) {
        setInt(b.apply("LogSoftmax", {x}, x.shape), "axis", 1);
        scores = b.last();
    }
    setText(b.apply(isWhole ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss",
                    {scores, label}, shape),
            "reduction", kReductions[reduction]);
}

void columns(GraphBuilder& b)
{
    if (b.opset() < 18) return loss(b);
    const int64_t kernel = b.pick(1, 2), channels = b.pick(1, 3), h = b.pick(2, 5),
                  w = b.pick(2, 5);
    const int64_t blocks = (h - kernel + 1) * (w - kernel + 1);
    const GraphValue x = b.addInput({1, channels * kernel * kernel, blocks});
    b.apply("Col2Im", {x, b.addIntegers({h, w}), b.addIntegers({kernel, kernel})},
            {1, channels, h, w});
}

void regions(GraphBuilder& b)
{
    const GraphValue x = b.addInput({1, b.pick(1, 3), b.pick(4, 7), b.pick(4, 7)});
    const int64_t count = b.pick(1, 3), size = b.pick(1, 3);
    // Corners: the second pair lies beyond the first.
    const GraphValue near = b.addConstant({count, 2}, 0.2, 0.9),
                     far = b.addConstant({count, 2}, 2.1, 2.9);
    setInt(b.apply("Concat", {near, far}, {count, 4}), "axis", 1);
    auto& node = b.apply("RoiAlign", {x, b.last(), b.addWhole(kInt64, {count}, 0, 0)},
                         {count, x.shape[1], size, size});
    setInt(node, "output_height", size);
    setInt(node, "output_width", size);
    setInt(node, "sampling_ratio", b.pick(1, 2));
    setText(node, "mode", "avg");
}

void unpool(GraphBuilder& b)
{
    const GraphValue x = b.addInput({1, b.pick(1, 2), 2 * b.pick(1, 3), 2 * b.pick(1, 3)});
    const Dims half{1, x.shape[1], x.shape[2] / 2, x.shape[3] / 2};
    const std::string top = b.newName(), where = b.newName();
    auto& pool = b.addNode("MaxPool", {x}, {top, where});
    setInts(pool, "kernel_shape", {2, 2});
    setInts(pool, "strides", {2, 2});
    auto& node =
        b.apply("MaxUnpool", {{top, kFloat32, half}, {where, kInt64, half}}, x.shape, true);
    setInts(node, "kernel_shape", {2, 2});
    setInts(node, "strides", {2, 2});
}

void grid(GraphBuilder& b)
{
    if (b.opset() < 20) return unpool(b);
    const int64_t h = b.pick(2, 4), w = b.pick(2, 4); // corners are apart
    setInt(
        b.apply("AffineGrid", {b.addInput({1, 2, 3}), b.addIntegers({1, 1, h, w})}, {1, h, w, 2}),
        "align_corners", b.chance(50));
}

void alike(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (b.opset() >= 15 && b.chance(60)) {
        b.apply("CastLike", {b.addInput(x.shape, core::kInt32), x}, x.shape, true);
        return;
    }
    b.apply("Dropout", {x}, x.shape, true);
}

void spectrogram(GraphBuilder& b)
{
    if (b.opset() < 17) return loss(b);
    const int64_t frame = 2 * b.pick(1, 4), step = b.pick(1, 3), frames = b.pick(1, 4);
    const GraphValue x = b.addInput({1, frame + step * (frames - 1), 1});
    setInt(b.apply("STFT", {x, b.addIntegers({step}, true), b.addConstant({frame}, 0.2, 1)},
                   {1, frames, frame / 2 + 1, 2}),
           "onesided", 1);
}

} // namespace

void addCompositeNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {sequence, sequence, list, loss,  columns,
                                          regions,  unpool,   grid, alike, spectrogram};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
