// SPDX-License-Identifier: Apache-2.0
// Whether a model fits a board, as text and JSON.
#pragma once

#include "app/cli/command.h"
#include "remote/footprint/fit.h"

namespace tenon::cli {

/// The verdict, flash by layer, memory by pool, the peak's buffers, remedies.
std::string fitText(const remote::FitReport& fit);
Json fitJson(const remote::FitReport& fit);

} // namespace tenon::cli
