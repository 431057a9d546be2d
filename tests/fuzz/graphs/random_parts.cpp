// SPDX-License-Identifier: Apache-2.0
// Weights and what stands behind convolutions.
#include "tests/fuzz/graphs/random_parts.h"

#include <cmath>
#include <iterator>

namespace tenon::test {

GraphValue weights(GraphBuilder& b, const Dims& shape, int64_t terms)
{
    const double scale = 1.5 / std::sqrt(static_cast<double>(terms));
    return b.addConstant(shape, -scale, scale);
}

void normalize(GraphBuilder& b)
{
    const GraphValue x = b.last();
    const Dims channels{x.shape[1]};
    b.apply("BatchNormalization",
            {x, b.addConstant(channels, 0.5, 1.5), b.addConstant(channels),
             b.addConstant(channels, -0.5, 0.5), b.addConstant(channels, 0.5, 1.5)},
            x.shape);
}

void activate(GraphBuilder& b)
{
    static const char* const kOps[] = {"Relu", "Elu", "Sigmoid", "Tanh", "LeakyRelu"};
    const GraphValue x = b.last();
    if (b.chance(70)) b.apply(kOps[b.pick(0, std::size(kOps) - 1)], {x}, x.shape);
}

void convolveTransposed(GraphBuilder& b, const GraphValue& x, const Growth& growth)
{
    const size_t axes = x.shape.size() - 2;
    Dims kernel, strides, dilations, pads(2 * axes), extra;
    Dims shape{x.shape[0], growth.perGroup * growth.groups}, filters{x.shape[1], growth.perGroup};
    int64_t terms = x.shape[1] / growth.groups;
    const bool isDilated = b.chance(25);
    for (size_t i = 0; i < axes; ++i) {
        kernel.push_back(b.pick(1, growth.kernel));
        strides.push_back(b.chance(70) ? b.pick(1, 3) : b.pick(4, 5));
        dilations.push_back(isDilated ? b.pick(1, 4) : 1);
        const int64_t span = (kernel[i] - 1) * dilations[i] + 1;
        pads[i] = b.pick(0, span - 1) / 2;
        pads[i + axes] = b.pick(0, span - 1) / (b.chance(80) ? 2 : 1);
        extra.push_back(b.pick(0, strides[i] - 1));
        shape.push_back((x.shape[2 + i] - 1) * strides[i] + span - pads[i] - pads[i + axes] +
                        extra[i]);
        if (shape.back() < 1 || shape.back() > growth.extent) return;
        filters.push_back(kernel[i]);
        terms *= kernel[i];
    }
    std::vector<GraphValue> operands{x, weights(b, filters, terms)};
    if (b.chance(60)) operands.push_back(b.addConstant({shape[1]}));
    auto& node = b.apply("ConvTranspose", operands, shape);
    setInts(node, "strides", strides);
    setInts(node, "dilations", dilations);
    setInts(node, "pads", pads);
    setInts(node, "output_padding", extra);
    setInt(node, "group", growth.groups);
}

} // namespace tenon::test
