// SPDX-License-Identifier: Apache-2.0
// Examples of every command; a test runs them in a folder with a model, its data and a kernel.
#include "app/cli/examples.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tenon::cli {
namespace {

struct Example
{
    std::string_view command;   ///< "board add"
    std::string_view arguments; ///< as the shell takes them
    std::string_view purpose;
};

constexpr std::array kExamples{
    Example{"inspect", "model.onnx", "inputs, outputs, operators, and every problem found"},
    Example{"inspect", "model.onnx --json > model.json", "the same for programs"},
    Example{"passes", "model.onnx", "what every pass did"},
    Example{"passes", "model.onnx --print-after FuseOps", "the graph behind one of them"},
    Example{"passes", "model.onnx --disable-pass FuseOps", "without that one"},
    Example{"compile", "model.onnx -o model.so", "for this computer"},
    Example{"compile",
            "model.onnx -o model.tar --target 'llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72'",
            "objects for a Raspberry Pi 4"},
    Example{"compile", "model.onnx -o model.mlf.tar --target 'c -mcpu=cortex-m4'",
            "C source for a microcontroller"},
    Example{"footprint", "model.onnx", "flash and RAM, executor by executor"},
    Example{"footprint", "model.onnx --board mps2-an386", "does it fit, and if not, what helps"},
    Example{"run", "model.onnx --inputs model/test_data_set_0 --print-top 3", "its best answers"},
    Example{"run", "model.so --outputs results", "what compile wrote, on made-up inputs"},
    Example{"verify", "model", "a folder with model.onnx and test_data_set_*"},
    Example{"verify", "model --opt-level 0", "without optimization: whose fault is it"},
    Example{"compare", "model.onnx", "every tensor here against level 0"},
    Example{"compare", "model.onnx --board pi --inputs model", "a board, on data of your own"},
    Example{"bench", "model.onnx --per-layer", "time of every kernel call"},
    Example{"bench", "model.onnx --explain --threads 1", "where the time goes, and why"},
    Example{"bench", "model.onnx --board pi", "there instead of here"},
    Example{"quantize", "model.onnx --data model -o model-int8.onnx", "calibrated with its data"},
    Example{"quantize", "model.onnx --data model -o model-int8.onnx --sensitivity",
            "what every layer costs"},
    Example{"quantize", "model.onnx --data model -o model-int8.onnx --max-loss 0.01",
            "with wider layers until it loses at most 1 %"},
    Example{"convert", "model.onnx -o whole.onnx", "weights and functions inside, sizes bound"},
    Example{"convert", "model.onnx -o whole.onnx --json", "what it then has, for programs"},
    Example{"plan", "model.onnx", "every planner, and the bound"},
    Example{"plan", "model.onnx --workspace-pools DTCM=128KiB,SRAM", "in two memories"},
    Example{"targets", "--detect", "the target string of this computer"},
    Example{"targets", "--explain 'llvm -mcpu=znver4'", "what a string means"},
    Example{"targets", "--machine cortex-a72", "what costs are reckoned with"},
    Example{"tir", "kernel.tir --rules --emit asm", "the assembly of a kernel of your own"},
    Example{"tir", "kernel.tir --rules -o kernel.so", "a library of it, which bench measures"},
    Example{"relay", "model.onnx > graph.txt", "a model as text"},
    Example{"relay", "model.onnx --passes --stop-after FuseOps", "as it is behind a pass"},
    Example{"board list", "", "your boards"},
    Example{"board list", "--profiles", "the kinds of boards that are known"},
    Example{"board add", "--virtual rpi4", "a Raspberry Pi 4 emulated on this computer"},
    Example{"board add", "pi --ssh me@raspberry", "over SSH; nothing is installed there"},
    Example{"board add", "farm --tracker 10.0.0.5 --key pi4", "whichever is free"},
    Example{"board probe", "pi", "what it is now, and which target fits"},
    Example{"board probe", "pi --measure", "how fast it computes, reads and starts threads"},
    Example{"board remove", "pi", "forgets it; nothing is left on it"},
    Example{"board remove", "rpi4", "an emulated one"},
    Example{"board test", "pi", "the sample model, from connecting to cleaning up"},
    Example{"board test", "pi --queue-timeout 60", "and waits no longer for a free one"},
    Example{"deploy", "model.onnx --board pi", "compile, send, run, measure, clean up"},
    Example{"deploy", "model.onnx --virtual mps2-an386", "an emulated Cortex-M4, made first"},
    Example{"project create", "model.onnx m4 --template baremetal-mps2", "firmware for an MPS2"},
    Example{"project create", "model.onnx sketch --template arduino", "a sketch with a library"},
    Example{"project build", "m4", "compiles and links it"},
    Example{"project build", "m4 && tenon project run m4", "and runs it"},
    Example{"project flash", "nucleo", "brings the image to the board"},
    Example{"project flash", "nucleo && tenon project run nucleo", "and runs it there"},
    Example{"project run", "m4", "one inference on the board, emulated where it is none"},
    Example{"project run", "m4 --print-top 3", "its best answers"},
    Example{"tracker", "", "on 127.0.0.1:9190"},
    Example{"tracker", "--query 127.0.0.1", "who waits, who is free, who has what"},
    Example{"rpc-server", "", "serves this computer on 127.0.0.1:9090"},
    Example{"rpc-server", "--tracker 127.0.0.1 --key pi4", "offers itself to a tracker"},
    Example{"completion", "bash > tenon.bash", "then: source tenon.bash"},
    Example{"completion", "zsh > _tenon", "into a folder of $fpath"},
};

std::string lineOf(const Example& example)
{
    std::string line = "tenon " + std::string(example.command);
    if (!example.arguments.empty()) line += ' ' + std::string(example.arguments);
    return line;
}

std::string textFor(std::string_view command)
{
    constexpr size_t kMostAligned = 60; // one long line does not push out the purposes of all
    size_t width = 0;
    for (const Example& example : kExamples)
        if (example.command == command)
            if (const size_t size = lineOf(example).size(); size <= kMostAligned)
                width = std::max(width, size);
    std::string text;
    for (const Example& example : kExamples) {
        if (example.command != command) continue;
        std::string line = lineOf(example);
        line.resize(std::max(width, line.size()), ' ');
        text += "\n  " + line + "  # " + std::string(example.purpose);
    }
    return text.empty() ? text : "Examples:" + text;
}

void addTo(CLI::App& command, const std::string& words)
{
    for (CLI::App* part : command.get_subcommands([](CLI::App*) { return true; })) {
        const std::string name = words.empty() ? part->get_name() : words + ' ' + part->get_name();
        if (const std::string text = textFor(name); !text.empty()) part->footer(text);
        addTo(*part, name);
    }
}

} // namespace

void addExamples(CLI::App& app) { addTo(app, {}); }

} // namespace tenon::cli
