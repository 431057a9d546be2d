// SPDX-License-Identifier: Apache-2.0
// What random convolutional networks of images and films share.
#pragma once

#include "tests/fuzz/graphs/graph_builder.h"

namespace tenon::test {

/// Weights that keep values near one.
GraphValue weights(GraphBuilder& b, const Dims& shape, int64_t terms);
/// The last value, with statistics that keep values near one.
void normalize(GraphBuilder& b);
/// The last value, mostly.
void activate(GraphBuilder& b);

/// Of a transposed convolution.
struct Growth
{
    int64_t groups, perGroup; ///< results
    int64_t kernel, extent;   ///< at most, along each axis
};

/// Over all axes of [N, C, ...]; nothing where the result would be larger than allowed.
void convolveTransposed(GraphBuilder& b, const GraphValue& x, const Growth& growth);

} // namespace tenon::test
