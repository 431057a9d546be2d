// SPDX-License-Identifier: Apache-2.0
// The same program on this computer: what a board would compute, under a debugger of yours.
#include "compiler/codegen/c/micro_program.h"
#include "compiler/codegen/c/project/templates.h"

#include <iterator>

namespace tenon::compiler {
namespace {

constexpr ProjectTool kBuildTools[] = {{"make", "Debian's make"}, {"cc", "Debian's gcc"}};

constexpr ShippedFile kFiles[] = {{"micro/mps2/program.c", "program.c"},
                                  {"micro/mps2/program.h", "program.h"},
                                  {"micro/host/semihost.h", "semihost.h"},
                                  {"micro/host/timer.h", "timer.h"},
                                  {"micro/mps2/emulate.sh", "emulate.sh"}};

std::string makefile(const SourceProgram& program)
{
    return "# The model's C source on this computer: make, make flash, make run.\n"
           "CC ?= cc\n"
           "FLAGS := -std=c99 -O2 -D_POSIX_C_SOURCE=200809L\n"
           "INCLUDES := -I. " +
           modelIncludes() + "\nMODEL := main.c " + modelSources() +
           "\nSERVER := " + serverSources() +
           "\n\n.PHONY: all server server-image flash flash-image run clean\nall: "
           "build/app\nserver: "
           "build/server\n\n"
           "build/app: program.c $(MODEL) $(wildcard *.h model/codegen/host/include/*.h)\n"
           "\t@mkdir -p build\n"
           "\t$(CC) $(FLAGS) $(INCLUDES) program.c $(MODEL) -o $@ -lm\n\n"
           "# Answers Tenon and microTVM over standard input and output (serve.sh).\n"
           "build/server: $(SERVER) $(MODEL) $(wildcard *.h server/micro/*/*.h "
           "model/codegen/host/include/*.h)\n"
           "\t@mkdir -p build\n"
           "\t$(CC) $(FLAGS) $(INCLUDES) " +
           serverOptions() +
           " $(SERVER) $(MODEL) -o $@ -lm\n\n"
           "flash: build/app\n\t@echo \"build/app runs here; there is nothing to flash\"\n\n"
           "# Stands for a board at the end of a serial line: the server at the file PORT.\n"
           "IMAGE := build/server\n"
           "PORT := board.tty\n"
           "MANIFEST := project.json\n"
           "OUT := build/image\n"
           "server-image: build/server\n"
           "\tobjcopy --add-section .tenon.manifest=$(MANIFEST) $< $(OUT)\n"
           "flash-image:\n\tsh emulate.sh host $(IMAGE) $(PORT)\n\n" +
           runRule(program, "build/app", "./app") +
           "clean:\n\trm -f build/app build/output build/times build/request\n";
}

core::Result<std::vector<SourceFile>> files(const SourceProgram& program)
{
    auto out = shippedFiles(kFiles);
    if (!out) return out;
    auto server = serverFiles(program, "host", "build/server");
    if (!server) return server;
    std::move(server->begin(), server->end(), std::back_inserter(*out));
    out->push_back({"Makefile", makefile(program)});
    out->push_back({"main.c", microMainText(program)});
    return out;
}

} // namespace

constinit const ProjectTemplate crtHostTemplate = {
    .name = "crt-host",
    .title = "C source on this computer, as a board would run it",
    .target = "c",
    .buildTools = kBuildTools,
    .feedsFiles = true,
    .serves = true,
    .files = files};

} // namespace tenon::compiler
