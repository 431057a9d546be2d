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

} // namespace tenon::test
