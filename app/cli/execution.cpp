// SPDX-License-Identifier: Apache-2.0
// Artifacts and inputs for running.
#include "app/cli/execution.h"

#include "app/cli/open_for_build.h"
#include "compiler/driver/board_image.h"
#include "compiler/frontend/mlf/model_library_file.h"
#include "compiler/frontend/open_sizes.h"
#include "core/base/text.h"
#include "remote/session/file_digest.h"

namespace tenon::cli {

Result<std::string> Runnable::sha256() const { return remote::fileSha256(path); }

Result<Runnable> buildRunnable(std::shared_ptr<const compiler::Loaded> loaded,
                               const CommonOptions& options, JobContext& job,
                               const std::string& boardProject)
{
    auto result = compileOpened(std::move(loaded), compileOptions(options), job);
    if (!result) return result.error();
    noteChoices(**result, options.verbosity);
    return writeRunnable(std::move(*result), boardProject);
}

Result<Runnable> writeRunnable(compiler::CompileResultPtr compiled, const std::string& boardProject)
{
    auto folder = TemporaryFolder::make("tenon-");
    if (!folder) return folder.error();
    const std::string suffix(compiler::suffixOf(compiled->machine.backEnd->runnable()));
    Runnable out{.path = folder->file("model" + suffix),
                 .folder = std::make_shared<const TemporaryFolder>(std::move(*folder)),
                 .compiled = std::move(compiled)};
    auto report = compiler::writeForBoard(*out.compiled, out.path, boardProject);
    if (!report) return report.error();
    out.manifest = std::move(report->manifest);
    return out;
}

namespace {

/// Why inputs cannot be made up, and what to bind.
Diagnostic openSizesError(const std::string& path, const OpenedModel& opened,
                          const CommonOptions& options)
{
    std::vector<std::string> open;
    const Module& module = opened.loaded->module;
    for (const NodeId id : module.main().params) {
        const NodeRecord& input = module.node(id);
        if (!constantShape(input.types[0].shape))
            open.push_back(core::quoted(input.name) + " " + input.types[0].text());
    }
    return withProposal(
        makeError(DiagnosticCode::DynamicShape,
                  "no data were given, and none can be made up for the sizes that are open: " +
                      join(open, ", ") + "; bind them with --shape or give data with --inputs"),
        path, opened, options);
}

Result<Runnable> compileAndOpen(const std::string& path, const CommonOptions& options,
                                InputSource inputs, JobContext& job,
                                const std::string& boardProject)
{
    auto opened =
        inputs == InputSource::MadeUp ? openForBuild(path, options) : openModel(path, options);
    if (!opened) return opened.error();
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    if (inputs == InputSource::MadeUp && !hasErrors(opened->loaded->diagnostics) &&
        compiler::hasUnboundSizes(opened->loaded->module))
        return openSizesError(path, *opened, options);
    auto runnable = buildRunnable(opened->loaded, options, job, boardProject);
    if (!runnable) return withProposal(runnable.error(), path, *opened, options);
    return runnable;
}

} // namespace

Result<Runnable> openRunnable(const std::string& path, const CommonOptions& options,
                              InputSource inputs, JobContext& job, const std::string& boardProject)
{
    const auto format = compiler::outputFormatOf(path);
    if (format && compiler::isRunnable(*format)) {
        auto manifest = readManifest(path);
        if (!manifest) return manifest.error();
        return Runnable{.path = path, .manifest = std::move(*manifest)};
    }
    if (format && !compiler::isModelLibraryFile(path))
        return makeError(
            DiagnosticCode::BadArgument,
            "objects and archives cannot be loaded; compile to .so, .wasm or .elf to run here",
            {.file = path});
    return compileAndOpen(path, options, inputs, job, boardProject);
}

Result<remote::RunRequest> runRequest(const Runnable& runnable, const CommonOptions& options,
                                      std::chrono::seconds timeout)
{
    return requestHere(runnable.path, runnable.manifest, options.threads, timeout);
}

} // namespace tenon::cli
