// SPDX-License-Identifier: Apache-2.0
// Wires a compile result into compiler/package, with the object cache in front of LLVM.
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/object_cache.h"

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

Result<PackageReport> writeArtifact(const CompileResult& result, const std::string& path,
                                    const std::string& modelName)
{
    auto format = outputFormatOf(path);
    if (!format) return format.error();
    const ObjectCache cache(result.options.cacheFolder);
    const std::string machine = result.machine.text();
    auto builtins =
        cachedObject(cache, "builtins\n" + machine, [&] { return emitBuiltins(result.machine); });
    if (!builtins) return builtins.error();
    PackageInput input{result.program, result.options.executor, {}, result.machine};
    for (const CompiledKernel& kernel : result.kernels) input.objects.push_back(*kernel.object);
    input.objects.push_back(*builtins);
    input.memory = result.options.executor == ExecutorKind::Aot ? &result.memory : nullptr;
    input.manifest.toolVersion = TENON_VERSION;
    input.manifest.modelName = modelName;
    input.manifest.target = result.target.text();
    input.manifest.optLevel = result.options.optLevel;
    input.emitGlue = [&](const std::string& text) {
        return cachedObject(cache, "glue\n" + machine + "\n" + text,
                            [&] { return emitIrText(text, result.machine); });
    };
    return writePackage(input, *format, path);
}

} // namespace tenon::compiler
