// SPDX-License-Identifier: Apache-2.0
// How many patches of an image of open size one kernel takes at once.
#pragma once

#include "core/tensor/dim_bounds.h"

#include <array>
#include <cstdint>

namespace tenon::compiler {

/// Results that want to share one pass over their filters, and those of smaller chunks beside.
inline constexpr std::array<int64_t, 3> kResultsAtOnce{256, 128, 64};

/// True of a number of patches, which the sizes of images are divided for; not of a batch.
bool arePatches(const core::Dim& count);

/// Of `count` images with so many results of a channel each: as many as make kResultsAtOnce, where
/// these are patches. A batch may be of one image: 1.
int64_t patchesAtOnce(const core::Dim& count, int64_t results, const core::SizeBounds& bounds);

} // namespace tenon::compiler
