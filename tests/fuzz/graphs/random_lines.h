// SPDX-License-Identifier: Apache-2.0
// Layers of images of one column, [N, C, L, 1], and what splits and joins channels.
#pragma once

#include "tests/fuzz/graphs/graph_builder.h"

namespace tenon::test {

/// One or a few nodes behind the last value, where it fits, else behind a new input.
void addLineNode(GraphBuilder& builder);

} // namespace tenon::test
