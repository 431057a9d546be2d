// SPDX-License-Identifier: Apache-2.0
// Parts of convolutional networks, with as many channels as vectors and blocks of weights care for:
// odd counts, narrow groups, wide dilations, transposed convolutions of all steps, shuffles.
#include "tests/fuzz/graphs/random_film.h"
#include "tests/fuzz/graphs/random_lines.h"
#include "tests/fuzz/graphs/random_parts.h"

#include <iterator>

namespace tenon::test {
namespace {

constexpr int64_t kChannels[] = {3,  4,  6,  8,  12, 16, 18, 20, 24,
                                 29, 32, 36, 40, 48, 58, 64, 72, 96};

int64_t channels(GraphBuilder& b) { return kChannels[b.pick(0, std::size(kChannels) - 1)]; }

/// The last value where it is an image with room to convolve.
GraphValue image(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    if (last.shape.size() == 4 && last.shape[1] >= 3 && core::elementCount(last.shape) < 60000)
        return last;
    return b.addInput({b.chance(20) ? b.pick(2, 5) : 1, channels(b), b.pick(1, 15), b.pick(1, 15)});
}

struct Window
{
    int64_t rows, columns, stride, dilation, groups, filters;
};

void convolve(GraphBuilder& b, const GraphValue& x, const Window& w)
{
    const Dims kernel{w.rows, w.columns};
    Dims pads(4), shape{x.shape[0], w.filters};
    for (size_t i = 0; i < 2; ++i) {
        const int64_t span = (kernel[i] - 1) * w.dilation + 1;
        pads[i] = b.chance(80) ? span / 2 : b.pick(0, span - 1);
        pads[i + 2] = b.chance(80) ? pads[i] : b.pick(0, span - 1);
        const int64_t room = x.shape[2 + i] + pads[i] + pads[i + 2] - span;
        if (room < 0) return;
        shape.push_back(room / w.stride + 1);
    }
    const int64_t inputs = x.shape[1] / w.groups;
    std::vector<GraphValue> operands{
        x, weights(b, {w.filters, inputs, w.rows, w.columns}, inputs * w.rows * w.columns)};
    if (b.chance(60)) operands.push_back(b.addConstant({w.filters}));
    auto& node = b.apply("Conv", operands, shape);
    setInts(node, "kernel_shape", kernel);
    setInts(node, "strides", {w.stride, w.stride});
    setInts(node, "dilations", {w.dilation, w.dilation});
    setInts(node, "pads", pads);
    setInt(node, "group", w.groups);
    if (b.chance(40)) normalize(b);
    activate(b);
}

void pointwise(GraphBuilder& b)
{
    convolve(b, image(b), {1, 1, b.chance(20) ? 2 : 1, 1, 1, channels(b)});
}

void dense(GraphBuilder& b)
{
    const int64_t size = b.chance(10) ? 7 : b.pick(2, 5);
    const bool isLong = b.chance(20), isUpright = b.chance(50);
    convolve(b, image(b),
             {isLong && !isUpright ? 1 : size, isLong && isUpright ? 1 : size, b.pick(1, 2),
              b.chance(40) ? b.pick(2, 14) : 1, 1, channels(b)});
}

/// Of long rows, whose taps are far apart.
void sequence(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    const bool isOn = last.shape.size() == 3 && core::elementCount(last.shape) < 60000;
    const GraphValue x = isOn ? last : b.addInput({b.pick(1, 2), channels(b), b.pick(20, 300)});
    const int64_t size = b.pick(2, 7), dilation = b.chance(60) ? b.pick(2, 13) : 1;
    const int64_t reach = (size - 1) * dilation, filters = channels(b);
    const int64_t before = b.chance(30) ? reach : reach / 2; // causal, or of both sides
    if (x.shape[2] <= reach) return;
    auto& node = b.apply("Conv", {x, weights(b, {filters, x.shape[1], size}, x.shape[1] * size)},
                         {x.shape[0], filters, x.shape[2]});
    setInts(node, "kernel_shape", {size});
    setInts(node, "dilations", {dilation});
    setInts(node, "pads", {before, reach - before});
    activate(b);
}

void grouped(GraphBuilder& b)
{
    constexpr int64_t kWidths[] = {2, 3, 4, 6, 8, 12, 16, 24};
    const int64_t width = kWidths[b.pick(0, std::size(kWidths) - 1)], groups = b.pick(2, 8);
    const GraphValue x = b.addInput({1, width * groups, b.pick(1, 12), b.pick(1, 12)});
    const int64_t out = b.chance(70) ? width : kWidths[b.pick(0, std::size(kWidths) - 1)];
    const int64_t size = b.pick(1, 3);
    convolve(b, x, {size, size, b.pick(1, 2), 1, groups, out * groups});
}

void depthwise(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const int64_t size = b.pick(2, 5);
    convolve(b, x,
             {size, size, b.pick(1, 2), b.chance(30) ? b.pick(2, 6) : 1, x.shape[1],
              x.shape[1] * (b.chance(20) ? 2 : 1)});
}

/// Of channels that fill no vectors.
GraphValue oddImage(GraphBuilder& b)
{
    static constexpr int64_t kOdd[] = {1, 2, 3, 5, 7, 13, 18, 24};
    return b.addInput(
        {b.chance(30) ? 3 : 1, kOdd[b.pick(0, std::size(kOdd) - 1)], b.pick(1, 12), b.pick(1, 12)});
}

void transposed(GraphBuilder& b)
{
    const GraphValue x = b.chance(50) ? oddImage(b) : image(b);
    const bool isDepthwise = b.chance(15);
    const int64_t groups = isDepthwise ? x.shape[1] : b.chance(20) && x.shape[1] % 4 == 0 ? 4 : 1;
    const int64_t perGroup = isDepthwise                  ? (b.chance(80) ? 1 : 2)
                             : groups > 1 || b.chance(30) ? b.pick(1, 8)
                                                          : channels(b);
    convolveTransposed(b, x, {groups, perGroup, 5, 40});
    if (b.chance(40)) normalize(b);
    activate(b);
}

void shuffle(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const int64_t groups = x.shape[1] % 3 == 0 ? 3 : x.shape[1] % 2 == 0 ? 2 : 1;
    const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3];
    b.apply("Reshape", {x, b.addIntegers({n, groups, c / groups, h, w})},
            {n, groups, c / groups, h, w}, x.isExact);
    const GraphValue split = b.last();
    setInts(b.apply("Transpose", {split}, {n, c / groups, groups, h, w}, x.isExact), "perm",
            {0, 2, 1, 3, 4});
    const GraphValue turned = b.last();
    b.apply("Reshape", {turned, b.addIntegers(x.shape)}, x.shape, x.isExact);
}

/// A part of the channels, convolved, beside the others.
void split(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const int64_t half = (x.shape[1] + 1) / 2;
    Dims first = x.shape, second = x.shape;
    first[1] = half;
    second[1] = x.shape[1] - half;
    b.apply("Slice", {x, b.addIntegers({half}), b.addIntegers({x.shape[1]}), b.addIntegers({1})},
            second, x.isExact);
    const GraphValue kept = b.last();
    b.apply("Slice", {x, b.addIntegers({0}), b.addIntegers({half}), b.addIntegers({1})}, first,
            x.isExact);
    const GraphValue taken = b.last();
    convolve(b, taken, {1, 1, 1, 1, 1, half});
    const GraphValue done = b.last();
    if (done.shape != first) return;
    setInt(b.apply("Concat", {kept, done}, x.shape), "axis", 1);
    if (b.chance(60)) shuffle(b);
}

void residual(GraphBuilder& b)
{
    const GraphValue x = image(b);
    convolve(b, x, {3, 3, 1, 1, 1, x.shape[1]});
    const GraphValue y = b.last();
    if (y.shape == x.shape) b.apply("Add", {x, y}, x.shape);
}

/// A slope of negative values per channel.
void slope(GraphBuilder& b)
{
    const GraphValue x = image(b);
    b.apply("PRelu", {x, b.addConstant({x.shape[1], 1, 1}, 0, 0.5)}, x.shape);
}

/// Of each image's channels.
void normalizeInstances(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const Dims channels{x.shape[1]};
    b.apply("InstanceNormalization",
            {x, b.addConstant(channels, 0.5, 1.5), b.addConstant(channels)}, x.shape);
}

/// Pixels out of channels, or channels out of pixels.
void shufflePixels(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3];
    const int64_t size = c % 9 == 0 ? 3 : 2;
    if (c % (size * size) == 0) {
        auto& node =
            b.apply("DepthToSpace", {x}, {n, c / (size * size), h * size, w * size}, x.isExact);
        setInt(node, "blocksize", size);
        setText(node, "mode", b.chance(50) ? "CRD" : "DCR");
    } else if (h % size == 0 && w % size == 0) {
        setInt(b.apply("SpaceToDepth", {x}, {n, c * size * size, h / size, w / size}, x.isExact),
               "blocksize", size);
    }
}

/// A smaller image of the same, enlarged beside it, as heads for several sizes have them.
void pyramid(GraphBuilder& b)
{
    const GraphValue x = image(b);
    if (x.shape[2] % 2 != 0 || x.shape[3] % 2 != 0) return;
    convolve(b, x, {2, 2, 2, 1, 1, x.shape[1]});
    const GraphValue small = b.last();
    if (small.shape != Dims{x.shape[0], x.shape[1], x.shape[2] / 2, x.shape[3] / 2}) return;
    const GraphValue none{"", core::kFloat32, {}};
    auto& node = b.apply("Resize", {small, none, none, b.addIntegers(x.shape)}, x.shape);
    setText(node, "mode", "nearest");
    setText(node, "coordinate_transformation_mode", "asymmetric");
    setText(node, "nearest_mode", "floor");
    const GraphValue enlarged = b.last();
    b.apply("Add", {x, enlarged}, x.shape);
}

/// Squeeze and excite.
void excite(GraphBuilder& b)
{
    const GraphValue x = image(b);
    b.apply("GlobalAveragePool", {x}, {x.shape[0], x.shape[1], 1, 1});
    const GraphValue pooled = b.last();
    convolve(b, pooled, {1, 1, 1, 1, 1, b.pick(1, 9)});
    const GraphValue squeezed = b.last();
    convolve(b, squeezed, {1, 1, 1, 1, 1, x.shape[1]});
    const GraphValue scale = b.last();
    if (scale.shape[2] == 1 && scale.shape[3] == 1) b.apply("Mul", {x, scale}, x.shape);
}

} // namespace

void addImageNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {
        pointwise, pointwise,          dense,       dense,       grouped,       grouped,
        depthwise, residual,           residual,    transposed,  shuffle,       split,
        excite,    addFilmNode,        addFilmNode, addFilmNode, shufflePixels, slope,
        pyramid,   normalizeInstances, sequence,    addLineNode, addLineNode,   addLineNode};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
