// SPDX-License-Identifier: Apache-2.0
// Each level is compiled into a library of its own and run on the same made-up inputs.
#include "remote/measure/opt_levels.h"

#include "core/base/temporary_folder.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/session/emulation.h"

namespace tenon::remote {

namespace {

core::Result<OptLevel> measureLevel(const LevelsRequest& request, int level,
                                    const core::TemporaryFolder& folder, core::JobContext& job)
{
    compiler::CompileOptions options = request.options;
    options.optLevel = level;
    const auto compiled = compiler::compile(request.loaded, options, job);
    if (!compiled) return compiled.error();
    const compiler::CompileResult& result = **compiled;
    const std::string suffix(compiler::suffixOf(result.machine.backEnd->runnable()));
    RunRequest run{.artifactPath = folder.file("level" + std::to_string(level) + suffix),
                   .threads = result.threads.count,
                   .mayExceedProcessors = result.threads.isAsked()};
    if (core::Status found = runHere(run, result.target); !found) return found.error();
    const auto written = compiler::writeArtifact(result, run.artifactPath);
    if (!written) return written.error();
    auto inputs = madeUpInputs(written->manifest);
    if (!inputs) return inputs.error();
    run.inputs = *std::move(inputs);
    auto timing = measureArtifact(run, request.timing, job);
    if (!timing) return timing.error();
    return OptLevel{.level = level,
                    .calls = result.program.calls.size(),
                    .kernels = result.kernels.size(),
                    .memory = written->manifest.memory,
                    .fileBytes = written->fileBytes,
                    .timing = *std::move(timing),
                    .isEmulated = run.isEmulated};
}

} // namespace

core::Result<std::vector<OptLevel>> measureLevels(const LevelsRequest& request,
                                                  core::JobContext& job)
{
    auto folder = core::TemporaryFolder::make("tenon-levels-");
    if (!folder) return folder.error();
    std::vector<OptLevel> all;
    for (const int level : request.levels) {
        const auto done = static_cast<double>(all.size());
        job.progress(done / static_cast<double>(request.levels.size()),
                     "level " + std::to_string(level));
        auto measured = measureLevel(request, level, *folder, job);
        if (!measured) return measured.error();
        all.push_back(*std::move(measured));
        if (request.done) request.done(all.back());
    }
    return all;
}

} // namespace tenon::remote
