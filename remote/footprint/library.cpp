// SPDX-License-Identifier: Apache-2.0
// A shared library as the board's server loads it, and that server.
#include "core/base/temporary_folder.h"
#include "core/target/board_server.h"
#include "remote/footprint/image.h"
#include "remote/footprint/tool.h"

namespace tenon::remote {

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

} // namespace

Result<ExecutorFootprint> measureLibrary(const compiler::CompileResult& result,
                                         const std::string& modelName)
{
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    const std::string path = folder->file("model.so");
    const auto report = compiler::writeArtifact(result, path, modelName);
    if (!report) return report.error();
    const auto sections = sectionBytes("size", path);
    const auto symbols = symbolBytes("nm", path);
    if (!sections) return sections.error();
    if (!symbols) return symbols.error();
    const core::ManifestMemory& memory = report->manifest.memory;
    ExecutorFootprint out;
    out.plannedBytes = memory.workspaceBytes;
    out.flash.kernels = sum(*sections, {".text", ".plt", ".data", ".data.rel.ro", ".got"});
    for (const auto& [name, bytes] : *symbols)
        if (name.starts_with("tenon_constant_")) out.flash.constants += bytes;
    int64_t all = 0;
    for (const auto& [name, bytes] : *sections)
        if (!name.starts_with(".debug") && name != ".comment" && name != ".bss") all += bytes;
    out.flash.metadata = all - out.flash.kernels - out.flash.constants;
    const Result<std::string> server = core::boardServerPath(result.machine.triple);
    if (!server) return server.error();
    const auto serverSections = sectionBytes("size", *server);
    if (!serverSections) return serverSections.error();
    out.flash.runtime = sum(*serverSections, {".text", ".rodata", ".data", ".data.rel.ro", ".tdata",
                                              ".eh_frame", "__libc_freeres_fn"});
    out.ram.workspace = memory.workspaceBytes;
    out.ram.io = memory.ioBytes;
    out.method =
        "shared library: constants by symbol size, code by section, metadata the rest without "
        "debug "
        "information; runtime the whole static tenon-rpc-server, C library included, which serves "
        "any number of models; stack and heap are not measured on boards with an operating system";
    return out;
}

} // namespace tenon::remote
