// SPDX-License-Identifier: Apache-2.0
// A folder of its own for each.
#include "compiler/quantize/priced_files.h"

#include "core/base/file.h"
#include "core/base/temporary_folder.h"

namespace tenon::compiler {

PriceModel pricedAsFiles(const PriceFile& price, const ImportOptions& sizes, JobContext& job)
{
    if (!price) return {};
    return [price, sizes, &job](const std::string& bytes, JobContext&) -> Result<PricedModel> {
        auto folder = TemporaryFolder::make("tenon-price-");
        if (!folder) return folder.error();
        const std::string model = folder->file("model.onnx");
        if (Status done = writeFileAtomically(model, bytes); !done) return done.error();
        return price(model, sizes, job);
    };
}

Result<Prices> pricesOf(const PriceFile& price, const std::string& path, const std::string& bytes,
                        const ImportOptions& sizes, JobContext& job)
{
    auto before = price(path, sizes, job);
    if (!before) return before.error();
    auto after = pricedAsFiles(price, sizes, job)(bytes, job);
    if (!after) return after.error();
    return Prices{*std::move(before), *std::move(after)};
}

Diagnostic priceIsNotTold(const Diagnostic& error)
{
    return makeWarning(error.code, "what the models take there is not told: " + error.message);
}

} // namespace tenon::compiler
