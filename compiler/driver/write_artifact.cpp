// SPDX-License-Identifier: Apache-2.0
// Wires a compile result into compiler/package, with the object cache in front of LLVM.
#include "compiler/driver/compile.h"
#include "compiler/driver/object_cache.h"
#include "compiler/package/source_package.h"
#include "core/base/text.h"
#include "core/ir/module_hash.h"

#include <functional>

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

Result<std::vector<SourceFile>> sourcesOf(const CompileResult& result, CInterface interface,
                                          bool bringsHeaders)
{
    const SourceCode* code = result.machine.backEnd->sources;
    if (!code)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "code for " + quoted(result.target.text()) +
                             " is not written as source; use --target c");
    SourceProgram program{.program = result.program,
                          .memory = result.memory,
                          .executor = result.options.executor,
                          .target = result.target,
                          .model = result.loaded->name,
                          .interface = interface,
                          .bringsHeaders = bringsHeaders};
    for (const CompiledKernel& kernel : result.kernels) program.kernels.push_back(*kernel.object);
    return code->writeProgram(program);
}

} // namespace

Result<std::vector<SourceFile>> programSources(const CompileResult& result, CInterface interface)
{
    return sourcesOf(result, interface, false);
}

Result<PackageReport> writeSources(const CompileResult& result, CInterface interface,
                                   const std::string& path)
{
    const ExecutorKind executor = result.options.executor;
    const auto format = outputFormatOf(path);
    const auto form = formFor(result.machine, executor, format ? *format : OutputFormat::Folder);
    if (!form) return form.error();
    auto sources = sourcesOf(result, interface, true);
    if (!sources) return sources.error();
    PackageReport report;
    report.manifest = makeManifest(result.program, executor,
                                   executor == ExecutorKind::Aot ? &result.memory : nullptr, {});
    if (Status written = writeSourcePackage(*sources, path); !written) return written.error();
    for (const SourceFile& source : *sources)
        report.fileBytes += static_cast<int64_t>(source.text.size());
    return report;
}

Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path)
{
    if (!result.machine.backEnd->objects)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "the target is C source, which is not loaded; write it to a folder with "
                         "`tenon compile --target c -o FOLDER`");
    auto format = outputFormatOf(path);
    if (!format) return format.error();
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
    input.manifest.toolVersion = TENON_VERSION;
    input.manifest.modelName = result.loaded->name;
    input.manifest.modelHash = moduleHash(result.loaded->module);
    input.manifest.target = result.target.text();
    input.manifest.optLevel = result.options.optLevel;
    input.manifest.threads = result.facts.threads;
    input.emitGlue = [&](const std::string& text) {
        return cachedObject(cache, "glue\n" + machine + "\n" + text,
                            [&] { return emit(TextRequest::Kind::Glue, text); });
    };
    input.link = [&](const LinkJob& job, const std::string& output) {
        return service->link({job, output});
    };
    return writePackage(input, *format, path);
}

Result<PackageReport> writeProgram(const CompileResult& result, CInterface interface,
                                   const std::string& path)
{
    return result.machine.backEnd->sources ? writeSources(result, interface, path)
                                           : writeArtifact(result, path);
}

} // namespace tenon::compiler
