// SPDX-License-Identifier: Apache-2.0
// Operators that no thread can share, run by one thread each.
#pragma once

#include "compiler/passes/fuse/fusion_groups.h"
#include "core/target/target_facts.h"

namespace tenon::compiler {

/// Set on the primitive function of such a group: its operators are statements of one loop over
/// threads.
inline constexpr const char* kSideBySideAttr = "side_by_side";

/// Joins two recurrent operators of equal work that do not depend on one another, such as the two
/// directions of a bidirectional one, when there are threads for both and each takes longer than
/// handing it over.
std::vector<FusionGroup> joinSideBySide(const Module& module, const GraphFunction& function,
                                        const TargetFacts& facts, std::vector<FusionGroup> groups);

} // namespace tenon::compiler
