// SPDX-License-Identifier: Apache-2.0
// What `tenon quantize` says of the model that it wrote.
#pragma once

#include "app/cli/command.h"
#include "compiler/quantize/quantize.h"

namespace tenon::cli {

/// Tables of tensors, weights and nodes left in float with `verbosity`, else sums and the worst.
std::string quantizeText(const compiler::QuantizeReport& report, int verbosity);
Json quantizeJson(const compiler::QuantizeReport& report);

} // namespace tenon::cli
