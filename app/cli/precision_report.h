// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of what layers cost in each precision, and of the curve of mixing them.
#pragma once

#include "app/cli/command.h"
#include "compiler/quantize/quantize.h"

namespace tenon::cli {

std::string precisionsText(const compiler::ChosenPrecisions& chosen, int verbosity);
Json precisionsJson(const compiler::ChosenPrecisions& chosen);

/// Flash, RAM and time before and after; "" where nobody asked.
std::string pricesText(const compiler::QuantizeReport& report);
Json pricedJson(const compiler::PricedModel& priced);

} // namespace tenon::cli
