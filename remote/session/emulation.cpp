// SPDX-License-Identifier: Apache-2.0
// From a target to what runs its code here: QEMU's user-mode emulator with its processor options,
// or Node.
#include "remote/session/emulation.h"

#include "compiler/driver/compile.h"
#include "core/base/text.h"
#include "core/target/board_server.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tenon::remote {

using core::Result;
using core::Target;

namespace {

/// Processors that QEMU 7.2 knows by LLVM's name; what it does not know runs on `max`.
constexpr std::string_view kArm64Cpus[] = {"a64fx",      "cortex-a35", "cortex-a53", "cortex-a57",
                                           "cortex-a72", "cortex-a76", "neoverse-n1"};
constexpr std::string_view kArmCpus[] = {"cortex-a7", "cortex-a8", "cortex-a9", "cortex-a15"};

bool isAmong(std::span<const std::string_view> names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Features beyond the processor's own make any model of it wrong but the one that has everything.
bool addsFeatures(const Target& target)
{
    return std::any_of(target.mattr.begin(), target.mattr.end(), [](const std::string& feature) {
        return feature.starts_with('+') && feature != "+neon" && feature != "+fp-armv8";
    });
}

std::string armCpu(const Target& target, std::span<const std::string_view> known, const char* plain)
{
    if (addsFeatures(target)) return "max";
    if (target.mcpu.empty() || target.mcpu == "generic") return plain;
    return isAmong(known, target.mcpu) ? target.mcpu : "max";
}

/// What "+zvl256b" and the like promise.
int riscvVectorBits(const Target& target)
{
    int bits = 128;
    for (const std::string& feature : target.mattr)
        if (feature.starts_with("+zvl")) bits = std::max(bits, std::atoi(feature.c_str() + 4));
    return bits;
}

std::string riscvCpu(const Target& target)
{
    std::string cpu = "rv64";
    for (const std::string& feature : target.mattr) {
        if (feature == "+v")
            cpu += ",v=true,vlen=" + std::to_string(riscvVectorBits(target)) +
                   ",elen=64,vext_spec=v1.0";
        if (feature == "+zfh" || feature == "+zba" || feature == "+zbb")
            cpu += "," + feature.substr(1) + "=true";
    }
    return cpu;
}

/// Path of `name` or its static build on PATH; empty when there is none.
std::string emulatorProgram(const std::string& name)
{
    const char* path = std::getenv("PATH");
    for (const std::string& folder : core::split(path ? path : "/usr/bin:/bin", ':'))
        for (const char* suffix : {"", "-static"})
            if (const std::string program = folder + "/" + name + suffix;
                !folder.empty() && access(program.c_str(), X_OK) == 0)
                return program;
    return {};
}

/// The version in "v67t" or "hexagonv67"; 0 when there is none.
int versionOf(const Target& target)
{
    const size_t digits = target.mcpu.find_first_of("0123456789");
    return digits == std::string::npos ? 0 : std::atoi(target.mcpu.c_str() + digits);
}

/// What runs programs and modules that need no runtime.
Result<std::vector<std::string>> aloneRunner(const compiler::AloneRunner& runner,
                                             const Target& target)
{
    const std::string name(runner.program), code = "code for " + core::quoted(target.text());
    if (runner.newestVersion > 0 && versionOf(target) > runner.newestVersion)
        return core::makeError(core::DiagnosticCode::UnsupportedTarget,
                               code + " cannot run here: " + core::quoted(name) +
                                   " emulates versions up to " + std::string(runner.cpu) +
                                   "; use -mcpu=" + std::string(runner.cpu) + " or a board");
    if (runner.options) return runner.options(target);
    const std::string program = emulatorProgram(name);
    if (program.empty())
        return core::makeError(core::DiagnosticCode::UnsupportedTarget,
                               code + " does not run on this computer by itself, and " +
                                   core::quoted(name) + " is not on PATH; install " +
                                   std::string(runner.package));
    std::vector<std::string> words{program};
    if (!runner.cpu.empty()) words.insert(words.end(), {"-cpu", std::string(runner.cpu)});
    return words;
}

std::string hostProcessor()
{
    utsname system{};
    uname(&system);
    const Result<std::string> processor = core::serverProcessor(system.machine);
    return processor ? *processor : system.machine;
}

/// Null where a server runs the target's code.
const compiler::AloneRunner* runnerOf(const Target& target)
{
    const compiler::BackEnd* backEnd = compiler::findBackEnd(target);
    return backEnd && !backEnd->runner.program.empty() ? &backEnd->runner : nullptr;
}

} // namespace

Result<std::vector<std::string>> emulatorFor(const Target& target)
{
    if (const auto* alone = runnerOf(target)) return aloneRunner(*alone, target);
    if (target.mtriple.empty()) return std::vector<std::string>{};
    const Result<std::string> processor = core::serverProcessor(target.mtriple);
    if (!processor) return processor.error();
    if (*processor == hostProcessor()) return std::vector<std::string>{};
    const std::string name = *processor == "armv7" ? "qemu-arm" : "qemu-" + *processor;
    const std::string program = emulatorProgram(name);
    if (program.empty())
        return core::makeError(
            core::DiagnosticCode::UnsupportedTarget,
            "code for " + *processor + " does not run on this computer by itself, and " +
                core::quoted(name) + " is not installed; install qemu-user-static or use a board");
    std::string cpu = "max";
    if (*processor == "aarch64") cpu = armCpu(target, kArm64Cpus, "cortex-a53");
    if (*processor == "armv7") cpu = armCpu(target, kArmCpus, "cortex-a9");
    if (*processor == "riscv64") cpu = riscvCpu(target);
    return std::vector<std::string>{program, "-cpu", cpu};
}

core::Status runHere(RunRequest& request, const Target& target)
{
    Result<std::vector<std::string>> emulator = emulatorFor(target);
    if (!emulator) return emulator.error();
    request.emulator = std::move(*emulator);
    const compiler::AloneRunner* alone = runnerOf(target);
    request.instructionNs = alone ? alone->instructionNs : 0;
    request.isEmulated = alone ? alone->isEmulator : !request.emulator.empty();
    if (request.emulator.empty() || alone) return core::kDone;
    Result<std::string> server = core::boardServerPath(target.mtriple);
    if (!server) return server.error();
    request.serverPath = std::move(*server);
    return core::kDone;
}

} // namespace tenon::remote
