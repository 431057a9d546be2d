// SPDX-License-Identifier: Apache-2.0
// Chains of convolutions that become one kernel, which computes a strip of rows at a time.
#pragma once

#include "compiler/passes/fuse/fusion_groups.h"
#include "core/target/target_facts.h"

namespace tenon::compiler {

/// Joins groups around blocked convolutions and pools that read one another's results where these
/// would leave the second-level cache and computing rows twice costs less than moving them. A chain
/// has one depthwise convolution, after one over all channels, before a pointwise one, or both; or
/// a pool after a convolution over all channels.
std::vector<FusionGroup> joinConvChains(const Module& module, const GraphFunction& function,
                                        const TargetFacts& facts, std::vector<FusionGroup> groups);

} // namespace tenon::compiler
