// SPDX-License-Identifier: Apache-2.0
// An application of Zephyr with the model in it, built by west.
#include "compiler/codegen/c/micro_program.h"
#include "compiler/codegen/c/project/templates.h"
#include "core/target/micro_core.h"

#include <iterator>

namespace tenon::compiler {
namespace {

constexpr std::string_view kWest =
    "`pipx install west`, and ZEPHYR_BASE must name Zephyr's own folder";
constexpr ProjectTool kBuildTools[] = {{"make", "Debian's make"}, {"west", kWest}};
constexpr ProjectTool kRunTools[] = {{"west", kWest}};

struct Board
{
    std::string_view cpu;
    std::string_view name;
};

/// One of Zephyr's boards per core; `make BOARD=...` takes another.
constexpr Board kBoards[] = {{"cortex-m0", "nrf51dk_nrf51422"}, {"cortex-m0plus", "rpi_pico"},
                             {"cortex-m3", "mps2_an385"},       {"cortex-m4", "nucleo_l4r5zi"},
                             {"cortex-m7", "nucleo_f746zg"},    {"cortex-m33", "mps2_an521"},
                             {"cortex-m55", "mps3_an547"},      {"rv32imc", "qemu_riscv32"},
                             {"rv32imac", "qemu_riscv32"}};

std::string_view boardOf(const core::Target& target)
{
    const core::MicroCore* core = core::microCoreOf(target);
    for (const Board& board : kBoards)
        if (core && core->cpu == board.cpu) return board.name;
    return "qemu_cortex_m3";
}

std::string makefile(std::string_view board, const std::string& objcopy)
{
    return "# The model as a Zephyr application: make, make flash, make run.\n"
           "BOARD := " +
           std::string(board) +
           "\n\n.PHONY: all server server-image flash flash-image run clean\n"
           "all:\n\twest build -b $(BOARD) -d build .\n\n"
           "# Answers Tenon and microTVM over the console's UART.\n"
           "server:\n\twest build -b $(BOARD) -d build/server . -- -DSERVER=ON "
           "-DEXTRA_CONF_FILE=server.conf\n\n"
           "# For `tenon board add --serial`: an image of the server that says what is in it\n"
           "# (MANIFEST), and how it is brought to the board.\n"
           "MANIFEST := project.json\n"
           "OUT := build/image.elf\n"
           "server-image: server\n"
           "\t" +
           objcopy +
           " --add-section .tenon.manifest=$(MANIFEST) "
           "build/server/zephyr/zephyr.elf $(OUT)\n"
           "flash-image:\n\twest flash -d build/server --elf-file $(IMAGE)\n\n"
           "flash: all\n\twest flash -d build\n\n"
           "# On boards that QEMU emulates.\n"
           "run: all\n\twest build -d build -t run\n\n"
           "clean:\n\trm -rf build\n";
}

constexpr const char* kCMake = R"cmake(cmake_minimum_required(VERSION 3.20)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(tenon_model C)
option(SERVER "the RPC server in place of the demonstration" OFF)
file(GLOB model_sources model/codegen/host/src/*.c)
target_sources(app PRIVATE ${model_sources})
target_include_directories(app PRIVATE model/codegen/host/include)
target_link_libraries(app PRIVATE m)
if(SERVER)
    file(GLOB server_sources server/micro/*/*.c)
    target_sources(app PRIVATE main.c served.c ${server_sources})
    target_include_directories(app PRIVATE . server/micro/mps2 server/micro/graph)
    target_compile_options(app PRIVATE -include ${CMAKE_SOURCE_DIR}/program.h "-DTVMGEN_MARK(call)=program_mark(call)")
else()
    target_sources(app PRIVATE src/main.c)
endif()
)cmake";

constexpr const char* kConfig = R"(CONFIG_FPU=y
CONFIG_MAIN_STACK_SIZE=4096
CONFIG_PRINTK=y
CONFIG_REQUIRES_FULL_LIBC=y
)";

/// Nothing but frames may pass over the console's UART.
constexpr const char* kServerConfig = R"(CONFIG_MAIN_STACK_SIZE=16384
CONFIG_SERIAL=y
CONFIG_CONSOLE=n
CONFIG_UART_CONSOLE=n
CONFIG_PRINTK=n
)";

constexpr ShippedFile kFiles[] = {{"micro/mps2/program.h", "program.h"},
                                  {"micro/zephyr/timer.h.in", "timer.h"}};

constexpr const char* kMain = R"(
int main(void)
{
    const int32_t code = infer();
    printk("code %d\n", (int)code);
    for (uint32_t i = 0; i < OUTPUT_COUNT; ++i) {
        printk("output %u ", (unsigned)i);
        for (uint32_t at = 0; at < outputs[i].size; ++at) printk("%02x", outputs[i].bytes[at]);
        printk("\n");
    }
    return 0;
}
)";

core::Result<std::vector<SourceFile>> files(const SourceProgram& program)
{
    const auto demonstration = demonstrationText(program);
    if (!demonstration) return demonstration.error();
    auto out = serverFiles(program, "zephyr", "west build -d build/server -t run");
    if (!out) return out;
    auto shipped = shippedFiles(kFiles);
    if (!shipped) return shipped;
    std::move(shipped->begin(), shipped->end(), std::back_inserter(*out));
    const core::MicroCore* core = core::microCoreOf(program.target);
    const std::string objcopy = core ? core::microTool(*core, "objcopy") : "arm-none-eabi-objcopy";
    for (const auto& [path, text] :
         {std::pair<const char*, std::string>{"Makefile",
                                              makefile(boardOf(program.target), objcopy)},
          {"CMakeLists.txt", kCMake},
          {"main.c", microMainText(program)},
          {"prj.conf", kConfig},
          {"server.conf", kServerConfig},
          {"src/main.c", "#include <zephyr/kernel.h>\n#include <zephyr/sys/printk.h>\n\n" +
                             *demonstration + kMain}})
        out->push_back({path, text});
    return out;
}

} // namespace

constinit const ProjectTemplate zephyrTemplate = {
    .name = "zephyr",
    .title = "an application of the Zephyr operating system",
    .target = "c -mcpu=cortex-m33",
    .buildTools = kBuildTools,
    .runTools = kRunTools,
    .serves = true,
    .files = files};

} // namespace tenon::compiler
