// SPDX-License-Identifier: Apache-2.0
// Bare-metal images: what an empty program does not have, split by symbols.
#include "compiler/driver/micro_image.h"

#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/tool.h"
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
               const core::MicroCore& core, core::TemporaryFolder folder)
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
            for (const std::string& source : compiler::microGraphSources()) model.push_back(source);
        const auto empty = link("empty", {m_folder.file("empty.c")});
        if (!empty) return empty.error();
        const auto image = link("image", model);
        if (!image) return image.error();
        Result<ExecutorFootprint> out = split(*empty, *image);
        if (!out) return out;
        if (core::Status told = addKernels(model, *out); !told) return told.error();
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
        std::string text = "C compiled with " + core::microTool(m_core, "gcc") + " -Os, " +
                           given() +
                           "linked with unused sections dropped; an empty program with "
                           "the same start-up code is subtracted; parts by symbol size; ";
        if (m_isGraph)
            text += "the graph executor of runtime/micro parses JSON and parameters on the board, "
                    "in an arena: storages are the workspace, what parsing took is the heap; ";
        const std::string what = m_isGraph ? "stack and arena " : "stack ";
        if (said.stack >= 0)
            return text + what + "measured by running on the emulated board " +
                   std::string(m_core.board);
        return text + what + "not measured: " +
               (m_core.board.empty() ? std::string("no emulated board has this core")
                                     : std::string(m_core.family->emulator) + " is not installed");
    }

    /// Of the target, where it says how to compile.
    std::string given() const
    {
        const auto options = core::cCompilerOptions(m_result.target);
        return options.size() < 2 ? "" : core::join(options, " ") + ", ";
    }

    core::Status writeFiles() const
    {
        const std::string model =
            m_isGraph ? graphMainText(m_result.program, compiler::microArenaBytes(m_result.program))
                      : aotMainText(m_result.program, m_interface);
        if (core::Status done = core::writeFileAtomically(m_folder.file("main.c"), model); !done)
            return done;
        return core::writeFileAtomically(m_folder.file("empty.c"),
                                         "int main(void) { return 0; }\n");
    }

    Result<std::string> link(const std::string& name, const std::vector<std::string>& sources,
                             const std::vector<std::string>& options = {}) const
    {
        const std::string image = m_folder.file(name + ".elf");
        const core::Status linked =
            compiler::linkMicroImage({.target = m_result.target,
                                      .sources = sources,
                                      .includes = m_folder.file("source/include"),
                                      .optimization = "-Os",
                                      .options = options},
                                     image);
        if (!linked) return linked.error();
        return image;
    }

    /// Code of each kernel: of an image whose compiler leaves functions that are called once alone,
    /// as it puts them into their caller otherwise.
    core::Status addKernels(const std::vector<std::string>& model, ExecutorFootprint& out) const
    {
        const auto apart = link("apart", model, {"-fno-inline-functions-called-once"});
        if (!apart) return apart.error();
        const auto symbols = symbolBytes(core::microTool(m_core, "nm"), *apart);
        if (!symbols) return symbols.error();
        for (const compiler::ProgramKernel& kernel : m_result.program.kernels)
            if (const auto found = symbols->find(kernel.function); found != symbols->end())
                out.kernelBytes[kernel.function] = found->second;
        return core::kDone;
    }

    struct Sizes
    {
        int64_t flash = 0;
        int64_t ram = 0;
    };

    Result<Sizes> sizesOf(const std::string& image) const
    {
        const auto sections = sectionBytes(core::microTool(m_core, "size"), image);
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
        const auto symbols = symbolBytes(core::microTool(m_core, "nm"), image);
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
        if (m_core.board.empty() || !core::hasTool(std::string(m_core.family->emulator)))
            return out;
        const auto image = link("measured", model, {"-DMEASURE_STACK"});
        if (!image) return image.error();
        std::vector<std::string> words = core::microEmulator(m_core, compiler::kInstructionShift);
        words.insert(words.begin(), {"timeout", "300"});
        words.insert(words.end(), {"-serial", "none", "-kernel", *image});
        const auto said = core::runTool(words);
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
    const core::MicroCore& m_core;
    core::TemporaryFolder m_folder;
};

} // namespace

Result<ExecutorFootprint> measureMicroImage(const compiler::CompileResult& result,
                                            compiler::CInterface interface)
{
    const auto core = compiler::linkableCore(result.target);
    if (!core) return core.error();
    Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-footprint-");
    if (!folder) return folder.error();
    return MicroImage(result, interface, **core, std::move(*folder)).measure();
}

} // namespace tenon::remote
