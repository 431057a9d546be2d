// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs that the window measures with.
#pragma once

#include "remote/measure/made_up_inputs.h"

namespace tenon::app {

/// Made up. Error DynamicShape names the sizes that are open, and where the window takes them.
core::Result<remote::NamedTensors> measuredInputs(const core::Manifest& manifest);

} // namespace tenon::app
