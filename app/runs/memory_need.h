// SPDX-License-Identifier: Apache-2.0
// What a program takes on this computer, against what its inputs and weights make plausible.
#pragma once

#include "core/artifact/manifest.h"
#include "core/base/result.h"

namespace tenon::runs {

using namespace core;

/// Error BadModel when values and outputs take more than 256 times the bytes of inputs and weights,
/// 256 MiB at least, or more than half of the memory: the rule that the runtime has for sizes that
/// only a run knows. TENON_MEMORY_LIMIT sets another limit.
Status needFittingMemory(const Manifest& manifest);

} // namespace tenon::runs
