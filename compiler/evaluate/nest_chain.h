// SPDX-License-Identifier: Apache-2.0
// NestChain: nests that hand values on through buffers of their own, run stretch by stretch.
#pragma once

#include "compiler/evaluate/vector_nest.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

/// Weights are transformed in steps (a Winograd filter by planes, then rows): with whole buffers
/// between them, each step reads from memory what the one before just wrote there. Where one axis
/// of every nest cuts all inner buffers into the same stretches, all nests run for a stretch before
/// the next one begins, and inner buffers hold a stretch only.
class NestChain
{
public:
    /// `whole`: statements in order; `nests`: what became of them. Nothing when `inner` is small,
    /// when values cross stretches, or when something may be read that was not written.
    static std::optional<NestChain> match(const std::vector<tir::Stmt>& whole,
                                          const std::vector<VectorNest>& nests,
                                          const std::vector<tir::Buffer>& inner);

    Status run(const JobContext& job) const;

private:
    struct Scratch;
    struct Link
    {
        VectorNest nest;
        int64_t step; ///< what a unit is on its cut axis
    };
    Status runStretch(const JobContext& job, Scratch& scratch, int64_t first, int64_t last) const;

    std::vector<Link> m_links;
    std::vector<int64_t> m_bytes; ///< of each inner buffer, per unit
    std::vector<int64_t> m_elements;
    int64_t m_units = 0; ///< equal pieces of all cut axes and inner buffers
};

} // namespace tenon::compiler
