// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and resampling with the attributes that the plain kinds leave out.
#include "tests/fuzz/graphs/graph_builder.h"

#include <algorithm>
#include <iterator>

namespace tenon::test {
namespace {

/// One window per spatial axis and what it makes of the extents.
struct Windows
{
    Dims kernel, strides, dilations, pads, result;

    bool fits() const { return *std::min_element(result.begin(), result.end()) > 0; }
};

Windows windowsOver(GraphBuilder& b, const Dims& extents, int64_t maxPad)
{
    Windows w;
    Dims before, after;
    for (const int64_t extent : extents) {
        w.kernel.push_back(b.pick(1, 3));
        w.strides.push_back(b.pick(1, 3));
        w.dilations.push_back(b.pick(1, 2));
        before.push_back(b.pick(0, std::min(maxPad, w.kernel.back() - 1)));
        after.push_back(b.pick(0, std::min(maxPad, w.kernel.back() - 1)));
        const int64_t span = (w.kernel.back() - 1) * w.dilations.back() + 1;
        const int64_t room = extent + before.back() + after.back() - span;
        w.result.push_back(room < 0 ? 0 : room / w.strides.back() + 1);
    }
    w.pads = before;
    w.pads.insert(w.pads.end(), after.begin(), after.end());
    return w;
}

Dims joined(Dims front, const Dims& back)
{
    front.insert(front.end(), back.begin(), back.end());
    return front;
}

/// [batch, channels, extents...] with one to three extents.
GraphValue image(GraphBuilder& b)
{
    const auto rank = static_cast<size_t>(b.pick(3, 5));
    if (rank == 4) return b.valueOfRank(4);
    Dims shape{b.pick(1, 2), b.pick(1, 6)};
    while (shape.size() < rank) shape.push_back(b.pick(3, 7));
    return b.addInput(shape);
}

Dims extentsOf(const GraphValue& x) { return {x.shape.begin() + 2, x.shape.end()}; }

void convolution(GraphBuilder& b)
{
    const GraphValue x = image(b);
    const Windows w = windowsOver(b, extentsOf(x), 2);
    if (!w.fits()) return;
    int64_t groups = 1;
    for (const int64_t candidate : {2, 3, 4})
        if (x.shape[1] % candidate == 0 && b.chance(40)) groups = candidate;
    const int64_t filters = groups * b.pick(1, 4);
    const Dims weight = joined({filters, x.shape[1] / groups}, w.kernel);
    const double scale = 1.0 / static_cast<double>(core::elementCount(weight) / filters);
    std::vector<GraphValue> operands{x, b.addConstant(weight, -scale, scale)};
    if (b.chance(50)) operands.push_back(b.addConstant({filters}));
    auto& node = b.apply("Conv", operands, joined({x.shape[0], filters}, w.result));
    setInts(node, "kernel_shape", w.kernel);
    setInts(node, "strides", w.strides);
    setInts(node, "dilations", w.dilations);
    setInts(node, "pads", w.pads);
    setInt(node, "group", groups);
}

void transposedConvolution(GraphBuilder& b)
{
    GraphValue x = image(b);
    if (x.shape.size() == 5 || core::elementCount(x.shape) > 2000) x = b.addInput({1, 3, 4, 5});
    const auto spatial = x.shape.size() - 2;
    Dims kernel, strides, before, after, result;
    for (size_t i = 0; i < spatial; ++i) {
        kernel.push_back(b.pick(1, 3));
        strides.push_back(b.pick(1, 2));
        before.push_back(b.pick(0, kernel.back() - 1) / 2);
        after.push_back(b.pick(0, kernel.back() - 1) / 2);
        result.push_back((x.shape[2 + i] - 1) * strides.back() + kernel.back() - before.back() -
                         after.back());
        if (result.back() < 1) return;
    }
    const int64_t filters = b.pick(1, 4);
    auto& node = b.apply("ConvTranspose",
                         {x, b.addConstant(joined({x.shape[1], filters}, kernel), -0.3, 0.3)},
                         joined({x.shape[0], filters}, result));
    setInts(node, "strides", strides);
    setInts(node, "pads", joined(before, after));
}

void pool(GraphBuilder& b)
{
    static const char* const kOps[] = {"MaxPool", "AveragePool", "LpPool"};
    const GraphValue x = image(b);
    Windows w = windowsOver(b, extentsOf(x), 1);
    const int64_t op = b.pick(0, 2);
    const bool dilates = op == 0 || (op == 1 && b.opset() >= 19);
    if (!dilates) {
        w.dilations.assign(w.kernel.size(), 1);
        for (size_t i = 0; i < w.kernel.size(); ++i) {
            const int64_t room = x.shape[2 + i] + w.pads[i] + w.pads[i + w.kernel.size()];
            w.result[i] = room < w.kernel[i] ? 0 : (room - w.kernel[i]) / w.strides[i] + 1;
        }
    }
    if (!w.fits()) return;
    auto& node = b.apply(kOps[op], {x}, joined({x.shape[0], x.shape[1]}, w.result), op == 0);
    setInts(node, "kernel_shape", w.kernel);
    setInts(node, "strides", w.strides);
    setInts(node, "pads", w.pads);
    if (dilates) setInts(node, "dilations", w.dilations);
    if (op == 1) setInt(node, "count_include_pad", b.chance(50));
    if (op == 2) setInt(node, "p", b.pick(1, 3));
}

void globalPool(GraphBuilder& b)
{
    static const char* const kOps[] = {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"};
    const GraphValue x = image(b);
    const int64_t op = b.pick(0, 2);
    b.apply(kOps[op], {x}, joined({x.shape[0], x.shape[1]}, Dims(x.shape.size() - 2, 1)), op == 1);
}

void resize(GraphBuilder& b)
{
    const GraphValue x = b.addInput({b.pick(1, 2), b.pick(1, 3), b.pick(2, 6), b.pick(2, 6)});
    static const char* const kModes[] = {"nearest", "linear", "cubic"};
    static const char* const kTransforms[] = {"half_pixel", "asymmetric", "align_corners",
                                              "pytorch_half_pixel"};
    Dims shape = x.shape;
    shape[2] = b.pick(2, 12);
    shape[3] = b.pick(2, 12);
    const int64_t mode = b.pick(0, 2);
    const GraphValue none{"", core::kFloat32, {}};
    auto& node = b.apply("Resize", {x, none, none, b.addIntegers(shape)}, shape);
    setText(node, "mode", kModes[mode]);
    // Where a nearest pixel lies half-way, evaluations may round differently.
    setText(node, "coordinate_transformation_mode", kTransforms[mode == 0 ? 1 : b.pick(0, 3)]);
    if (mode == 0) setText(node, "nearest_mode", "floor");
}

void sample(GraphBuilder& b)
{
    if (b.opset() < 16) return globalPool(b);
    const GraphValue x = b.addInput({1, b.pick(1, 3), b.pick(2, 5), b.pick(2, 5)});
    const int64_t h = b.pick(1, 4), w = b.pick(1, 4);
    static const char* const kPaddings[] = {"zeros", "border", "reflection"};
    auto& node =
        b.apply("GridSample", {x, b.addConstant({1, h, w, 2}, -0.95, 0.95)}, {1, x.shape[1], h, w});
    const bool isCubic = b.chance(40);
    if (b.opset() >= 20)
        setText(node, "mode", isCubic ? "cubic" : "linear");
    else
        setText(node, "mode", isCubic ? "bicubic" : "bilinear");
    setText(node, "padding_mode", kPaddings[b.pick(0, 2)]);
    setInt(node, "align_corners", b.chance(50));
}

void crop(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(2);
    if (b.opset() < 18) return globalPool(b);
    const Dims shape{b.pick(1, 9), b.pick(1, 9)};
    b.apply("CenterCropPad", {x, b.addIntegers(shape)}, shape, true);
}

/// Padding with what is there.
void mirror(GraphBuilder& b)
{
    const GraphValue x = b.addInput({b.pick(3, 6), b.pick(3, 6)});
    const Dims pads{b.pick(0, 1), b.pick(-1, 1), b.pick(0, 1), b.pick(-1, 1)};
    const Dims shape{x.shape[0] + pads[0] + pads[2], x.shape[1] + pads[1] + pads[3]};
    const bool isWrapped = b.opset() >= 19 && b.chance(30);
    setText(b.apply("Pad", {x, b.addIntegers(pads)}, shape, true), "mode",
            isWrapped      ? "wrap"
            : b.chance(50) ? "reflect"
                           : "edge");
}

} // namespace

void addWindowNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {convolution, convolution, transposedConvolution,
                                          pool,        pool,        globalPool,
                                          resize,      resize,      sample,
                                          crop,        mirror};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
