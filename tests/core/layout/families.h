// SPDX-License-Identifier: Apache-2.0
// Synthetic graphs for layout tests and timings: the shapes that real models have.
#pragma once

#include "core/layout/layout.h"

namespace tenon::tests {

core::LayoutGraph chain(uint32_t nodes);
/// Blocks of three nodes with an identity edge around each.
core::LayoutGraph residualLadder(uint32_t nodes);
/// Attention-like blocks of 22 nodes; `hasGlobalEdge` adds one node read by every block.
core::LayoutGraph transformer(uint32_t nodes, bool hasGlobalEdge);
/// Every node reads one or two earlier ones from anywhere in the graph.
core::LayoutGraph randomDag(uint32_t nodes, uint32_t seed);
/// As the ladder, each block a group, every `blocksPerStage` blocks an outer group.
core::LayoutGraph groupedLadder(uint32_t nodes, uint32_t blocksPerStage);

} // namespace tenon::tests
