// SPDX-License-Identifier: Apache-2.0
// Layers of films, [N, C, D, H, W].
#pragma once

#include "tests/fuzz/graphs/graph_builder.h"

namespace tenon::test {

/// One or a few nodes behind the last value, where it is a film, else behind a new input.
void addFilmNode(GraphBuilder& builder);

} // namespace tenon::test
