// SPDX-License-Identifier: Apache-2.0
// Bare-metal images: what an empty program does not have, split by symbols.
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "remote/footprint/image.h"
#include "remote/footprint/tool.h"

#include <cstdlib>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

constexpr const char* kTools = "arm-none-eabi-";

struct Core
{
    std::string_view cpu;
    const char* floatingPoint; ///< of the compiler's -mfpu; null: none
    const char* board;         ///< emulated board that has it; null: none
};

constexpr Core kCores[] = {
    {"cortex-m0", nullptr, nullptr},
    {"cortex-m3", nullptr, "mps2-an385"},
    {"cortex-m4", "fpv4-sp-d16", "mps2-an386"},
    {"cortex-m7", "fpv5-d16", "mps2-an500"},
    {"cortex-m33", "fpv5-sp-d16", nullptr},
};

const Core* coreOf(const core::Target& target)
{
    for (const Core& core : kCores)
        if (core.cpu == target.mcpu) return &core;
    return nullptr;
}

/// main() that only runs the model; with MEASURE_STACK it also reports how deep the stack went.
std::string mainText(const compiler::ExecutorProgram& program, compiler::CInterface interface)
{
    std::string buffers, pointers;
    size_t index = 0;
    const bool isPacked = interface == compiler::CInterface::Packed;
    const auto add = [&](int tensor, const std::string& name, const char* group) {
        const std::string buffer = "footprint_io_" + std::to_string(index);
        buffers += "static uint64_t " + buffer + "[" +
                   std::to_string((program.tensors[static_cast<size_t>(tensor)].bytes() + 7) / 8) +
                   "];\n";
        if (isPacked)
            pointers += "    tensors[" + std::to_string(index) + "].data = " + buffer +
                        ";\n    values[" + std::to_string(index) + "].v_handle = &tensors[" +
                        std::to_string(index) + "];\n";
        else
            pointers += "    " + std::string(group) + "." + compiler::cMemberName(name) + " = " +
                        buffer + ";\n";
        ++index;
    };
    for (const int input : program.inputs)
        add(input, program.tensors[static_cast<size_t>(input)].name, "in");
    for (size_t i = 0; i < program.outputs.size(); ++i)
        add(program.outputs[i], program.outputNames[i], "out");
    const std::string count = std::to_string(index);
    const std::string locals = isPacked ? "    static DLTensor tensors[" + count +
                                              "];\n    static TVMValue values[" + count +
                                              "];\n    static int32_t codes[" + count + "];\n"
                                        : std::string("    struct tvmgen_default_inputs in;\n"
                                                      "    struct tvmgen_default_outputs out;\n");
    const std::string call = isPacked ? "tvmgen_default_run(values, codes, " + count + ", 0, 0, 0)"
                                      : std::string("tvmgen_default_run(&in, &out)");
    return "#include \"tvmgen_default.h\"\n#include \"stack.h\"\n" + buffers +
           "static int run(void)\n{\n" + locals + pointers + "    return " + call +
           ";\n}\nint main(void) { return stack_used_by(run); }\n";
}

class MicroImage
{
public:
    MicroImage(const compiler::CompileResult& result, compiler::CInterface interface,
               const Core& core, core::TemporaryFolder folder)
        : m_result(result)
        , m_interface(interface)
        , m_core(core)
        , m_folder(std::move(folder))
    {
    }

    Result<ExecutorFootprint> measure(const std::string& modelName)
    {
        const auto written =
            compiler::writeCArtifact(m_result, m_interface, m_folder.file("source"), modelName);
        if (!written) return written.error();
        const core::Status files = writeFiles();
        if (!files) return files.error();
        const std::vector<std::string> model{m_folder.file("source/src/default_lib0.c"),
                                             m_folder.file("source/src/default_lib1.c"),
                                             m_folder.file("main.c")};
        const auto empty = link("empty", {m_folder.file("empty.c")});
        if (!empty) return empty.error();
        const auto image = link("image", model);
        if (!image) return image.error();
        Result<ExecutorFootprint> out = split(*empty, *image);
        if (!out) return out;
        const Result<int64_t> stack = measureStack(model);
        if (!stack) return stack.error();
        out->ram.stack = *stack;
        out->method =
            "C compiled with " + std::string(kTools) +
            "gcc -Os, linked with unused sections dropped; an empty program with the same "
            "start-up code is subtracted; parts by symbol size; stack " +
            (*stack >= 0    ? "painted and run on the emulated board " + std::string(m_core.board)
             : m_core.board ? std::string("not measured: qemu-system-arm is not installed")
                            : std::string("not measured: no emulated board has this core"));
        return out;
    }

private:
    core::Status writeFiles() const
    {
        const std::string model = mainText(m_result.program, m_interface);
        if (core::Status done = core::writeFileAtomically(m_folder.file("main.c"), model); !done)
            return done;
        return core::writeFileAtomically(m_folder.file("empty.c"),
                                         "int main(void) { return 0; }\n");
    }

    Result<std::string> link(const std::string& name, const std::vector<std::string>& sources,
                             const std::vector<std::string>& options = {}) const
    {
        const std::string board = TENON_MICRO_FOLDER "/mps2";
        const std::string image = m_folder.file(name + ".elf");
        std::vector<std::string> words{std::string(kTools) + "gcc",
                                       "-mcpu=" + std::string(m_core.cpu),
                                       "-mthumb",
                                       "-std=c99",
                                       "-Os",
                                       "-ffunction-sections",
                                       "-fdata-sections",
                                       "-Wl,--gc-sections",
                                       "-nostartfiles",
                                       "-T",
                                       board + "/link.ld",
                                       "-I" + board,
                                       "-I" + m_folder.file("source/include")};
        if (m_core.floatingPoint)
            words.insert(words.end(),
                         {"-mfloat-abi=hard", std::string("-mfpu=") + m_core.floatingPoint});
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), sources.begin(), sources.end());
        words.insert(words.end(), {board + "/startup.c", "-o", image, "-lm"});
        const Result<std::string> done = runTool(words);
        if (!done) return done.error();
        return image;
    }

    static Result<int64_t> flashOf(const std::string& image)
    {
        const auto sections = sectionBytes(std::string(kTools) + "size", image);
        if (!sections) return sections.error();
        int64_t bytes = 0;
        for (const char* name : {".text", ".ARM.exidx", ".data"})
            if (const auto found = sections->find(name); found != sections->end())
                bytes += found->second;
        return bytes;
    }

    Result<ExecutorFootprint> split(const std::string& empty, const std::string& image) const
    {
        const Result<int64_t> emptyBytes = flashOf(empty);
        const Result<int64_t> imageBytes = flashOf(image);
        const auto symbols = symbolBytes(std::string(kTools) + "nm", image);
        if (!emptyBytes) return emptyBytes.error();
        if (!imageBytes) return imageBytes.error();
        if (!symbols) return symbols.error();
        const std::string workspace = compiler::cWorkspaceSymbol(m_result.program);
        ExecutorFootprint out;
        out.plannedBytes = m_result.memory.workspaceBytes();
        out.ram.heap = symbols->contains("_malloc_r") ? -1 : 0;
        for (const auto& [name, bytes] : *symbols) {
            if (name == workspace)
                out.ram.workspace = bytes;
            else if (name.starts_with("footprint_io_"))
                out.ram.io += bytes;
            else if (name.starts_with("tvmgen_default_constant_"))
                out.flash.constants += bytes;
            else if (name.starts_with("tvmgen_") || name == "max_f32" || name == "min_f32")
                out.flash.kernels += bytes;
        }
        if (out.ram.workspace != out.plannedBytes)
            return makeError(DiagnosticCode::InternalBug,
                             "the linked workspace has " + std::to_string(out.ram.workspace) +
                                 " bytes but " + std::to_string(out.plannedBytes) +
                                 " were planned");
        out.flash.runtime = *imageBytes - *emptyBytes - out.flash.constants - out.flash.kernels;
        return out;
    }

    Result<int64_t> measureStack(const std::vector<std::string>& model) const
    {
        if (!m_core.board || !hasTool("qemu-system-arm")) return int64_t{-1};
        const auto image = link("measured", model, {"-DMEASURE_STACK"});
        if (!image) return image.error();
        const auto said =
            runTool({"timeout", "300", "qemu-system-arm", "-M", m_core.board, "-nographic",
                     "-monitor", "none", "-serial", "none", "-semihosting-config",
                     "enable=on,target=native", "-kernel", *image});
        if (!said) return said.error();
        const size_t at = said->find("stack ");
        if (at == std::string::npos)
            return makeError(DiagnosticCode::BoardFailure, "the emulated board said nothing");
        return static_cast<int64_t>(std::strtoull(said->c_str() + at + 6, nullptr, 16));
    }

    const compiler::CompileResult& m_result;
    compiler::CInterface m_interface;
    const Core& m_core;
    core::TemporaryFolder m_folder;
};

} // namespace

Result<ExecutorFootprint> measureMicroImage(const compiler::CompileResult& result,
                                            compiler::CInterface interface,
                                            const std::string& modelName)
{
    const Core* core = coreOf(result.target);
    if (!core)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "images are linked for cortex-m0, -m3, -m4, -m7 and -m33; name one with "
                         "--target \"c -mcpu=cortex-m4\"");
    if (!hasTool(std::string(kTools) + "gcc"))
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "arm-none-eabi-gcc is not installed; install gcc-arm-none-eabi and "
                         "libnewlib-arm-none-eabi");
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    return MicroImage(result, interface, *core, std::move(*folder)).measure(modelName);
}

} // namespace tenon::remote
