// SPDX-License-Identifier: Apache-2.0
// Firmware for boards as QEMU emulates them: Arm's MPS2 and MPS3, and RISC-V's `virt`.
#include "compiler/codegen/c/micro_image.h"
#include "compiler/codegen/c/micro_program.h"
#include "compiler/codegen/c/project/templates.h"
#include "core/base/text.h"

#include <iterator>

namespace tenon::compiler {
namespace {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

constexpr ProjectTool kBuildTools[] = {
    {"make", "Debian's make"},
    {"arm-none-eabi-gcc", "Debian's gcc-arm-none-eabi and libnewlib-arm-none-eabi"}};
constexpr ProjectTool kRunTools[] = {{"qemu-system-arm", "Debian's qemu-system-arm"}};
constexpr ProjectTool kRiscVBuildTools[] = {
    {"make", "Debian's make"},
    {"riscv64-unknown-elf-gcc",
     "Debian's gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf"}};
constexpr ProjectTool kRiscVRunTools[] = {{"qemu-system-riscv32", "Debian's qemu-system-misc"}};

constexpr ShippedFile kFiles[] = {{"micro/mps2/program.c", "program.c"},
                                  {"micro/mps2/program.h", "program.h"},
                                  {"micro/mps2/semihost.h", "semihost.h"},
                                  {"micro/mps2/timer.h", "timer.h"},
                                  {"micro/mps2/emulate.sh", "emulate.sh"}};

constexpr int64_t kBaud = 115200;

std::string emulatorWords(const core::MicroCore& core)
{
    return core::join(core::microEmulator(core, kInstructionShift), " ");
}

std::string buildRules(const core::MicroCore& core)
{
    return "build/app.elf: program.c $(MODEL) $(wildcard *.h model/codegen/host/include/*.h) "
           "link.ld\n"
           "\t@mkdir -p build\n"
           "\t$(CC) $(FLAGS) $(INCLUDES) -nostartfiles -T link.ld -Wl,--gc-sections $(MEMORY) "
           "program.c $(MODEL) -o $@ -lm\n\t" +
           core::microTool(core, "size") +
           " $@\n\n"
           "# Answers Tenon and microTVM over the board's first UART (serve.sh).\n"
           "build/server.elf: $(SERVER) fault.c $(MODEL) $(wildcard *.h server/micro/*/*.h "
           "model/codegen/host/include/*.h) link.ld\n"
           "\t@mkdir -p build\n"
           "\t$(CC) $(FLAGS) $(INCLUDES) " +
           serverOptions() + " -DUART_ADDRESS=" + std::to_string(core.uartAddress) +
           "u -DUART_DIVIDER=" +
           std::to_string((core.uartHz > 0 ? core.uartHz : core.clockHz) / kBaud) +
           "u -nostartfiles -T link.ld -Wl,--gc-sections $(MEMORY) $(SERVER) fault.c $(MODEL) "
           "-o $@ -lm\n\t" +
           core::microTool(core, "size") + " $@\n\n";
}

std::string boardRules(const core::MicroCore& core, const SourceProgram& program)
{
    const std::string board(core.board), emulator = emulatorWords(core);
    return "# For `tenon board add --serial`: server-image makes an image of the server that says\n"
           "# what is in it (MANIFEST), flash-image brings one to the board: here to the emulator\n"
           "# with the image in its flash, its UART at the file PORT. A board of yours has its "
           "own\n"
           "# command, such as openocd -f board/... -c \"program $(IMAGE) verify reset exit\".\n"
           "IMAGE := build/server.elf\n"
           "PORT := board.tty\n"
           "MANIFEST := project.json\n"
           "OUT := build/image.elf\n"
           "server-image: build/server.elf\n"
           "\t" +
           core::microTool(core, "objcopy") +
           " --add-section .tenon.manifest=$(MANIFEST) $< $(OUT)\n"
           "flash-image:\n"
           "\tEMULATOR='" +
           emulator + "' sh emulate.sh " + board +
           " $(IMAGE) $(PORT)\n\n"
           "# The emulated board gets the image when it starts.\n"
           "flash: build/app.elf\n\t@echo \"" +
           board +
           " starts with build/app.elf in its flash\"\n\n"
           "# The program reads build/request and writes build/output by semihosting, on a board "
           "by\n"
           "# its debugger.\n" +
           runRule(program, "build/app.elf", emulator + " -serial none -kernel app.elf </dev/null");
}

std::string makefile(const core::MicroCore& core, const std::vector<std::string>& machine,
                     const SourceProgram& program)
{
    const std::string board(core.board);
    return "# The model on " + board + " (" + std::string(core.cpu) +
           "): make, make flash, make run.\n"
           "CC := " +
           core::microTool(core, "gcc") +
           "\n"
           "FLAGS := -std=c99 -O2 -ffunction-sections -fdata-sections " +
           core::join(machine, " ") +
           " -DTICK_PICOSECONDS=" + std::to_string(1000000000000 / core.clockHz) +
           "\nINCLUDES := -I. " + modelIncludes() +
           "\nMEMORY := " + core::join(microMemoryOptions(core), " ") +
           "\nMODEL := startup.c main.c " + modelSources() + "\nSERVER := " + serverSources() +
           "\n\n.PHONY: all server server-image flash flash-image run clean\nall: "
           "build/app.elf\nserver: "
           "build/server.elf\n\n" +
           buildRules(core) + boardRules(core, program) +
           "clean:\n\trm -f build/app.elf build/server.elf build/output build/times "
           "build/request\n";
}

/// `folder` is the family's that the project is of.
Result<std::vector<SourceFile>> filesOf(const SourceProgram& program, const std::string& folder)
{
    const core::MicroCore* core = core::microCoreOf(program.target);
    if (!core || core->board.empty()) {
        std::vector<std::string> cores;
        for (const core::MicroCore& each : core::allMicroCores())
            if (!each.board.empty()) cores.emplace_back(each.cpu);
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "no emulated board has the core of " +
                             core::quoted(program.target.text()) + "; -mcpu names one of " +
                             core::join(cores, ", "),
                         {.detail = "mcpu"});
    }
    if (core->family->folder != folder)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         std::string(core->title) + " is no core of `baremetal-" + folder +
                             "`; use --template baremetal-" + std::string(core->family->folder),
                         {.detail = "mcpu"});
    const auto machine = core::microCompilerOptions(*core, program.target);
    if (!machine) return machine.error();
    auto out = shippedFiles(kFiles);
    if (!out) return out;
    const std::string own = "micro/" + folder + "/";
    const std::string linker = own + "link.ld", startup = own + "startup.c",
                      fault = own + "fault.c";
    const ShippedFile ownFiles[] = {
        {linker, "link.ld"}, {startup, "startup.c"}, {fault, "fault.c"}};
    auto board = shippedFiles(ownFiles);
    if (!board) return board;
    std::move(board->begin(), board->end(), std::back_inserter(*out));
    auto server = serverFiles(program, folder,
                              emulatorWords(*core) + " -serial stdio -kernel build/server.elf");
    if (!server) return server;
    std::move(server->begin(), server->end(), std::back_inserter(*out));
    out->push_back({"Makefile", makefile(*core, *machine, program)});
    out->push_back({"main.c", microMainText(program)});
    return out;
}

Result<std::vector<SourceFile>> mps2Files(const SourceProgram& program)
{
    return filesOf(program, "mps2");
}

Result<std::vector<SourceFile>> riscvFiles(const SourceProgram& program)
{
    return filesOf(program, "riscv");
}

} // namespace

constinit const ProjectTemplate baremetalMps2Template = {
    .name = "baremetal-mps2",
    .title = "a Cortex-M of Arm's MPS2 boards, emulated, without an operating system",
    .target = "c -mcpu=cortex-m4",
    .buildTools = kBuildTools,
    .runTools = kRunTools,
    .feedsFiles = true,
    .serves = true,
    .instructionNs = 1 << kInstructionShift,
    .files = mps2Files};

constinit const ProjectTemplate baremetalRiscvTemplate = {
    .name = "baremetal-riscv",
    .title = "a 32-bit RISC-V core of QEMU's board virt, without an operating system",
    .target = "c -mcpu=rv32imc",
    .buildTools = kRiscVBuildTools,
    .runTools = kRiscVRunTools,
    .feedsFiles = true,
    .serves = true,
    .instructionNs = 1 << kInstructionShift,
    .files = riscvFiles};

} // namespace tenon::compiler
