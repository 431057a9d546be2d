// SPDX-License-Identifier: Apache-2.0
// Bare-metal images: what an empty program does not have, split by symbols.
#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/target/c_options.h"
#include "remote/footprint/image.h"
#include "remote/footprint/micro_main.h"
#include "remote/footprint/storages.h"
#include "remote/footprint/tool.h"

#include <algorithm>
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
    std::vector<std::string> options;  ///< of the compiler, for floating point; empty: no unit
    const char* board = nullptr;       ///< emulated board that has it; null: none
    std::vector<std::string> memory{}; ///< where that differs from MPS2's, as link.ld has it
};

const std::vector<Core>& allCores()
{
    static const std::vector<Core> cores = {
        {"cortex-m0", {}},
        {"cortex-m3", {}, "mps2-an385"},
        {"cortex-m4", {"-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"}, "mps2-an386"},
        {"cortex-m7", {"-mfloat-abi=hard", "-mfpu=fpv5-d16"}, "mps2-an500"},
        {"cortex-m33",
         {"-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"},
         "mps2-an505",
         {"-Wl,--defsym=__flash=0x10000000", "-Wl,--defsym=__ram=0x38000000"}},
        {"cortex-m55", {"-mfloat-abi=hard"}, "mps3-an547", {"-Wl,--defsym=__memory=0x80000"}},
    };
    return cores;
}

const Core* coreOf(const core::Target& target)
{
    for (const Core& core : allCores())
        if (core.cpu == target.mcpu) return &core;
    return nullptr;
}

/// The core's own options, with what the target says in their place. GCC knows best what goes
/// together, but calls a core without a unit a matter of its library.
Result<std::vector<std::string>> compilerOptions(const Core& core, const core::Target& target)
{
    const std::string abi = target.stringOption("mfloat-abi");
    if (core.options.empty() && !abi.empty() && abi != "soft")
        return makeError(DiagnosticCode::BadTarget,
                         std::string(core.cpu) + " has no floating-point unit; -mfloat-abi=" + abi +
                             " needs one, leave it out or write soft",
                         {.detail = "mfloat-abi"});
    std::vector<std::string> out{"-mcpu=" + std::string(core.cpu), "-mthumb"};
    const std::vector<std::string> given = core::cCompilerOptions(target);
    const auto isGiven = [&](const std::string& option) {
        const std::string name = option.substr(0, option.find('=') + 1);
        return std::any_of(given.begin(), given.end(),
                           [&](const std::string& each) { return each.starts_with(name); });
    };
    for (const std::string& option : core.options)
        if (!isGiven(option)) out.push_back(option);
    for (const std::string& option : given)
        if (!option.starts_with("-mcpu=")) out.push_back(option);
    return out;
}

/// Sources of the graph executor for bare boards, below runtime/.
constexpr const char* kGraphSources[] = {"common/bytes.c",
                                         "common/dtype.c",
                                         "common/json.c",
                                         "common/tensor_head.c",
                                         "executor/graph.c",
                                         "executor/graph_check.c",
                                         "executor/params.c",
                                         "micro/graph/micro_arena.c",
                                         "micro/graph/micro_error.c",
                                         "micro/graph/micro_graph.c"};

/// What an image says about itself on the emulated board; nothing when there is none.
struct Said
{
    int64_t stack = -1;
    int64_t arena = -1;   ///< graph executor: all it took
    int64_t tensors = -1; ///< the part of it that tensors take
};

class MicroImage
{
public:
    MicroImage(const compiler::CompileResult& result, compiler::CInterface interface,
               const Core& core, core::TemporaryFolder folder)
        : m_result(result)
        , m_interface(interface)
        , m_isGraph(result.options.executor == compiler::ExecutorKind::Graph)
        , m_core(core)
        , m_folder(std::move(folder))
    {
    }

    Result<ExecutorFootprint> measure()
    {
        const auto written = compiler::writeSources(m_result, m_interface, m_folder.file("source"));
        if (!written) return written.error();
        if (core::Status files = writeFiles(); !files) return files.error();
        std::vector<std::string> model{m_folder.file("source/src/default_lib0.c"),
                                       m_folder.file("source/src/default_lib1.c"),
                                       m_folder.file("main.c")};
        if (m_isGraph)
            for (const char* source : kGraphSources)
                model.push_back(core::shippedFile("runtime/" + std::string(source)));
        const auto empty = link("empty", {m_folder.file("empty.c")});
        if (!empty) return empty.error();
        const auto image = link("image", model);
        if (!image) return image.error();
        Result<ExecutorFootprint> out = split(*empty, *image);
        if (!out) return out;
        const Result<Said> said = runMeasured(model);
        if (!said) return said.error();
        out->ram.stack = said->stack;
        if (m_isGraph)
            if (core::Status fits = addArena(*said, *out); !fits) return fits.error();
        out->method = method(*said);
        return out;
    }

private:
    std::string method(const Said& said) const
    {
        std::string text = "C compiled with " + std::string(kTools) + "gcc -Os, " + given() +
                           "linked with unused sections dropped; an empty program with "
                           "the same start-up code is subtracted; parts by symbol size; ";
        if (m_isGraph)
            text += "the graph executor of runtime/micro parses JSON and parameters on the board, "
                    "in an arena: storages are the workspace, what parsing took is the heap; ";
        const std::string what = m_isGraph ? "stack and arena " : "stack ";
        if (said.stack >= 0)
            return text + what + "measured by running on the emulated board " + m_core.board;
        return text + what + "not measured: " +
               (m_core.board ? "qemu-system-arm is not installed"
                             : "no emulated board has this core");
    }

    /// Of the target, where it says how to compile.
    std::string given() const
    {
        const auto options = core::cCompilerOptions(m_result.target);
        return options.size() < 2 ? "" : core::join(options, " ") + ", ";
    }

    core::Status writeFiles() const
    {
        const Storages storages = storagesOf(m_result.program);
        // Parsing takes a few times the text, most of it for the nodes and entries it describes.
        const int64_t arena = storages.io + storages.others + 65536 +
                              1024 * static_cast<int64_t>(m_result.program.tensors.size() +
                                                          m_result.program.calls.size());
        const std::string model = m_isGraph ? graphMainText(m_result.program, arena)
                                            : aotMainText(m_result.program, m_interface);
        if (core::Status done = core::writeFileAtomically(m_folder.file("main.c"), model); !done)
            return done;
        return core::writeFileAtomically(m_folder.file("empty.c"),
                                         "int main(void) { return 0; }\n");
    }

    Result<std::string> link(const std::string& name, const std::vector<std::string>& sources,
                             const std::vector<std::string>& options = {}) const
    {
        const std::string board = core::shippedFile("runtime/micro/mps2");
        const std::string image = m_folder.file(name + ".elf");
        const auto machine = compilerOptions(m_core, m_result.target);
        if (!machine) return machine.error();
        std::vector<std::string> words{std::string(kTools) + "gcc",
                                       "-std=c99",
                                       "-Os",
                                       "-ffunction-sections",
                                       "-fdata-sections",
                                       "-Wl,--gc-sections",
                                       "-nostartfiles",
                                       "-T",
                                       board + "/link.ld",
                                       "-I" + board,
                                       "-I" + core::shippedFile("runtime/micro/graph"),
                                       "-I" + m_folder.file("source/include")};
        words.insert(words.end(), machine->begin(), machine->end());
        words.insert(words.end(), m_core.memory.begin(), m_core.memory.end());
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), sources.begin(), sources.end());
        words.insert(words.end(), {board + "/startup.c", "-o", image, "-lm"});
        const Result<std::string> done = runTool(words);
        if (!done) return done.error();
        return image;
    }

    struct Sizes
    {
        int64_t flash = 0;
        int64_t ram = 0;
    };

    static Result<Sizes> sizesOf(const std::string& image)
    {
        const auto sections = sectionBytes(std::string(kTools) + "size", image);
        if (!sections) return sections.error();
        Sizes out;
        for (const auto& [name, bytes] : *sections) {
            if (name == ".text" || name == ".ARM.exidx" || name == ".data") out.flash += bytes;
            if (name == ".data" || name == ".bss" || name == ".noinit") out.ram += bytes;
        }
        return out;
    }

    /// Of the AOT executor's weights, of the graph executor's parameter blob without its headers.
    void addSymbol(const std::string& name, int64_t bytes, ExecutorFootprint& out) const
    {
        if (name == compiler::cWorkspaceSymbol(m_result.program)) {
            out.ram.workspace = bytes;
        } else if (name.starts_with("footprint_io_")) {
            out.ram.io += bytes;
        } else if (name.starts_with("tvmgen_default_constant_")) {
            out.flash.constants += bytes;
        } else if (name == "tvmgen_default_params") {
            int64_t values = 0;
            for (const compiler::ProgramTensor& tensor : m_result.program.tensors)
                if (tensor.role == compiler::TensorRole::Constant && tensor.viewOf < 0)
                    values += tensor.bytes();
            out.flash.constants += values;
            out.flash.metadata += bytes - values;
        } else if (name == "tvmgen_default_graph" || name == "tvmgen_default_functions" ||
                   name == "tvmgen_default_model" || name.starts_with("tvmgen_default_name_")) {
            out.flash.metadata += bytes;
        } else if (name.starts_with("tvmgen_") || name == "max_f32" || name == "min_f32") {
            out.flash.kernels += bytes;
        }
    }

    Result<ExecutorFootprint> split(const std::string& empty, const std::string& image) const
    {
        const Result<Sizes> base = sizesOf(empty);
        const Result<Sizes> whole = sizesOf(image);
        const auto symbols = symbolBytes(std::string(kTools) + "nm", image);
        if (!base) return base.error();
        if (!whole) return whole.error();
        if (!symbols) return symbols.error();
        ExecutorFootprint out;
        out.ram.heap = symbols->contains("_malloc_r") ? -1 : 0;
        for (const auto& [name, bytes] : *symbols) addSymbol(name, bytes, out);
        const FlashBytes& flash = out.flash;
        out.flash.runtime =
            whole->flash - base->flash - flash.constants - flash.kernels - flash.metadata;
        const auto arena = symbols->find("footprint_arena");
        out.ram.statics = whole->ram - base->ram - out.ram.workspace - out.ram.io -
                          (arena == symbols->end() ? 0 : arena->second);
        if (m_isGraph) return out;
        out.plannedBytes = m_result.memory.workspaceBytes();
        if (core::Status same = checkPlanned(out.ram.workspace, out.plannedBytes); !same)
            return same.error();
        return out;
    }

    static core::Status checkPlanned(int64_t linked, int64_t planned)
    {
        if (linked == planned) return core::kDone;
        return makeError(DiagnosticCode::InternalBug,
                         "the linked workspace has " + std::to_string(linked) + " bytes but " +
                             std::to_string(planned) + " were planned");
    }

    /// Tensors of the graph executor are planned here and laid out there.
    core::Status addArena(const Said& said, ExecutorFootprint& out) const
    {
        const Storages storages = storagesOf(m_result.program);
        const int64_t scratch = out.ram.workspace;
        out.ram.io = storages.io;
        out.ram.workspace += storages.others;
        out.plannedBytes = out.ram.workspace;
        out.ram.heap = -1;
        if (said.arena < 0) return core::kDone;
        out.ram.heap = said.arena - said.tensors;
        // The board may have to copy parameters that are not aligned; it never has fewer tensors.
        const int64_t copies = said.tensors - storages.io - storages.others;
        if (copies < 0) return checkPlanned(said.tensors + scratch, storages.io + out.plannedBytes);
        out.ram.workspace += copies;
        return core::kDone;
    }

    Result<Said> runMeasured(const std::vector<std::string>& model) const
    {
        Said out;
        if (!m_core.board || !hasTool("qemu-system-arm")) return out;
        const auto image = link("measured", model, {"-DMEASURE_STACK"});
        if (!image) return image.error();
        const auto said =
            runTool({"timeout", "300", "qemu-system-arm", "-M", m_core.board, "-nographic",
                     "-monitor", "none", "-serial", "none", "-semihosting-config",
                     "enable=on,target=native", "-kernel", *image});
        if (!said) return said.error();
        const auto number = [&](const char* name) -> int64_t {
            const size_t at = said->find(name);
            if (at == std::string::npos) return -1;
            return static_cast<int64_t>(
                std::strtoull(said->c_str() + at + std::string_view(name).size(), nullptr, 16));
        };
        out = {.stack = number("stack "), .arena = number("arena "), .tensors = number("tensors ")};
        if (out.stack < 0 || (m_isGraph && out.arena < 0))
            return makeError(DiagnosticCode::BoardFailure, "the emulated board said nothing");
        return out;
    }

    const compiler::CompileResult& m_result;
    compiler::CInterface m_interface;
    bool m_isGraph;
    const Core& m_core;
    core::TemporaryFolder m_folder;
};

} // namespace

Result<ExecutorFootprint> measureMicroImage(const compiler::CompileResult& result,
                                            compiler::CInterface interface)
{
    const Core* core = coreOf(result.target);
    if (!core)
        return makeError(
            DiagnosticCode::UnsupportedTarget,
            "images are linked for cortex-m0, -m3, -m4, -m7, -m33 and -m55; name one with "
            "--target \"c -mcpu=cortex-m4\"");
    if (!hasTool(std::string(kTools) + "gcc"))
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "arm-none-eabi-gcc is not installed; install gcc-arm-none-eabi and "
                         "libnewlib-arm-none-eabi");
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    return MicroImage(result, interface, *core, std::move(*folder)).measure();
}

} // namespace tenon::remote
