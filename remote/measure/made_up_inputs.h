// SPDX-License-Identifier: Apache-2.0
// Inputs for measuring a model when nobody gives any.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/session/local_board.h"

namespace tenon::remote {

/// "float32 (1, 3, ?)".
std::string tensorText(const core::ManifestTensor& tensor);

/// Seeded values for every input: floats in [0, 1), integers 0 or 1; sizes with bounds are as large
/// as they may be. Error DynamicShape for an input whose sizes are not known.
core::Result<NamedTensors> madeUpInputs(const core::Manifest& manifest);

} // namespace tenon::remote
