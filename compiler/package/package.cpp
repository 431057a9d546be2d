// SPDX-License-Identifier: Apache-2.0
// Writes the parts of an artifact into a folder of their own and joins them.
#include "compiler/package/package.h"

#include "compiler/executor/graph_json.h"
#include "compiler/executor/vm_code.h"
#include "compiler/package/archive.h"
#include "compiler/package/data_object.h"
#include "compiler/package/device_blob.h"
#include "compiler/package/fill_section.h"
#include "compiler/package/wasm_object.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::compiler {
namespace {

/// Weights and code must lie within reach of 32-bit relative addresses.
constexpr int64_t kMaxConstantBytes = int64_t{1900} << 20;

core::Status writePart(const std::string& path, std::string_view content)
{
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (out) return core::kDone;
    return core::makeError(core::DiagnosticCode::IoFailure,
                           "cannot write " + core::quoted(path) + ": " + std::strerror(errno));
}

/// What goes into the artifact beside kernels.
struct Parts
{
    std::string glueText;
    std::string blob; ///< content of __tvm_dev_mblob
    std::string manifest;
};

core::Result<Parts> makeParts(const PackageInput& input, OutputFormat format, PackageReport& report)
{
    const ExecutorProgram& program = input.program;
    Parts parts;
    if (input.executor == ExecutorKind::Graph) {
        const StoragePlan storage = planStorage(program);
        core::Result<std::string> json = graphJson(program, storage);
        if (!json) return json.error();
        report.graphJson = std::move(*json);
        parts.glueText = graphGlueText(program, storage);
        // Parameters are linked, so the factory carries none.
        parts.blob = graphDeviceBlob(graphFactoryPayload(report.graphJson, {}, program.moduleName));
    } else if (input.executor == ExecutorKind::Vm) {
        parts.glueText = vmGlueText(program);
        parts.blob = vmDeviceBlob(vmExecutablePayload(program));
    } else {
        CHECK(input.memory) << "the AOT executor needs a memory plan";
        parts.glueText = aotGlueText(program, *input.memory);
        if (isWasm(input.machine.triple)) parts.glueText += wasmRuntimeText();
        if (format == OutputFormat::Program) parts.glueText += hexagonProgramText(program);
        parts.blob = aotDeviceBlob(aotFactoryPayload({}, program.moduleName));
    }
    report.manifest = makeManifest(program, input.executor, input.memory, input.manifest);
    parts.manifest = writeManifest(report.manifest);
    return parts;
}

/// In the order of the calls: a kernel that asks memory for weights ahead of time ends with those
/// of the next call.
std::vector<DataSymbol> constantSymbols(const ExecutorProgram& program)
{
    std::vector<DataSymbol> symbols;
    std::vector<bool> isListed(program.tensors.size());
    const auto list = [&](int tensor) {
        const auto at = static_cast<size_t>(tensor);
        const ProgramTensor& held = program.tensors[at];
        if (held.role != TensorRole::Constant || held.viewOf >= 0 || isListed[at]) return;
        isListed[at] = true;
        symbols.push_back({constantSymbol(tensor), held.constant.bytes()});
    };
    for (const KernelCall& call : program.calls)
        std::for_each(call.arguments.begin(), call.arguments.end(), list);
    for (size_t t = 0; t < program.tensors.size(); ++t) list(static_cast<int>(t));
    return symbols;
}

core::Status checkConstants(const std::vector<DataSymbol>& constants)
{
    int64_t bytes = 0;
    for (const DataSymbol& symbol : constants) bytes += static_cast<int64_t>(symbol.bytes.size());
    if (bytes <= kMaxConstantBytes) return core::kDone;
    return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                           "the constants take " + core::bytesText(static_cast<uint64_t>(bytes)) +
                               " but one library can hold at most " +
                               core::bytesText(static_cast<uint64_t>(kMaxConstantBytes)));
}

/// Weights of a library stand in a section of their own: the linker gives it addresses only.
DataSection weightsSection(const PackageInput& input, OutputFormat format)
{
    const bool isReserved = format == OutputFormat::SharedLibrary && !isWasm(input.machine.triple);
    return {isReserved ? ".tenon.constants" : ".rodata.tenon.constants", 64,
            constantSymbols(input.program), isReserved};
}

core::Status writeDataParts(const PackageInput& input, const Parts& parts,
                            const DataSection& weights, const core::TemporaryFolder& folder)
{
    if (core::Status fine = checkConstants(weights.symbols); !fine) return fine;
    if (isWasm(input.machine.triple)) {
        // Nobody walks a module's memory for what is inside: the manifest is for readers of files.
        if (core::Status done = writeWasmDataObject(folder.file("devc.o"), {".rodata", 64, {}},
                                                    {{".tenon.manifest", parts.manifest}});
            !done)
            return done;
        return writeWasmDataObject(folder.file("constants.o"), weights, {});
    }
    const core::Result<ElfMachine> machine = ElfMachine::of(input.machine.triple);
    if (!machine) return machine.error();
    const auto asBytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    const std::vector<DataSection> described = {
        {".rodata.tenon.blob",
         64,
         {{"__tvm_dev_mblob", asBytes(parts.blob), SymbolReach::Exported}}},
        {".tenon.manifest",
         8,
         {{"__tenon_manifest", asBytes(parts.manifest), SymbolReach::Exported}}},
    };
    if (const core::Status done = writeDataObject(folder.file("devc.o"), *machine, described);
        !done)
        return done.error();
    return writeDataObject(folder.file("constants.o"), *machine, {weights});
}

/// Paths of all objects: glue, kernels, constants, and last the module blob.
core::Result<std::vector<std::string>> writeObjects(const PackageInput& input, const Parts& parts,
                                                    const DataSection& weights,
                                                    const core::TemporaryFolder& folder,
                                                    PackageReport& report)
{
    const auto glueStart = std::chrono::steady_clock::now();
    const core::Result<std::string> glue =
        input.emitGlue ? input.emitGlue(parts.glueText) : emitIrText(parts.glueText, input.machine);
    if (!glue) return glue.error();
    report.glueMs = core::millisecondsSince(glueStart);

    const auto dataStart = std::chrono::steady_clock::now();
    std::vector<std::string> paths;
    std::vector<std::string_view> code = {*glue};
    code.insert(code.end(), input.objects.begin(), input.objects.end());
    for (size_t i = 0; i < code.size(); ++i) {
        const std::string name = "lib" + std::to_string(i) + ".o";
        if (const core::Status done = writePart(folder.file(name), code[i]); !done)
            return done.error();
        paths.push_back(folder.file(name));
    }
    if (const core::Status done = writeDataParts(input, parts, weights, folder); !done)
        return done.error();
    paths.push_back(folder.file("constants.o"));
    paths.push_back(folder.file("devc.o"));
    report.dataMs = core::millisecondsSince(dataStart);
    return paths;
}

/// A readable name for debuggers and profilers, of characters that the linker takes.
std::string aliasOf(const ProgramKernel& kernel)
{
    std::string name = kernel.function + "_kernel";
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

LinkJob linkJob(const PackageInput& input, std::vector<std::string> objects,
                const std::vector<std::string>& exports, const core::TemporaryFolder& folder)
{
    LinkJob job{.triple = input.machine.triple, .objects = std::move(objects), .exports = exports};
    for (const ProgramKernel& kernel : input.program.kernels)
        job.aliases.emplace_back(aliasOf(kernel), kernel.symbol);
    job.folder = folder.path();
    return job;
}

std::vector<TarMember> tarMembers(const std::vector<std::string>& paths)
{
    std::vector<TarMember> members;
    for (const std::string& path : paths)
        members.push_back({std::filesystem::path(path).filename().string(), path});
    // Loaders expect the module blob first.
    std::rotate(members.begin(), members.end() - 1, members.end());
    return members;
}

/// A module or program stands alone: it has no runtime beside it, and no ELF loader before it.
core::Status checkExecutor(const PackageInput& input, const std::string& what)
{
    if (input.executor == ExecutorKind::Vm)
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               what + " runs by itself, without the vm executor that control flow "
                                      "and sizes known at run time need; bind sizes with --shape");
    if (input.executor == ExecutorKind::Graph)
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               what + " runs by itself, which the graph executor cannot; use "
                                      "--executor aot");
    return core::kDone;
}

core::Status checkFormat(const PackageInput& input, OutputFormat format)
{
    const std::string& triple = input.machine.triple;
    const bool isModule = isWasm(triple);
    if (isModule)
        if (core::Status fits = checkExecutor(input, "a WebAssembly module"); !fits) return fits;
    if (isModule && (format == OutputFormat::SharedLibrary || format == OutputFormat::Program))
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "WebAssembly has no shared libraries; end the output in .wasm");
    if (!isModule && format == OutputFormat::WasmModule)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "a .wasm file needs --target \"llvm -mtriple=wasm32-unknown-unknown "
                               "-mattr=+simd128\", not " +
                                   core::quoted(triple));
    if (format != OutputFormat::Program) return core::kDone;
    if (!isHexagon(triple))
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "programs that need no runtime are made for --target hexagon only, "
                               "not " +
                                   core::quoted(triple) + "; end the output in .so");
    return checkExecutor(input, "a program");
}

std::vector<std::string> exportsOf(const PackageInput& input, OutputFormat format)
{
    if (isWasm(input.machine.triple)) return wasmExports(input.program);
    if (format == OutputFormat::Program) return {"__tenon_manifest"};
    std::vector<std::string> exports = glueExports(input.program, input.executor);
    exports.push_back("__tvm_dev_mblob");
    exports.push_back("__tenon_manifest");
    std::sort(exports.begin(), exports.end());
    return exports;
}

core::Status linkTo(const std::string& path, const PackageInput& input, const LinkJob& job,
                    OutputFormat format)
{
    if (input.link) return input.link(job, format, path);
    return format == OutputFormat::Object ? linkRelocatable(job, path)
                                          : linkSharedLibrary(job, path);
}

/// What the linker made with the weights put in, written unless `path` holds it already.
core::Status writeFilled(const PackageInput& input, const LinkJob& job, const DataSection& weights,
                         const std::string& path, PackageReport& report)
{
    const std::string linked = job.folder + "/linked.so";
    if (core::Status done = linkTo(linked, input, job, OutputFormat::SharedLibrary); !done)
        return done;
    core::Result<std::string> library = core::readFile(linked);
    if (!library) return library.error();
    const core::Result<FilledLibrary> filled = fillSection(*std::move(library), weights);
    if (!filled) return filled.error();
    report.isUnchanged = keepIfSame(filled->parts, path);
    if (report.isUnchanged) return core::kDone;
    return core::replaceFileAtomically(
        path, [&](const std::string& temporary) { return writeParts(filled->parts, temporary); });
}

/// The parts joined into `path` in the form of the output.
core::Status joinParts(const PackageInput& input, const LinkJob& job, OutputFormat format,
                       const std::string& path)
{
    return core::replaceFileAtomically(path, [&](const std::string& temporary) {
        return format == OutputFormat::Tar ? writeTar(temporary, tarMembers(job.objects))
                                           : linkTo(temporary, input, job, format);
    });
}

} // namespace

core::Result<OutputFormat> outputFormatOf(const std::string& path)
{
    if (path.ends_with(".so")) return OutputFormat::SharedLibrary;
    if (path.ends_with(".o")) return OutputFormat::Object;
    if (path.ends_with(".tar") && !path.ends_with(".mlf.tar")) return OutputFormat::Tar;
    if (path.ends_with(".wasm")) return OutputFormat::WasmModule;
    if (path.ends_with(".elf")) return OutputFormat::Program;
    return core::makeError(core::DiagnosticCode::BadArgument,
                           "cannot tell the format of " + core::quoted(path) +
                               "; end it in .so, .o, .tar, .wasm or .elf",
                           {.file = path});
}

std::string_view runnableSuffix(const MachineSpec& machine)
{
    if (isWasm(machine.triple)) return ".wasm";
    return isHexagon(machine.triple) ? ".elf" : ".so";
}

core::Result<PackageReport> writePackage(const PackageInput& input, OutputFormat format,
                                         const std::string& path)
{
    verifyProgram(input.program);
    if (core::Status fits = checkFormat(input, format); !fits) return fits.error();
    PackageReport report;
    const core::Result<Parts> parts = makeParts(input, format, report);
    if (!parts) return parts.error();
    const core::Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-link-");
    if (!folder) return folder.error();
    const DataSection weights = weightsSection(input, format);
    core::Result<std::vector<std::string>> objects =
        writeObjects(input, *parts, weights, *folder, report);
    if (!objects) return objects.error();

    report.exports = exportsOf(input, format);
    LinkJob job = linkJob(input, *objects, report.exports, *folder);
    if (format == OutputFormat::Program) job.entry = kHexagonEntry;
    const auto linkStart = std::chrono::steady_clock::now();
    const core::Status written = weights.isReserved ? writeFilled(input, job, weights, path, report)
                                                    : joinParts(input, job, format, path);
    if (!written) return written.error();
    report.linkMs = core::millisecondsSince(linkStart);
    std::error_code ignored;
    report.fileBytes = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    return report;
}

} // namespace tenon::compiler
