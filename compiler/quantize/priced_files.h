// SPDX-License-Identifier: Apache-2.0
// Prices of models that are in no file yet.
#pragma once

#include "compiler/quantize/mixed_precision.h"

namespace tenon::compiler {

/// Writes a model into a file that lasts as long as `price` takes; empty where that is. `job`
/// outlives what is returned.
PriceModel pricedAsFiles(const PriceFile& price, const ImportOptions& sizes, JobContext& job);

struct Prices
{
    PricedModel before, after;
};

/// Of the model at `path` and of one that was made of it, whose file has `bytes`.
Result<Prices> pricesOf(const PriceFile& price, const std::string& path, const std::string& bytes,
                        const ImportOptions& sizes, JobContext& job);
/// Where nobody asked for prices, and `error` is why there are none.
Diagnostic priceIsNotTold(const Diagnostic& error);

} // namespace tenon::compiler
