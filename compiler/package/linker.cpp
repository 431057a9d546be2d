// SPDX-License-Identifier: Apache-2.0
// LLD's ELF and WebAssembly drivers as functions.
#include "compiler/package/linker.h"

#include "compiler/package/data_object.h"
#include "compiler/package/linker_output.h"
#include "compiler/package/wasm_object.h"
#include "core/base/text.h"

#include <lld/Common/Driver.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/raw_ostream.h>

#include <fstream>
#include <mutex>

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(wasm)

namespace tenon::compiler {
namespace {

// LLD keeps global state: links wait for one another, and after a crash inside it there are no
// more.
constinit std::mutex linkMutex;
constinit bool canLink = true; // guarded by linkMutex

core::Result<std::string> emulation(const std::string& triple)
{
    const core::Result<ElfMachine> machine = ElfMachine::of(triple);
    if (!machine) return machine.error();
    switch (machine->machine) {
    case 183: return std::string("aarch64linux");
    case 243: return std::string("elf64lriscv");
    case 40: return std::string("armelf_linux_eabi");
    case 164: return std::string("hexagonelf");
    case 3: return std::string("elf_i386");
    default: return std::string("elf_x86_64");
    }
}

/// The first lines of what LLD said, without its own name in front.
std::string firstErrors(const std::string& text)
{
    std::vector<std::string> lines;
    for (const std::string& line : core::split(text, '\n')) {
        if (lines.size() == 4) break;
        const size_t name = line.find("error: ");
        const std::string_view said = name == std::string::npos
                                          ? std::string_view(line)
                                          : std::string_view(line).substr(name + 7);
        if (!core::trimmed(said).empty()) lines.emplace_back(core::trimmed(said));
    }
    return lines.empty() ? "the linker gave no reason" : core::join(lines, "; ");
}

/// The first argument names the driver: "ld.lld" or "wasm-ld".
core::Status runLinker(const std::vector<std::string>& arguments)
{
    std::vector<const char*> raw;
    for (const std::string& argument : arguments) raw.push_back(argument.c_str());
    const std::lock_guard lock(linkMutex);
    if (!canLink)
        return core::makeError(core::DiagnosticCode::LinkFailure,
                               "the linker crashed before in this process; start it again");
    std::string said;
    llvm::raw_string_ostream stream(said);
    const lld::Result result = lld::lldMain(
        raw, stream, stream, {{lld::Gnu, &lld::elf::link}, {lld::Wasm, &lld::wasm::link}});
    canLink = result.canRunAgain;
    if (result.retCode == 0) return core::kDone;
    return core::makeError(core::DiagnosticCode::LinkFailure, firstErrors(stream.str()));
}

core::Status linkInto(const std::string& folder, const std::string& outputPath,
                      std::vector<std::string> arguments)
{
    return throughPipe(folder, outputPath, [&](const std::string& pipe) {
        arguments.insert(arguments.end(), {"-o", pipe});
        return runLinker(arguments);
    });
}

/// A module that imports nothing and exports its memory, and the table into which a host may put a
/// function to be called back. Its stack lies first, so that running out of it traps instead of
/// overwriting weights.
core::Status linkWasm(const LinkJob& job, const std::string& outputPath)
{
    std::vector<std::string> arguments = {"wasm-ld",           "--no-entry",       "--stack-first",
                                          "--export-table",    "--growable-table", "-z",
                                          "stack-size=1048576"};
    for (const std::string& name : job.exports) arguments.push_back("--export=" + name);
    arguments.insert(arguments.end(), job.objects.begin(), job.objects.end());
    return linkInto(job.folder, outputPath, arguments);
}

/// What is exported stays in the program even where its own code does not need it.
core::Status linkProgram(const LinkJob& job, const std::string& machine,
                         const std::string& outputPath)
{
    std::vector<std::string> arguments = {"ld.lld",
                                          "-static",
                                          "-m",
                                          machine,
                                          "--entry=" + job.entry,
                                          "--no-undefined",
                                          "--gc-sections",
                                          "--build-id=none",
                                          "-znoexecstack"};
    for (const std::string& name : job.exports) arguments.push_back("--undefined=" + name);
    for (const auto& [alias, symbol] : job.aliases)
        arguments.push_back("--defsym=" + alias + "=" + symbol);
    arguments.insert(arguments.end(), job.objects.begin(), job.objects.end());
    return linkInto(job.folder, outputPath, arguments);
}

/// A script that exports these names and hides all others.
std::string versionScript(const std::vector<std::string>& exports)
{
    std::string text = "{\n";
    if (!exports.empty()) text += "  global:\n";
    for (const std::string& name : exports) text += "    \"" + name + "\";\n";
    return text + "  local: *;\n};\n";
}

} // namespace

core::Status linkSharedLibrary(const LinkJob& job, const std::string& outputPath)
{
    if (isWasm(job.triple)) return linkWasm(job, outputPath);
    const core::Result<std::string> machine = emulation(job.triple);
    if (!machine) return machine.error();
    if (!job.entry.empty()) return linkProgram(job, *machine, outputPath);
    const std::string script = job.folder + "/exports.version";
    std::ofstream scriptFile(script, std::ios::binary);
    scriptFile << versionScript(job.exports);
    scriptFile.close();
    if (!scriptFile)
        return core::makeError(core::DiagnosticCode::IoFailure,
                               "cannot write " + core::quoted(script));
    std::vector<std::string> arguments = {
        "ld.lld",
        "-shared",
        "--threads=1", // little is left to do: weights do not pass through here
        "-m",
        *machine,
        "--version-script=" + script,
        "--no-undefined",
        "--gc-sections",
        "--build-id=none",
        "--hash-style=both", // the RPC server's loader reads the plain table
        "-Bsymbolic",
        "-znow",
        "-znoexecstack",
        "-zmax-page-size=65536", // boards with 64 KiB pages must be able to map it
    };
    for (const auto& [alias, symbol] : job.aliases)
        arguments.push_back("--defsym=" + alias + "=" + symbol);
    arguments.insert(arguments.end(), job.objects.begin(), job.objects.end());
    return linkInto(job.folder, outputPath, arguments);
}

core::Status linkRelocatable(const LinkJob& job, const std::string& outputPath)
{
    std::vector<std::string> arguments = {"wasm-ld", "-r"};
    if (!isWasm(job.triple)) {
        const core::Result<std::string> machine = emulation(job.triple);
        if (!machine) return machine.error();
        arguments = {"ld.lld", "-r", "-m", *machine};
    }
    arguments.insert(arguments.end(), job.objects.begin(), job.objects.end());
    return linkInto(job.folder, outputPath, arguments);
}

} // namespace tenon::compiler
