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

} // namespace tenon::test
