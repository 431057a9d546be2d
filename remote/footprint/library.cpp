// SPDX-License-Identifier: Apache-2.0
// A shared library, the smallest static program that runs it, and that program's word on memory.
#include "core/artifact/elf_section.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/tool.h"
#include "core/target/board_server.h"
#include "remote/footprint/image.h"
#include "remote/footprint/storages.h"
#include "remote/footprint/tool.h"
#include "remote/session/emulation.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

int64_t sum(const std::map<std::string, int64_t>& sections,
            std::initializer_list<const char*> names)
{
    int64_t bytes = 0;
    for (const char* name : names)
        if (const auto found = sections.find(name); found != sections.end()) bytes += found->second;
    return bytes;
}

Result<core::LoadedBytes> loadedBytesOf(const std::string& path)
{
    const auto file = core::readFile(path);
    if (!file) return file.error();
    return core::loadedBytes(std::as_bytes(std::span(*file)));
}

/// What the runner has that an empty program has not, without its own counters.
struct RuntimeBytes
{
    int64_t flash = 0;
    int64_t statics = 0;
};

Result<RuntimeBytes> runtimeBytes(const std::string& triple)
{
    const Result<std::string> runner = core::modelRunnerPath(triple);
    if (!runner) return runner.error();
    const Result<std::string> empty = core::emptyProgramPath(triple);
    if (!empty) return empty.error();
    const auto whole = loadedBytesOf(*runner);
    const auto base = loadedBytesOf(*empty);
    const auto wholeSections = sectionBytes("size", *runner);
    const auto baseSections = sectionBytes("size", *empty);
    const auto symbols = symbolBytes("nm", *runner);
    if (!whole) return whole.error();
    if (!base) return base.error();
    if (!wholeSections) return wholeSections.error();
    if (!baseSections) return baseSections.error();
    if (!symbols) return symbols.error();
    int64_t counters = 0;
    for (const auto& [name, bytes] : *symbols)
        if (name.starts_with("__wrap_") || name.starts_with("tenon_counting_")) counters += bytes;
    const auto written = {".data", ".bss", ".tdata", ".tbss"};
    return RuntimeBytes{.flash = whole->stored - base->stored - counters,
                        .statics = sum(*wholeSections, written) - sum(*baseSections, written)};
}

/// What the runner said on this computer; -1 each when it cannot be run here.
struct Said
{
    int64_t stack = -1;
    int64_t heap = -1;                    ///< everything it took of the allocator
    int64_t workspace = -1;               ///< the part of it that was asked for as workspaces
    int64_t first = -1;                   ///< the first of those
    std::map<std::string, HeapUse> sites; ///< of the heap, by the runner's words for them
    std::string where;                    ///< as the method says it
};

Result<Said> askRunner(const core::Target& target, const std::string& triple,
                       const std::string& library)
{
    Said out;
    const Result<std::string> runner = core::modelRunnerPath(triple);
    if (!runner) return runner.error();
    auto words = emulatorFor(target);
    if (!words) {
        out.where = "not measured: " + words.error().message;
        return out;
    }
    out.where = words->empty() ? "on this computer" : "under user-mode emulation";
    words->insert(words->begin(), {"timeout", "300"});
    words->insert(words->end(), {*runner, library});
    const auto said = core::runTool(*words);
    if (!said) return said.error();
    const auto number = [&](const std::string& name) -> int64_t {
        const size_t at = ("\n" + *said).find("\n" + name + " ");
        return at == std::string::npos
                   ? -1
                   : std::strtoll(said->c_str() + at + name.size() + 1, nullptr, 10);
    };
    out.stack = number("stack");
    out.heap = number("heap");
    out.workspace = number("workspace");
    out.first = number("first");
    for (const char* site : {"library", "executor", "graph", "tensors", "workspaces", "other"})
        out.sites[site] = {"", number(std::string("site-") + site),
                           number(std::string("blocks-") + site)};
    if (out.stack < 0 || out.heap < 0)
        return makeError(DiagnosticCode::BoardFailure, "the footprint's runner said nothing");
    return out;
}

/// The heap without the bytes of tensors and workspaces, which are counted by themselves.
void addHeapUses(const Said& said, ExecutorFootprint& out)
{
    const auto add = [&](const char* site, const char* what, int64_t countedElsewhere) {
        const HeapUse& use = said.sites.at(site);
        const int64_t bytes = use.bytes - countedElsewhere;
        if (bytes > 0) out.heapUses.push_back({what, bytes, use.blocks});
    };
    const int64_t workspaces = std::max<int64_t>(0, said.workspace);
    add("library", "the library as loaded: its symbols and functions", 0);
    add("executor", "the executor's lists: operators, arguments and names", 0);
    add("graph", "the graph as parsed", 0);
    add("tensors", "alignment and heads of tensors", out.ram.workspace - workspaces + out.ram.io);
    add("workspaces", "room on the stack of workspaces beyond what was asked for", workspaces);
    add("other", "all else: modules, functions, messages", 0);
    std::stable_sort(out.heapUses.begin(), out.heapUses.end(),
                     [](const HeapUse& a, const HeapUse& b) { return a.bytes > b.bytes; });
}

core::Status addRam(const compiler::CompileResult& result, const core::ManifestMemory& memory,
                    const Said& said, ExecutorFootprint& out)
{
    out.ram.io = memory.ioBytes;
    if (result.options.executor == compiler::ExecutorKind::Aot) {
        out.plannedBytes = memory.workspaceBytes;
        out.ram.workspace = said.workspace < 0 ? memory.workspaceBytes : said.workspace;
        if (said.first > 0 && said.first != memory.workspaceBytes && memory.workspaceBytes > 0)
            return makeError(DiagnosticCode::InternalBug,
                             "the linked program asked for " + std::to_string(said.first) +
                                 " bytes of workspace but " +
                                 std::to_string(memory.workspaceBytes) + " were planned");
    } else {
        const Storages storages = storagesOf(result.program);
        out.ram.io = storages.io;
        out.plannedBytes = storages.others;
        out.ram.workspace = storages.others + std::max<int64_t>(0, said.workspace);
    }
    out.ram.stack = said.stack;
    // The tensors come from the same allocator.
    out.ram.heap =
        said.heap < 0 ? -1 : std::max<int64_t>(0, said.heap - out.ram.workspace - out.ram.io);
    if (out.ram.heap >= 0) addHeapUses(said, out);
    return core::kDone;
}

} // namespace

Result<FlashBytes> flashOfLibrary(const std::string& path, const core::ManifestMemory& memory)
{
    const auto file = core::readFile(path);
    if (!file) return file.error();
    const auto sections = core::storedSections(std::as_bytes(std::span(*file)));
    if (!sections) return sections.error();
    FlashBytes flash;
    flash.kernels = sum(*sections, {".text", ".plt", ".data", ".data.rel.ro", ".got"});
    flash.constants = memory.constantBytes;
    for (const auto& [name, bytes] : *sections) flash.metadata += bytes;
    flash.metadata -= flash.kernels + flash.constants;
    return flash;
}

Result<ExecutorFootprint> countLibrary(const compiler::CompileResult& result)
{
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    const std::string path = folder->file("model.so");
    const auto report = compiler::writeArtifact(result, path);
    if (!report) return report.error();
    const core::ManifestMemory& memory = report->manifest.memory;
    const auto flash = flashOfLibrary(path, memory);
    if (!flash) return flash.error();
    ExecutorFootprint out;
    out.flash = *flash;
    out.flash.runtime = -1;
    out.ram.statics = -1;
    out.ram.io = memory.ioBytes;
    out.plannedBytes = memory.workspaceBytes;
    if (result.options.executor == compiler::ExecutorKind::Graph) {
        const Storages storages = storagesOf(result.program);
        out.ram.io = storages.io;
        out.plannedBytes = storages.others;
    }
    out.ram.workspace = out.plannedBytes + memory.kernelWorkspaceBytes;
    return out;
}

Result<ExecutorFootprint> measureLibrary(const compiler::CompileResult& result)
{
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    const std::string path = folder->file("model.so");
    const auto report = compiler::writeArtifact(result, path);
    if (!report) return report.error();
    const auto sections = sectionBytes("size", path);
    const auto flash = flashOfLibrary(path, report->manifest.memory);
    const auto runtime = runtimeBytes(result.machine.triple);
    const auto said = askRunner(result.target, result.machine.triple, path);
    if (!sections) return sections.error();
    if (!flash) return flash.error();
    if (!runtime) return runtime.error();
    if (!said) return said.error();
    ExecutorFootprint out;
    out.flash = *flash;
    out.flash.runtime = runtime->flash;
    out.ram.statics = runtime->statics + sum(*sections, {".bss"});
    if (core::Status counted = addRam(result, report->manifest.memory, *said, out); !counted)
        return counted.error();
    out.method =
        "shared library: constants as listed, code by section, metadata the rest without debug "
        "information; runtime: the smallest static program that loads and runs models by "
        "any executor, an empty program with the same C library subtracted; stack painted, "
        "workspaces and the rest of the heap counted at the allocator in one run on one thread " +
        said->where;
    return out;
}

} // namespace tenon::remote
