// SPDX-License-Identifier: Apache-2.0
// Compiled as for use, counted on the image, timed call by call.
#include "app/runs/model_cost.h"

#include "app/runs/local_run.h"
#include "compiler/driver/target_features.h"
#include "compiler/frontend/open_sizes.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "remote/footprint/image.h"
#include "remote/measure/made_up_inputs.h"

namespace tenon::runs {

namespace {

using compiler::PricedModel;

/// A written program that is to be timed.
struct Program
{
    std::shared_ptr<const TemporaryFolder> folder;
    std::string path;
    Manifest manifest;
};

remote::TimingRequest timingOf()
{
    constexpr double kBudgetS = 0.6, kPrecision = 0.02;
    constexpr int kMost = 200;
    return {.repeat = kMost, .budgetS = kBudgetS, .precision = kPrecision, .perCall = true};
}

/// Microseconds, or instructions where those are counted.
void addTimes(const remote::Timing& timing, const Manifest& manifest, PricedModel& priced)
{
    const bool counts = timing.summaryMs.areInstructions;
    const double factor = counts ? 1e6 : 1e3;
    priced.timeUnit = counts ? "instructions" : "us";
    priced.cost.time = timing.summaryMs.median * factor;
    for (size_t i = 0; i < std::min(timing.callMs.size(), manifest.calls.size()); ++i)
        priced.calls.push_back({manifest.calls[i].fromNodes, timing.callMs[i] * factor});
}

Status timeHere(const Program& program, const RunPlace& place, PricedModel& priced, JobContext& job)
{
    auto request = requestHere(program.path, program.manifest, place.threads, place.timeout);
    if (!request) return request.error();
    auto inputs = remote::madeUpInputs(program.manifest);
    if (!inputs) return inputs.error();
    request->inputs = std::move(*inputs);
    priced.place = placeOf(*request);
    priced.isEmulated = request->isEmulated;
    const auto timing = remote::measureArtifact(*request, timingOf(), job);
    if (!timing) return timing.error();
    addTimes(*timing, program.manifest, priced);
    return kDone;
}

Status timeOnBoard(const Program& program, const RunPlace& place, PricedModel& priced,
                   JobContext& job)
{
    const remote::DeployRequest request{
        .build = [&](const std::string&, JobContext&) -> Result<remote::BuiltModel> {
            auto features = compiler::targetFeatures(program.manifest.target);
            return remote::BuiltModel{.path = program.path,
                                      .manifest = program.manifest,
                                      .features = features ? std::move(*features)
                                                           : std::vector<std::string>{},
                                      .lifetime = program.folder};
        },
        .inputs = [](const Manifest& manifest) { return remote::madeUpInputs(manifest); },
        .target = program.manifest.target,
        .timing = timingOf(),
        .threads = place.threads,
        .staysConnected = true,
        .skipsPreflight = place.skipsPreflight};
    const remote::DeployReportPtr report = place.board->deploy(request, job);
    if (report->error) return *report->error;
    priced.place = "board " + core::quoted(place.boardName);
    priced.isEmulated = report->board.isEmulated();
    if (report->timing) addTimes(*report->timing, report->manifest, priced);
    return kDone;
}

/// On the image of a microcontroller, else on the library.
Status count(const compiler::CompileResult& result, PricedModel& priced)
{
    const auto counted = result.machine.backEnd->sources
                             ? remote::measureMicroImage(result, compiler::CInterface::Packed)
                             : remote::countLibrary(result);
    if (!counted) return counted.error();
    priced.cost.flashBytes =
        counted->flash.kernels + counted->flash.constants + counted->flash.metadata;
    priced.cost.ramBytes = counted->ram.workspace + counted->ram.io;
    return kDone;
}

Result<PricedModel> priceOf(const std::string& model, const compiler::ImportOptions& sizes,
                            const compiler::CompileOptions& options, const RunPlace& place,
                            JobContext& job)
{
    auto folder = TemporaryFolder::make("tenon-price-");
    if (!folder) return folder.error();
    Program program{std::make_shared<const TemporaryFolder>(std::move(*folder)), {}, {}};
    auto loaded = compiler::loadForBuild(model, sizes);
    if (!loaded) return loaded.error();
    const auto built = compiler::compile(
        std::make_shared<const compiler::Loaded>(std::move(*loaded)), options, job);
    if (!built) return built.error();
    program.path = program.folder->file(
        "model" + std::string(compiler::suffixOf((*built)->machine.backEnd->runnable())));
    auto written = compiler::writeArtifact(**built, program.path);
    if (!written) return written.error();
    program.manifest = std::move(written->manifest);
    PricedModel priced;
    if (Status counted = count(**built, priced); !counted) return counted.error();
    const Status timed = place.board ? timeOnBoard(program, place, priced, job)
                                     : timeHere(program, place, priced, job);
    return timed ? Result<PricedModel>(std::move(priced)) : Result<PricedModel>(timed.error());
}

} // namespace

compiler::PriceFile pricedAt(compiler::CompileOptions options, RunPlace place)
{
    return [options = std::move(options), place = std::move(place)](
               const std::string& model, const compiler::ImportOptions& sizes, JobContext& job) {
        return priceOf(model, sizes, options, place, job);
    };
}

} // namespace tenon::runs
