// SPDX-License-Identifier: Apache-2.0
// Wires a compile result into compiler/package, with the object cache in front of LLVM.
#include "compiler/driver/board_image.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/object_cache.h"
#include "compiler/package/board_project.h"
#include "compiler/package/model_library.h"
#include "compiler/package/project_folder.h"
#include "compiler/package/project_readme.h"
#include "compiler/package/source_package.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/ir/module_hash.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>

namespace tenon::compiler {
namespace {

/// An object from the cache, or made and stored.
Result<std::string> cachedObject(const ObjectCache& cache, const std::string& key,
                                 const std::function<Result<std::string>()>& make)
{
    const std::string fullKey = "tenon object 1\n" + compilerBuildId() + "\n" + key;
    if (auto hit = cache.find(fullKey)) return std::move((*hit)["object"]);
    auto object = make();
    if (object) cache.store(fullKey, {{"object", *object}});
    return object;
}

Result<SourceProgram> sourceProgram(const CompileResult& result, CInterface interface)
{
    if (!result.machine.backEnd->sources)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "code for " + core::quoted(result.target.text()) +
                             " is not written as source; use --target c");
    SourceProgram program{.program = result.program,
                          .memory = result.memory,
                          .executor = result.options.executor,
                          .target = result.target,
                          .model = result.loaded->name,
                          .interface = interface};
    for (const CompiledKernel& kernel : result.kernels) program.kernels.push_back(*kernel.object);
    return program;
}

Manifest manifestHead(const CompileResult& result)
{
    Manifest head;
    head.toolVersion = TENON_VERSION;
    head.modelName = result.loaded->name;
    head.modelHash = moduleHash(result.loaded->module);
    head.target = result.target.text();
    head.optLevel = result.options.optLevel;
    head.threads = result.facts.threads;
    return head;
}

int64_t bytesOf(const std::vector<SourceFile>& files)
{
    int64_t bytes = 0;
    for (const SourceFile& file : files) bytes += static_cast<int64_t>(file.text.size());
    return bytes;
}

/// The sources and what describes them, by path.
Result<std::vector<SourceFile>> libraryFiles(const CompileResult& result, SourceProgram program,
                                             const Manifest& manifest)
{
    const SourceCode& code = *result.machine.backEnd->sources;
    program.bringsHeaders = true;
    auto sources = code.writeProgram(program);
    if (!sources) return sources.error();
    std::vector<SourceFile> files = modelLibraryCode(std::move(*sources));
    auto runtime = code.runtimeFiles(program.executor);
    if (!runtime) return runtime.error();
    auto members = modelLibraryMembers(
        {.program = program.program,
         .executor = program.executor,
         .manifest = manifest,
         .module = result.loaded->module,
         .memory = program.executor == ExecutorKind::Aot ? &program.memory : nullptr,
         .runtimeVersion = runtime->empty() ? "" : TENON_VERSION,
         .exportedAt = exportTime()});
    if (!members) return members.error();
    for (std::vector<SourceFile>* more : {&*members, &*runtime})
        std::move(more->begin(), more->end(), std::back_inserter(files));
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

Manifest manifestOf(const CompileResult& result)
{
    const ExecutorKind executor = result.options.executor;
    return makeManifest(result.program, executor,
                        executor == ExecutorKind::Aot ? &result.memory : nullptr,
                        manifestHead(result));
}

/// An archive of them.
Result<PackageReport> writeLibrary(const CompileResult& result, const SourceProgram& program,
                                   const std::string& path)
{
    PackageReport report;
    report.manifest = manifestOf(result);
    const auto files = libraryFiles(result, program, report.manifest);
    if (!files) return files.error();
    if (Status written = writeSourceArchive(*files, path); !written) return written.error();
    report.fileBytes = bytesOf(*files);
    return report;
}

/// The sources in a folder of their own, linked.
Result<PackageReport> linkSources(const CompileResult& result, SourceProgram program,
                                  const std::string& path)
{
    const SourceCode& code = *result.machine.backEnd->sources;
    program.isMarked = program.executor == ExecutorKind::Aot;
    program.bringsHeaders = true;
    const auto sources = code.writeProgram(program);
    if (!sources) return sources.error();
    const auto folder = TemporaryFolder::make("tenon-link-");
    if (!folder) return folder.error();
    const std::string place = folder->file("model");
    if (Status written = writeSourcePackage(*sources, place); !written) return written.error();
    PackageReport report;
    report.manifest = manifestOf(result);
    const auto start = std::chrono::steady_clock::now();
    const Status linked = replaceFileAtomically(path, [&](const std::string& temporary) {
        return code.linkProgram(program, place, writeManifest(report.manifest), temporary);
    });
    if (!linked) return linked.error();
    report.linkMs = millisecondsSince(start);
    std::error_code ignored;
    report.fileBytes = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    return report;
}

} // namespace

Result<std::vector<SourceFile>> programSources(const CompileResult& result, CInterface interface)
{
    const auto program = sourceProgram(result, interface);
    if (!program) return program.error();
    return result.machine.backEnd->sources->writeProgram(*program);
}

Result<PackageReport> writeSources(const CompileResult& result, CInterface interface,
                                   const std::string& path, std::optional<OutputFormat> format)
{
    const ExecutorKind executor = result.options.executor;
    if (const auto bySuffix = outputFormatOf(path); !format && bySuffix) format = *bySuffix;
    const auto form = formFor(result.machine, executor, format.value_or(OutputFormat::Folder));
    if (!form) return form.error();
    auto program = sourceProgram(result, interface);
    if (!program) return program.error();
    if ((*form)->format == OutputFormat::Program) return linkSources(result, *program, path);
    if ((*form)->format == OutputFormat::ModelLibrary) return writeLibrary(result, *program, path);
    program->bringsHeaders = true;
    auto sources = result.machine.backEnd->sources->writeProgram(*program);
    if (!sources) return sources.error();
    PackageReport report;
    report.manifest = makeManifest(result.program, executor,
                                   executor == ExecutorKind::Aot ? &result.memory : nullptr, {});
    if (Status written = writeSourcePackage(*sources, path); !written) return written.error();
    report.fileBytes = bytesOf(*sources);
    return report;
}

namespace {

Result<PackageReport> writeObjects(const CompileResult& result, const std::string& path,
                                   OutputFormat format)
{
    const ObjectCache cache(result.options.cacheFolder);
    const std::string machine = result.machine.text();
    const auto service = result.options.service ? result.options.service : inProcessKernelService();
    const auto emit = [&](TextRequest::Kind kind, const std::string& text) {
        return service->emitText({.kind = kind, .text = text, .machine = result.machine});
    };
    auto builtins = cachedObject(cache, "builtins\n" + machine,
                                 [&] { return emit(TextRequest::Kind::Builtins, {}); });
    if (!builtins) return builtins.error();
    PackageInput input{result.program, result.options.executor, {}, result.machine};
    for (const CompiledKernel& kernel : result.kernels) input.objects.push_back(*kernel.object);
    input.objects.push_back(*builtins);
    // The graph executor's storages are its own.
    input.memory = result.options.executor == ExecutorKind::Graph ? nullptr : &result.memory;
    input.manifest = manifestHead(result);
    input.module = &result.loaded->module;
    input.emitGlue = [&](const std::string& text) {
        return cachedObject(cache, "glue\n" + machine + "\n" + text,
                            [&] { return emit(TextRequest::Kind::Glue, text); });
    };
    input.link = [&](const LinkJob& job, const std::string& output) {
        return service->link({job, output});
    };
    return writePackage(input, format, path);
}

/// C files and headers of the model, not of the runtime beside it.
bool isModelCode(const std::string& path)
{
    return path.starts_with("codegen/host/src/") || path.starts_with("codegen/host/include/");
}

/// The model's archive unpacked, and its code once more where the template wants a library.
void addModel(const std::vector<SourceFile>& archive, const ProjectTemplate& project,
              std::vector<SourceFile>& files)
{
    for (const SourceFile& file : archive) {
        files.push_back({"model/" + file.path, file.text});
        if (project.library.empty() || !isModelCode(file.path)) continue;
        const std::string name = std::filesystem::path(file.path).filename().string();
        files.push_back({std::string(project.library) + "/" + name, file.text});
    }
}

/// As the importer tells it among the facts of the file.
RealValues realValues(const CompileResult& result)
{
    constexpr std::string_view kKey = "real value of ";
    RealValues out;
    for (const auto& [key, text] : result.loaded->facts.metadata)
        if (key.starts_with(kKey)) out[key.substr(kKey.size())] = text;
    return out;
}

} // namespace

Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path)
{
    return writeProgram(result, CInterface::Structs, path);
}

Result<PackageReport> writeProgram(const CompileResult& result, CInterface interface,
                                   const std::string& path, std::optional<OutputFormat> format)
{
    if (result.machine.backEnd->sources) return writeSources(result, interface, path, format);
    if (format) return writeObjects(result, path, *format);
    const auto bySuffix = outputFormatOf(path);
    if (!bySuffix) return bySuffix.error();
    return writeObjects(result, path, *bySuffix);
}

Status writeProject(const CompileResult& result, const ProjectTemplate& project,
                    const std::string& folder)
{
    return writeBoardProject(result, project, folder, {});
}

Status writeBoardProject(const CompileResult& result, const ProjectTemplate& project,
                         const std::string& folder, const std::string& boardProject)
{
    auto program = sourceProgram(result, CInterface::Structs);
    if (!program) return program.error();
    program->isMarked = program->executor == ExecutorKind::Aot;
    const Manifest manifest = manifestOf(result);
    const auto library = libraryFiles(result, *program, manifest);
    if (!library) return library.error();
    auto files = project.files(*program);
    if (!files) return files.error();
    files->push_back({"README.md", readmeText(project, manifest, realValues(result))});
    if (!boardProject.empty()) {
        auto own = boardFiles(boardProject);
        if (!own) return own.error();
        takeBoardFiles(std::move(*own), *files);
    }
    addModel(*library, project, *files);
    files->push_back({"project.json", projectText({std::string(project.name), manifest})});
    nameImage(*files);
    return writeProjectFolder(*files, *library, folder);
}

} // namespace tenon::compiler
