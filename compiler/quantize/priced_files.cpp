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

} // namespace tenon::compiler
