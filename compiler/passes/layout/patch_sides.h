// SPDX-License-Identifier: Apache-2.0
// PatchSides: the rows and columns of the patches that an image of open size is cut into, by what
// they cost for sizes that images usually have.
#pragma once

#include "core/ir/module.h"
#include "core/target/target_facts.h"
#include "core/tensor/dim_bounds.h"

#include <array>
#include <vector>

namespace tenon::compiler {

using namespace core;

class PatchSides
{
public:
    PatchSides(const Module& module, const TargetFacts& facts);

    /// Rows and columns of each patch of an image of that type, (count, channels, rows, columns).
    std::array<int64_t, 2> of(const TensorType& image) const;

private:
    std::vector<int64_t> candidatesFor(const Dim& extent) const;
    double cyclesPerPatch(int64_t rows, int64_t columns, double channels) const;

    TargetFacts m_facts;
    SizeBounds m_bounds;
    std::vector<SizeBounds> m_usual; ///< the sizes of usual inputs, within the bounds
};

} // namespace tenon::compiler
