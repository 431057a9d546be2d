// SPDX-License-Identifier: Apache-2.0
// Will it run there?
#include "remote/deploy/preflight.h"

#include "core/artifact/elf_section.h"
#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/target/micro_core.h"
#include "remote/board/processor.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

// Machine numbers and flags: System V ABI and its supplements for Arm and RISC-V.
struct Machine
{
    std::string_view name; ///< beginning of `uname -m`
    uint16_t number;
    std::string_view title;
};
constexpr Machine kMachines[] = {{"aarch64", 183, "AArch64"},
                                 {"arm", 40, "32-bit Arm"},
                                 {"x86_64", 62, "x86-64"},
                                 {"riscv64", 243, "RISC-V"}};
constexpr uint32_t kArmHardFloat = 0x400;
/// What the server and a session need beside the model.
constexpr int64_t kServerRam = int64_t{16} << 20;
constexpr int64_t kServerDisk = int64_t{2} << 20;

std::string bytes(int64_t count) { return core::bytesText(static_cast<uint64_t>(count)); }

std::string machineTitle(uint16_t number)
{
    for (const Machine& each : kMachines)
        if (each.number == number) return std::string(each.title);
    return "machine " + std::to_string(number);
}

/// The checks so far, and the error of the first bad one.
class Checks
{
public:
    void good(const std::string& subject, const std::string& outcome)
    {
        m_out.checks.push_back({Verdict::Good, subject, outcome, ""});
    }
    void unknown(const std::string& subject)
    {
        m_out.checks.push_back({Verdict::Doubtful, subject, "the board does not tell", ""});
    }
    void bad(const std::string& subject, DiagnosticCode code, const std::string& outcome,
             const std::string& advice)
    {
        m_out.checks.push_back({Verdict::Bad, subject, outcome, advice});
        if (!m_out.error) m_out.error = makeError(code, outcome + "; " + advice);
    }
    Preflight take() { return std::move(m_out); }

private:
    Preflight m_out;
};

std::string rebuildAdvice(const BoardFacts& facts)
{
    const Result<std::string> target = proposedTarget(facts);
    return target ? "rebuild with --target " + core::quoted(*target) : "rebuild for this board";
}

void checkMachine(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    const auto file = core::MappedFile::open(model.path);
    const Result<ElfKind> kind =
        file ? readElfKind((*file)->bytes()) : Result<ElfKind>(file.error());
    if (!kind)
        return checks.bad("machine", kind.error().code, kind.error().message, "compile again");
    const auto expected =
        std::find_if(std::begin(kMachines), std::end(kMachines),
                     [&](const Machine& each) { return facts.machine.starts_with(each.name); });
    if (facts.machine.empty() || expected == std::end(kMachines)) return checks.unknown("machine");
    if (kind->machine != expected->number)
        return checks.bad("machine", BoardCode::WrongArchitecture,
                          "the model is compiled for " + machineTitle(kind->machine) +
                              ", this board is " + std::string(expected->title),
                          rebuildAdvice(facts));
    const bool isHard = (kind->flags & kArmHardFloat) != 0;
    if (kind->machine == 40 && isHard != facts.isHardFloat)
        return checks.bad(
            "machine", BoardCode::WrongArchitecture,
            isHard ? "the model passes floats in their own registers (-mfloat-abi=hard), this "
                     "board's programs do not"
                   : "the model passes floats in integer registers (-mfloat-abi=softfp or soft), "
                     "this board's programs do not",
            rebuildAdvice(facts));
    checks.good("machine", std::string(expected->title));
}

void checkFeatures(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    if (facts.features.empty()) return checks.unknown("processor features");
    std::vector<std::string> missing;
    for (const FeatureName& feature : namedFeatures(facts.machine)) {
        const bool isNeeded = std::find(model.features.begin(), model.features.end(),
                                        feature.llvm) != model.features.end();
        if (isNeeded && !facts.hasFeature(feature.kernel))
            missing.push_back("+" + std::string(feature.llvm));
    }
    const std::string processor = facts.cpuText.empty() ? "processor" : facts.cpuText;
    if (!missing.empty())
        return checks.bad("processor features", BoardCode::MissingCpuFeature,
                          "the model needs " + core::join(missing, ", ") + "; this " + processor +
                              " lacks " + (missing.size() == 1 ? "it" : "them"),
                          rebuildAdvice(facts));
    checks.good("processor features", processor + " has what the model needs");
}

void checkDisk(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    std::error_code failed;
    const auto size = static_cast<int64_t>(std::filesystem::file_size(model.path, failed));
    if (failed || facts.freeDiskBytes < 0) return checks.unknown("disk");
    const int64_t needed = size + kServerDisk;
    const std::string outcome = bytes(needed) + " needed, " + bytes(facts.freeDiskBytes) + " free";
    if (needed > facts.freeDiskBytes)
        return checks.bad("disk", BoardCode::DiskFull, outcome, "free some space on the board");
    checks.good("disk", outcome);
}

void checkMemory(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    if (facts.freeRamBytes < 0) return checks.unknown("memory");
    const core::ManifestMemory& memory = model.manifest.memory;
    const int64_t needed = memory.workspaceBytes + memory.kernelWorkspaceBytes +
                           memory.constantBytes + 2 * memory.ioBytes + kServerRam;
    const std::string outcome = bytes(needed) + " needed, " + bytes(facts.freeRamBytes) + " free";
    if (needed > facts.freeRamBytes)
        return checks.bad("memory", DiagnosticCode::OutOfMemory, outcome,
                          "end other programs on the board or take a smaller model");
    checks.good("memory", outcome);
}

void checkCore(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    if (facts.cpu.empty()) return checks.unknown("machine");
    const auto target = core::parseTarget(model.manifest.target);
    const core::MicroCore* core = target ? core::microCoreOf(*target) : nullptr;
    if (target && target->mcpu == facts.cpu) return checks.good("machine", facts.cpuText);
    if (!core || core->cpu != facts.cpu)
        return checks.bad("machine", BoardCode::WrongArchitecture,
                          "the model is compiled for " + core::quoted(model.manifest.target) +
                              ", this board is a " + facts.cpuText,
                          rebuildAdvice(facts));
    checks.good("machine", facts.cpuText);
}

/// What the program takes of flash and of memory, stack and all.
void checkBudgets(const BuiltModel& model, const BoardFacts& facts, Checks& checks)
{
    const auto file = core::MappedFile::open(model.path);
    const auto taken =
        file ? core::loadedBytes((*file)->bytes()) : Result<core::LoadedBytes>(file.error());
    if (!taken)
        return checks.bad("flash", taken.error().code, taken.error().message, "compile again");
    const auto budget = [&](const char* subject, int64_t needed, int64_t given) {
        if (given <= 0) return checks.unknown(subject);
        const std::string outcome = bytes(needed) + " of " + bytes(given);
        if (needed > given)
            return checks.bad(subject, DiagnosticCode::OutOfMemory, outcome,
                              "quantize the model or take a smaller one");
        checks.good(subject, outcome);
    };
    budget("flash", taken->stored, facts.flashBytes);
    budget("memory", taken->zeroed, facts.ramBytes);
}

} // namespace

Result<ElfKind> readElfKind(std::span<const std::byte> file)
{
    const auto byte = [&](size_t at) { return static_cast<uint32_t>(file[at]); };
    if (file.size() < 64 ||
        std::memcmp(file.data(),
                    "\x7f"
                    "ELF",
                    4) != 0 ||
        byte(5) != 1)
        return makeError(DiagnosticCode::BadArtifact,
                         "the artifact is no shared library for Linux");
    ElfKind kind{.machine = static_cast<uint16_t>(byte(18) | byte(19) << 8),
                 .is64Bit = byte(4) == 2};
    const size_t flags = kind.is64Bit ? 48 : 36;
    kind.flags = byte(flags) | byte(flags + 1) << 8 | byte(flags + 2) << 16 | byte(flags + 3) << 24;
    return kind;
}

Preflight preflight(const BuiltModel& model, const BoardFacts& facts)
{
    Checks checks;
    if (facts.hasNoSystem()) {
        checkCore(model, facts, checks);
        checkBudgets(model, facts, checks);
        return checks.take();
    }
    checkMachine(model, facts, checks);
    checkFeatures(model, facts, checks);
    checkDisk(model, facts, checks);
    checkMemory(model, facts, checks);
    return checks.take();
}

} // namespace tenon::remote
