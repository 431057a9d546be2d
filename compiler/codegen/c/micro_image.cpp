// SPDX-License-Identifier: Apache-2.0
// One call of GCC per image.
#include "compiler/codegen/c/micro_image.h"

#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "core/base/tool.h"

#include <cstdio>
#include <iterator>

namespace tenon::compiler {

using core::DiagnosticCode;
using core::makeError;
using core::MicroCore;
using core::Result;
using core::Status;

namespace {

constexpr const char* kGraphSources[] = {"common/bytes.c",
                                         "common/dtype.c",
                                         "common/json.c",
                                         "common/tensor_head.c",
                                         "executor/graph.c",
                                         "executor/graph_check.c",
                                         "executor/params.c",
                                         "micro/graph/micro_arena.c",
                                         "micro/graph/micro_error.c",
                                         "micro/graph/micro_graph.c"};

constexpr const char* kGraphHeaders[] = {"common/arena.h",
                                         "common/bytes.h",
                                         "common/dtype.h",
                                         "common/error.h",
                                         "common/json.h",
                                         "common/tensor_head.h",
                                         "executor/graph.h",
                                         "executor/params.h",
                                         "include/tenon/c_backend_api.h",
                                         "include/tenon/c_runtime_api.h",
                                         "include/tenon/dlpack.h",
                                         "micro/graph/micro_arena.h",
                                         "micro/graph/micro_function.h",
                                         "micro/graph/micro_graph.h"};

/// A symbol of the linker script.
std::string defined(const char* symbol, int64_t value)
{
    char text[64];
    std::snprintf(text, sizeof text, "-Wl,--defsym=%s=0x%llx", symbol,
                  static_cast<unsigned long long>(value));
    return text;
}

std::string coresText()
{
    std::vector<std::string> names;
    for (const MicroCore& core : core::allMicroCores()) names.emplace_back(core.cpu);
    return core::join(names, ", ");
}

} // namespace

std::vector<std::string> microGraphSources()
{
    std::vector<std::string> out;
    for (const char* source : kGraphSources)
        out.push_back(core::shippedFile("runtime/" + std::string(source)));
    return out;
}

Result<std::vector<SourceFile>> microRuntimeFiles(ExecutorKind executor)
{
    std::vector<SourceFile> out;
    if (executor != ExecutorKind::Graph) return out;
    std::vector<std::string> names(std::begin(kGraphSources), std::end(kGraphSources));
    names.insert(names.end(), std::begin(kGraphHeaders), std::end(kGraphHeaders));
    for (const std::string& name : names) {
        auto text = core::readFile(core::shippedFile("runtime/" + name));
        if (!text) return text.error();
        out.push_back({"runtime/" + name, std::move(*text)});
    }
    return out;
}

std::vector<std::string> microMemoryOptions(const MicroCore& core)
{
    return {defined("__flash", core.flashAddress), defined("__flash_size", core.flashBytes),
            defined("__ram", core.ramAddress), defined("__ram_size", core.ramBytes)};
}

Result<const MicroCore*> linkableCore(const core::Target& target)
{
    const MicroCore* core = core::microCoreOf(target);
    if (!core)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "images are linked for " + coresText() +
                             "; name one with --target \"c -mcpu=cortex-m4\"");
    for (const char* name : {"gcc", "objcopy"})
        if (const std::string tool = core::microTool(*core, name); !core::hasTool(tool))
            return makeError(DiagnosticCode::UnsupportedTarget,
                             tool + " is not installed; install " +
                                 std::string(core->family->toolPackages));
    return core;
}

Status linkMicroImage(const MicroImage& image, const std::string& path)
{
    const Result<const MicroCore*> core = linkableCore(image.target);
    if (!core) return core.error();
    const auto machine = core::microCompilerOptions(**core, image.target);
    if (!machine) return machine.error();
    const std::string board =
        core::shippedFile("runtime/micro/" + std::string((*core)->family->folder));
    std::vector<std::string> words{core::microTool(**core, "gcc"),
                                   "-std=c99",
                                   std::string(image.optimization),
                                   "-ffunction-sections",
                                   "-fdata-sections",
                                   "-Wl,--gc-sections",
                                   "-nostartfiles",
                                   "-T",
                                   board + "/link.ld",
                                   "-I" + core::shippedFile("runtime/micro/mps2"),
                                   "-I" + core::shippedFile("runtime/micro/graph"),
                                   "-I" + image.includes};
    const auto add = [&](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add(*machine);
    add(microMemoryOptions(**core));
    add(image.options);
    add(image.sources);
    add({board + "/startup.c", "-o", path, "-lm"});
    const Result<std::string> done = core::runTool(words);
    return done ? Status(core::kDone) : Status(done.error());
}

} // namespace tenon::compiler
