// SPDX-License-Identifier: Apache-2.0
// What a board's server says of the hardware, for people and for comparisons.
#pragma once

#include "remote/micro/micro_model.h"

namespace tenon::remote {

/// "cortex-m4" by its CPUID register; empty for a part that is not known, or not told.
std::string coreOf(const MicroBoard& board);

/// "25 MHz, instruction cache off, data cache off", and whatever else it says, such as wait states.
std::string settingsOf(const MicroBoard& board);

} // namespace tenon::remote
