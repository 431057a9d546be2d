// SPDX-License-Identifier: Apache-2.0
// Bounds that a user gave against what the layers of a model ask of their sizes.
#pragma once

#include "compiler/frontend/loaded.h"

namespace tenon::compiler {

/// Narrows bounds to the sizes for which the model can be computed, with a warning: 64..512 rows to
/// 233..240 where the file holds the 30 rows that an eighth of them must have. An error where none
/// is left.
void narrowBounds(Loaded& loaded);

} // namespace tenon::compiler
