// SPDX-License-Identifier: Apache-2.0
// Columns as time series and sound have them in networks for images, kernels as wide as the image,
// gates of halves of the channels, and a few channels joined to many.
#include "tests/fuzz/graphs/random_lines.h"

#include "tests/fuzz/graphs/random_parts.h"

#include <iterator>

namespace tenon::test {
namespace {

constexpr int64_t kChannels[] = {1, 4, 6, 8, 9, 16, 24, 32, 40, 64};

int64_t channels(GraphBuilder& b) { return kChannels[b.pick(0, std::size(kChannels) - 1)]; }

bool isSmall(const GraphValue& value) { return core::elementCount(value.shape) < 60000; }

GraphValue column(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    if (last.shape.size() == 4 && last.shape[3] == 1 && last.shape[2] > 1 && isSmall(last))
        return last;
    return b.addInput({b.pick(1, 3), channels(b), b.pick(2, 120), 1});
}

/// Of a window of `kernel`, with `pads` before and behind either axis.
void convolve(GraphBuilder& b, const GraphValue& x, const Dims& kernel, const Dims& pads,
              const Dims& strides)
{
    Dims shape{x.shape[0], channels(b)};
    for (size_t i = 0; i < 2; ++i) {
        const int64_t room = x.shape[2 + i] + pads[i] + pads[i + 2] - kernel[i];
        if (room < 0) return;
        shape.push_back(room / strides[i] + 1);
    }
    const Dims filters{shape[1], x.shape[1], kernel[0], kernel[1]};
    std::vector<GraphValue> operands{x, weights(b, filters, x.shape[1] * kernel[0] * kernel[1])};
    if (b.chance(60)) operands.push_back(b.addConstant({shape[1]}));
    auto& node = b.apply("Conv", operands, shape);
    setInts(node, "kernel_shape", kernel);
    setInts(node, "pads", pads);
    setInts(node, "strides", strides);
    if (b.chance(40)) normalize(b);
    activate(b);
}

void convolveColumn(GraphBuilder& b)
{
    const GraphValue x = column(b);
    const int64_t size = b.pick(1, 9), wide = b.chance(20) ? 3 : 1;
    convolve(b, x, {size, wide}, {b.pick(0, size - 1), wide / 2, b.pick(0, size - 1), wide / 2},
             {b.pick(1, 3), b.pick(1, 2)});
}

void poolColumn(GraphBuilder& b)
{
    const GraphValue x = column(b);
    const int64_t size = b.pick(1, 4);
    if (x.shape[2] < size) return;
    auto& node = b.apply(b.chance(50) ? "MaxPool" : "AveragePool", {x},
                         {x.shape[0], x.shape[1], (x.shape[2] - size) / size + 1, 1});
    setInts(node, "kernel_shape", {size, 1});
    setInts(node, "strides", {size, 1});
}

/// With something per channel, per element of the column, or a number.
void scaleColumn(GraphBuilder& b)
{
    const GraphValue x = column(b);
    const Dims sides[] = {{x.shape[1], 1, 1}, {x.shape[2], 1}, {x.shape[1], x.shape[2], 1}, {1}};
    b.apply(b.chance(50) ? "Mul" : "Add", {b.addConstant(sides[b.pick(0, 3)]), x}, x.shape);
}

void convolveWholeRows(GraphBuilder& b)
{
    const GraphValue x =
        b.addInput({b.pick(1, 3), b.chance(50) ? 1 : channels(b), b.pick(2, 30), b.pick(2, 20)});
    const int64_t size = b.pick(1, 5);
    convolve(b, x, {size, x.shape[3]}, {b.pick(0, size - 1), 0, b.pick(0, size - 1), 0},
             {b.pick(1, 2), 1});
}

/// Half of the channels times a function of the others.
void gate(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    const bool isOn = last.shape.size() >= 3 && last.shape[1] % 2 == 0 && isSmall(last);
    const GraphValue x =
        isOn ? last : b.addInput({1, 2 * channels(b), b.pick(1, 12), b.pick(1, 12)});
    Dims shape = x.shape;
    shape[1] /= 2;
    const std::string names[] = {b.newName(), b.newName()};
    setInt(b.addNode("Split", {x, b.addIntegers({shape[1], shape[1]})}, {names[0], names[1]}),
           "axis", 1);
    const GraphValue value{names[0], core::kFloat32, shape, x.isExact},
        opening{names[1], core::kFloat32, shape, x.isExact};
    b.remember(value);
    b.remember(opening);
    b.apply(b.chance(50) ? "Sigmoid" : "Tanh", {opening}, shape);
    const GraphValue gated = b.last();
    b.apply("Mul", {value, gated}, shape);
}

/// A few channels beside those that there are, read by a convolution.
void joinFew(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    const bool isOn = last.shape.size() == 4 && last.shape[1] > 1 && isSmall(last);
    const GraphValue x =
        isOn ? last : b.addInput({1, 8 * channels(b), b.pick(3, 16), b.pick(3, 16)});
    Dims few = x.shape, whole = x.shape;
    few[1] = b.pick(1, 3);
    whole[1] += few[1];
    setInt(b.apply("Concat", {x, b.addInput(few)}, whole), "axis", 1);
    const GraphValue joined = b.last();
    const int64_t size = 2 * b.pick(0, 2) + 1;
    convolve(b, joined, {size, size}, Dims(4, size / 2), {1, 1});
}

} // namespace

void addLineNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {
        convolveColumn,    convolveColumn, poolColumn, scaleColumn,
        convolveWholeRows, gate,           gate,       joinFew};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
