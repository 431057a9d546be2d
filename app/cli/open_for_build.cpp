// SPDX-License-Identifier: Apache-2.0
// The batch of one, and what else to bind.
#include "app/cli/open_for_build.h"

#include "app/cli/interrupt.h"
#include "app/runs/compared_model.h"
#include "compiler/frontend/open_sizes.h"
#include "core/base/clock.h"

#include <chrono>

namespace tenon::cli {

Result<OpenedModel> openForBuild(const std::string& path, const CommonOptions& options)
{
    if (options.executor == "vm") return openModel(path, options);
    auto bindings = importOptions(options);
    if (!bindings) return bindings.error();
    const ComputingScope scope;
    const auto start = std::chrono::steady_clock::now();
    auto loaded = compiler::loadForBuild(path, *bindings);
    if (!loaded) return openModel(path, options); // which says what is wrong with the file
    const double ms = millisecondsSince(start);
    return OpenedModel{std::make_shared<const compiler::Loaded>(std::move(*loaded)), ms};
}

Diagnostic withProposal(Diagnostic error, const std::string& path, const OpenedModel& opened,
                        const CommonOptions& options)
{
    const auto bindings = importOptions(options);
    return runs::withProposal(std::move(error), path, *opened.loaded,
                              bindings ? *bindings : compiler::ImportOptions());
}

} // namespace tenon::cli
