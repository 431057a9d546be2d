// SPDX-License-Identifier: Apache-2.0
// The reference of level 0: one program for all data sets.
#include "compiler/compare/compare.h"
#include "compiler/compare/reversed_sums.h"

namespace tenon::compiler {
namespace {

/// The model with those values as its outputs.
std::shared_ptr<const Loaded> withOutputs(const Loaded& loaded, const std::vector<ValueRef>& wanted)
{
    auto out = std::make_shared<Loaded>(loaded);
    GraphFunction main = loaded.module.main();
    main.results.assign(wanted.begin(), wanted.end());
    main.resultNames.clear();
    for (size_t i = 0; i < wanted.size(); ++i)
        main.resultNames.push_back("value_" + std::to_string(i));
    out->module.setFunction(std::move(main));
    return out;
}

} // namespace

ReferenceSource levelZeroReference(std::shared_ptr<const Loaded> loaded, CompileOptions options,
                                   ProgramRunner here)
{
    options.optLevel = 0;
    const auto built = std::make_shared<CompileResultPtr>();
    return [loaded = std::move(loaded), options = std::move(options), here = std::move(here),
            built](const std::vector<ValueRef>& wanted, const NamedValues& inputs,
                   JobContext& job) -> Result<ReferenceValues> {
        if (wanted.empty()) return ReferenceValues();
        if (!*built) {
            auto result = compile(withOutputs(*loaded, wanted), options, job);
            if (!result) return result.error();
            *built = std::move(*result);
        }
        auto outputs = here(*built, inputs, job);
        if (!outputs) return outputs.error();
        CHECK(outputs->size() == wanted.size()) << "a program lost outputs";
        ReferenceValues values;
        for (size_t i = 0; i < wanted.size(); ++i)
            values.emplace(wanted[i], std::move((*outputs)[i]));
        return values;
    };
}

ReferenceSource reversedReference(const Loaded& loaded, CompileOptions options, ProgramRunner here)
{
    auto reversed = std::make_shared<Loaded>(loaded);
    reversed->module = reversedSums(loaded.module);
    return levelZeroReference(std::move(reversed), std::move(options), std::move(here));
}

} // namespace tenon::compiler
