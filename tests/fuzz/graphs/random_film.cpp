// SPDX-License-Identifier: Apache-2.0
// Parts of networks that see frames, rows and columns.
#include "tests/fuzz/graphs/random_film.h"

#include "tests/fuzz/graphs/random_parts.h"

#include <algorithm>
#include <iterator>

namespace tenon::test {
namespace {

/// The last value where it is a film with room to convolve.
GraphValue film(GraphBuilder& b)
{
    const GraphValue& last = b.last();
    if (last.shape.size() == 5 && core::elementCount(last.shape) < 60000) return last;
    return b.addInput(
        {b.chance(20) ? 2 : 1, b.pick(1, 20), b.pick(1, 6), b.pick(1, 8), b.pick(1, 8)});
}

/// Over frames, rows and columns; several behind one another, with what stands between them.
void convolveFilm(GraphBuilder& b)
{
    const GraphValue x = film(b);
    const bool isDepthwise = b.chance(20);
    const int64_t groups = isDepthwise ? x.shape[1] : x.shape[1] % 2 == 0 && b.chance(20) ? 2 : 1;
    const int64_t filters = isDepthwise ? x.shape[1] : groups * b.pick(1, 20);
    Dims kernel, strides, dilations, pads(6), shape{x.shape[0], filters};
    for (size_t i = 0; i < 3; ++i) {
        kernel.push_back(b.pick(1, 3));
        strides.push_back(b.chance(30) ? 2 : 1);
        dilations.push_back(b.chance(20) ? 2 : 1);
        const int64_t span = (kernel[i] - 1) * dilations[i] + 1;
        pads[i] = b.chance(80) ? span / 2 : b.pick(0, span - 1);
        pads[i + 3] = b.chance(80) ? pads[i] : b.pick(0, span - 1);
        const int64_t room = x.shape[2 + i] + pads[i] + pads[i + 3] - span;
        if (room < 0) return;
        shape.push_back(room / strides[i] + 1);
    }
    const int64_t inputs = x.shape[1] / groups;
    std::vector<GraphValue> operands{x,
                                     weights(b, {filters, inputs, kernel[0], kernel[1], kernel[2]},
                                             inputs * kernel[0] * kernel[1] * kernel[2])};
    if (b.chance(60)) operands.push_back(b.addConstant({filters}));
    auto& node = b.apply("Conv", operands, shape);
    setInts(node, "kernel_shape", kernel);
    setInts(node, "strides", strides);
    setInts(node, "dilations", dilations);
    setInts(node, "pads", pads);
    setInt(node, "group", groups);
    if (b.chance(40)) normalize(b);
    activate(b);
}

void poolFilm(GraphBuilder& b)
{
    const GraphValue x = film(b);
    Dims kernel, strides, shape{x.shape[0], x.shape[1]};
    for (size_t i = 0; i < 3; ++i) {
        kernel.push_back(b.pick(1, std::min<int64_t>(3, x.shape[2 + i])));
        strides.push_back(b.pick(1, 2));
        shape.push_back((x.shape[2 + i] - kernel[i]) / strides[i] + 1);
    }
    auto& node = b.apply(b.chance(70) ? "MaxPool" : "AveragePool", {x}, shape);
    setInts(node, "kernel_shape", kernel);
    setInts(node, "strides", strides);
}

/// Two branches of one film, side by side or added up.
void joinFilms(GraphBuilder& b)
{
    const GraphValue x = film(b);
    convolveFilm(b);
    const GraphValue y = b.last();
    if (y.shape == x.shape && b.chance(60)) {
        b.apply("Add", {x, y}, x.shape);
        return;
    }
    if (y.shape.size() != 5 || y.shape[0] != x.shape[0] ||
        Dims(y.shape.begin() + 2, y.shape.end()) != Dims(x.shape.begin() + 2, x.shape.end()))
        return;
    Dims shape = x.shape;
    shape[1] += y.shape[1];
    setInt(b.apply("Concat", {x, y}, shape), "axis", 1);
}

void growFilm(GraphBuilder& b)
{
    const GraphValue x = film(b);
    const int64_t groups = x.shape[1] % 2 == 0 && b.chance(15) ? 2 : 1;
    convolveTransposed(b, x, {groups, b.pick(1, 20), 4, 20});
    activate(b);
}

/// Scaled by what its channels have on the whole.
void exciteFilm(GraphBuilder& b)
{
    convolveFilm(b);
    const GraphValue x = b.last();
    if (x.shape.size() != 5) return;
    const Dims one{x.shape[0], x.shape[1], 1, 1, 1};
    b.apply(b.chance(70) ? "GlobalAveragePool" : "GlobalMaxPool", {x}, one);
    const GraphValue pooled = b.last();
    b.apply("Sigmoid", {pooled}, one);
    const GraphValue scale = b.last();
    b.apply("Mul", {x, scale}, x.shape);
}

void normalizeFilm(GraphBuilder& b)
{
    convolveFilm(b);
    const GraphValue x = b.last();
    const Dims channels{x.shape[1]};
    b.apply("InstanceNormalization",
            {x, b.addConstant(channels, 0.5, 1.5), b.addConstant(channels)}, x.shape);
    activate(b);
}

} // namespace

void addFilmNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {convolveFilm, convolveFilm, poolFilm,     joinFilms,
                                          growFilm,     exciteFilm,   normalizeFilm};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
