// SPDX-License-Identifier: Apache-2.0
// Finding the RPC server for a board.
#include "core/target/board_server.h"

#include "core/base/program_files.h"
#include "core/base/text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace tenon::core {
namespace {

struct Spelling
{
    std::string_view architecture;
    std::string_view processor;
};

/// First parts of triples and machine names. A 64-bit kernel may run a 32-bit system: what counts
/// is the triple of its programs, so `armv8l` is 32-bit.
constexpr Spelling kSpellings[] = {
    {"x86_64", "x86_64"}, {"amd64", "x86_64"},  {"aarch64", "aarch64"}, {"arm64", "aarch64"},
    {"arm", "armv7"},     {"armv7", "armv7"},   {"armv7a", "armv7"},    {"armv7l", "armv7"},
    {"armv8l", "armv7"},  {"thumbv7", "armv7"}, {"riscv64", "riscv64"},
};

} // namespace

Result<std::string> serverProcessor(std::string_view tripleOrMachine)
{
    const std::string_view architecture = tripleOrMachine.substr(0, tripleOrMachine.find('-'));
    for (const Spelling& spelling : kSpellings)
        if (spelling.architecture == architecture) return std::string(spelling.processor);
    return makeError(DiagnosticCode::UnsupportedTarget,
                     "no RPC server exists for " + quoted(tripleOrMachine) +
                         "; there is one for x86-64, AArch64, ARMv7 and 64-bit RISC-V");
}

namespace {

struct CrossCompiler
{
    std::string_view processor;
    std::string_view program;
    std::string_view package;
};

constexpr CrossCompiler kCompilers[] = {
    {"x86_64", "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"},
    {"aarch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"},
    {"armv7", "arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"},
    {"riscv64", "riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"}};

bool isOnPath(std::string_view program)
{
    const char* path = std::getenv("PATH");
    const std::vector<std::string> folders = split(path ? path : "/usr/bin:/bin", ':');
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        const std::string file = folder + "/" + std::string(program);
        return !folder.empty() && access(file.c_str(), X_OK) == 0;
    });
}

/// What to do about a program that is not there.
std::string advice(std::string_view processor)
{
    const std::string build = "build Tenon's target `product`, as `./dev run` does";
    for (const CrossCompiler& compiler : kCompilers)
        if (compiler.processor == processor && !isOnPath(compiler.program))
            return "the cross compiler `" + std::string(compiler.program) +
                   "` that makes it is not installed; run: sudo apt-get install " +
                   std::string(compiler.package) + ", then " + build;
    return "its compiler is installed, but this build left it out; " + build;
}

/// `what` names the program in an error; `prefix` starts its path below lib/tenon.
Result<std::string> programFor(std::string_view tripleOrMachine, const std::string& what,
                               const std::string& prefix)
{
    const Result<std::string> processor = serverProcessor(tripleOrMachine);
    if (!processor) return processor.error();
    std::error_code failed;
    std::string path = shippedProgram(prefix + *processor);
    if (std::filesystem::is_regular_file(path, failed)) return path;
    return makeError(DiagnosticCode::UnsupportedTarget,
                     what + " for " + *processor + " boards is missing at " + core::quoted(path) +
                         ": " + advice(*processor));
}

} // namespace

Result<std::string> boardServerPath(std::string_view tripleOrMachine)
{
    return programFor(tripleOrMachine, "the RPC server", "servers/tenon-rpc-server-");
}

Result<std::string> modelRunnerPath(std::string_view tripleOrMachine)
{
    return programFor(tripleOrMachine, "the footprint's runner", "footprint/runner-");
}

Result<std::string> emptyProgramPath(std::string_view tripleOrMachine)
{
    return programFor(tripleOrMachine, "the footprint's empty program", "footprint/empty-");
}

} // namespace tenon::core
