// SPDX-License-Identifier: Apache-2.0
// Artifacts and inputs for running.
#include "app/cli/execution.h"

#include "app/cli/memory_need.h"
#include "app/cli/open_for_build.h"
#include "compiler/driver/target_cores.h"
#include "compiler/frontend/mlf/model_library_file.h"
#include "compiler/frontend/open_sizes.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/processors.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/session/emulation.h"
#include "remote/session/file_digest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

/// The number in "input_12.pb"; files without one sort behind, by name.
std::pair<int64_t, std::string> numericOrder(const fs::path& path)
{
    const std::string stem = path.stem().string();
    const size_t digits = stem.find_last_not_of("0123456789");
    const std::string number = stem.substr(digits == std::string::npos ? 0 : digits + 1);
    if (number.empty() || number.size() > 9) return {INT64_MAX, stem};
    return {std::stoll(number), stem};
}

Result<std::vector<std::string>> tensorFilesIn(const std::string& folder)
{
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        const std::string extension = entry.path().extension().string();
        const bool isOutput = entry.path().filename().string().starts_with("output");
        if ((extension == ".pb" || extension == ".npy" || extension == ".npz") && !isOutput)
            files.push_back(entry.path());
    }
    if (files.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "the folder holds no .pb, .npy or .npz inputs", {.file = folder});
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        return numericOrder(a) < numericOrder(b);
    });
    std::vector<std::string> out;
    for (const fs::path& file : files) out.push_back(file.string());
    return out;
}

/// True when a tensor of these sizes fits the declared ones, of which -1 is any.
bool fitsShape(const std::vector<int64_t>& declared, const std::vector<int64_t>& shape)
{
    return std::equal(declared.begin(), declared.end(), shape.begin(), shape.end(),
                      [](int64_t any, int64_t size) { return any == -1 || any == size; });
}

} // namespace

Result<std::string> Runnable::sha256() const { return remote::fileSha256(path); }

Result<Runnable> buildRunnable(std::shared_ptr<const compiler::Loaded> loaded,
                               const CommonOptions& options, JobContext& job)
{
    auto result = compileOpened(std::move(loaded), compileOptions(options), job);
    if (!result) return result.error();
    noteChoices(**result, options.verbosity);
    auto folder = TemporaryFolder::make("tenon-");
    if (!folder) return folder.error();
    const std::string suffix(compiler::suffixOf((*result)->machine.backEnd->runnable()));
    Runnable out{.path = folder->file("model" + suffix),
                 .folder = std::make_shared<const TemporaryFolder>(std::move(*folder)),
                 .compiled = *result};
    auto report = compiler::writeArtifact(**result, out.path);
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
                                InputSource inputs, JobContext& job)
{
    auto opened =
        inputs == InputSource::MadeUp ? openForBuild(path, options) : openModel(path, options);
    if (!opened) return opened.error();
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    if (inputs == InputSource::MadeUp && !hasErrors(opened->loaded->diagnostics) &&
        compiler::hasUnboundSizes(opened->loaded->module))
        return openSizesError(path, *opened, options);
    auto runnable = buildRunnable(opened->loaded, options, job);
    if (!runnable) return withProposal(runnable.error(), path, *opened, options);
    return runnable;
}

} // namespace

Result<Runnable> openRunnable(const std::string& path, const CommonOptions& options,
                              InputSource inputs, JobContext& job)
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
    return compileAndOpen(path, options, inputs, job);
}

Result<ThreadChoice> threadsOf(const Manifest& manifest, const CommonOptions& options)
{
    const auto target = parseTarget(manifest.target);
    if (!target) return target.error();
    return chooseThreads(*target, {.asked = options.threads,
                                   .thisComputer = usableProcessors(),
                                   .artifact = manifest.threads,
                                   .hasThreads = compiler::hasThreads(*target)});
}

Result<remote::RunRequest> runRequest(const Runnable& runnable, const CommonOptions& options,
                                      std::chrono::seconds timeout)
{
    const auto threads = threadsOf(runnable.manifest, options);
    if (!threads) return threads.error();
    remote::RunRequest request{.artifactPath = runnable.path,
                               .threads = threads->count,
                               .mayExceedProcessors = threads->isAsked(),
                               .timeout = timeout};
    auto target = parseTarget(runnable.manifest.target);
    if (!target) return target.error();
    if (Status found = remote::runHere(request, *target); !found) return found.error();
    if (Status fits = needFittingMemory(runnable.manifest); !fits) return fits.error();
    return request;
}

std::string placeOf(const remote::RunRequest& request)
{
    if (request.emulator.empty()) return "this computer";
    if (!request.isEmulated) return "node on this computer";
    if (request.instructionNs > 0) return "an emulated board that counts instructions";
    std::vector<std::string> words = request.emulator;
    words.front() = fs::path(words.front()).filename().string();
    return "emulated by " + join(words, " ");
}

Result<std::vector<std::pair<std::string, Tensor>>>
readTensors(const std::vector<std::string>& paths)
{
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        auto inside = tensorFilesIn(path);
        if (!inside) return inside.error();
        files.insert(files.end(), inside->begin(), inside->end());
    }
    std::vector<std::pair<std::string, Tensor>> out;
    for (const std::string& file : files) {
        auto tensors = compiler::readTensorFiles(file);
        if (!tensors) return tensors.error();
        for (compiler::NamedTensor& named : *tensors)
            out.emplace_back(std::move(named.name), std::move(named.tensor));
    }
    return out;
}

Tensor sameBits(const Tensor& tensor, DataType dtype)
{
    return Tensor::make(dtype, tensor.shape(), [&](std::span<std::byte> out) {
        std::copy(tensor.bytes().begin(), tensor.bytes().end(), out.begin());
    });
}

Result<remote::NamedTensors> assignInputs(const std::vector<ManifestTensor>& inputs,
                                          const std::vector<std::pair<std::string, Tensor>>& given)
{
    std::vector<const Tensor*> chosen(inputs.size(), nullptr);
    std::vector<const Tensor*> unnamed;
    for (const auto& [name, tensor] : given) {
        const auto named = std::find_if(inputs.begin(), inputs.end(),
                                        [&](const ManifestTensor& i) { return i.name == name; });
        if (named == inputs.end())
            unnamed.push_back(&tensor);
        else
            chosen[static_cast<size_t>(named - inputs.begin())] = &tensor;
    }
    size_t next = 0;
    for (const Tensor*& tensor : chosen)
        if (!tensor && next < unnamed.size()) tensor = unnamed[next++];
    if (next < unnamed.size())
        return makeError(DiagnosticCode::BadArgument,
                         "the model has " + std::to_string(inputs.size()) + " inputs but " +
                             std::to_string(given.size()) + " tensors were given");
    remote::NamedTensors out;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!chosen[i])
            return makeError(DiagnosticCode::BadArgument, "input " + core::quoted(inputs[i].name) +
                                                              " was not given; it is " +
                                                              remote::tensorText(inputs[i]));
        // NumPy and old data sets hold bfloat16 as its bits.
        if (inputs[i].dtype == "bfloat16" && chosen[i]->dtype() == kUInt16 &&
            fitsShape(inputs[i].shape, chosen[i]->shape())) {
            out.emplace_back(inputs[i].name, sameBits(*chosen[i], kBfloat16));
            continue;
        }
        const bool fits = fitsShape(inputs[i].shape, chosen[i]->shape()) &&
                          chosen[i]->dtype().text() == inputs[i].dtype;
        if (!fits)
            return makeError(DiagnosticCode::ShapeMismatch,
                             "input " + core::quoted(inputs[i].name) + " is " +
                                 remote::tensorText(inputs[i]) + " but was given " +
                                 chosen[i]->typeText());
        out.emplace_back(inputs[i].name, *chosen[i]);
    }
    return out;
}

} // namespace tenon::cli
