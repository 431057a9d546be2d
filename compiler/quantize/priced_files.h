// SPDX-License-Identifier: Apache-2.0
// Prices of models that are in no file yet.
#pragma once

#include "compiler/quantize/mixed_precision.h"

namespace tenon::compiler {

/// Writes a model into a file that lasts as long as `price` takes; empty where that is. `job`
/// outlives what is returned.
PriceModel pricedAsFiles(const PriceFile& price, const ImportOptions& sizes, JobContext& job);

} // namespace tenon::compiler
