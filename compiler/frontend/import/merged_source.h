// SPDX-License-Identifier: Apache-2.0
// The source nodes that a constant known at import was made by.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

/// Beyond these only the last node counts, or chains of such constants would take memory by the
/// square of their length: the nodes before it are in the ledger of what was folded.
inline constexpr size_t kMostSources = 512;

inline std::vector<core::SourceId> mergedSource(const std::vector<core::SourceId>& origin,
                                                const std::vector<core::SourceId>& more,
                                                core::SourceId last)
{
    std::vector<core::SourceId> out = core::mergedOrigin(origin, more);
    if (out.size() > kMostSources) out = {last};
    return out;
}

} // namespace tenon::compiler
