// SPDX-License-Identifier: Apache-2.0
// Wires a compile result into compiler/package, with the object cache in front of LLVM.
#include "compiler/codegen/c/c_kernel.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/object_cache.h"
#include "compiler/package/c_package.h"
#include "core/base/text.h"
#include "core/ir/module_hash.h"
#include "core/target/c_options.h"

#include <algorithm>
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

} // namespace

Result<std::vector<CSource>> cSources(const CompileResult& result, CInterface interface)
{
    CProgram program{result.program, result.memory};
    std::string all;
    for (const CompiledKernel& kernel : result.kernels) {
        program.kernels.push_back(*kernel.object);
        all += *kernel.object;
    }
    program.helpers = cHelpers(all);
    program.interface = interface;
    program.alignment = workspaceAlignment(result.target);
    program.constantsAlignment =
        std::max<int64_t>(4, result.target.intOption("constants-byte-alignment", 16));
    program.title = "Model `" + result.loaded->name +
                    "`, written by Tenon " TENON_VERSION " for the target " +
                    core::quoted(result.target.text()) + ".";
    if (const auto options = cCompilerOptions(result.target); !options.empty())
        program.title += " To be compiled with " + join(options, " ") + ".";
    return result.options.executor == ExecutorKind::Graph ? writeCGraphSources(program)
                                                          : writeCSources(program);
}

Result<PackageReport> writeCArtifact(const CompileResult& result, CInterface interface,
                                     const std::string& path)
{
    auto sources = cSources(result, interface);
    if (!sources) return sources.error();
    const ExecutorKind executor = result.options.executor;
    if (interface == CInterface::Packed && executor == ExecutorKind::Aot)
        for (CSource& header : runtimeHeaders()) sources->push_back(std::move(header));
    PackageReport report;
    report.manifest = makeManifest(result.program, executor,
                                   executor == ExecutorKind::Aot ? &result.memory : nullptr, {});
    if (Status written = writeCPackage(*sources, path); !written) return written.error();
    for (const CSource& source : *sources)
        report.fileBytes += static_cast<int64_t>(source.text.size());
    return report;
}

Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path)
{
    if (result.machine.isSource())
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
                            [&] { return emit(TextRequest::Kind::IrText, text); });
    };
    input.link = [&](const LinkJob& job, OutputFormat form, const std::string& output) {
        return service->link({job, form == OutputFormat::Object, output});
    };
    return writePackage(input, *format, path);
}

} // namespace tenon::compiler
