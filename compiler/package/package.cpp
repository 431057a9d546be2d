// SPDX-License-Identifier: Apache-2.0
// Writes the parts of an artifact into a folder of their own and joins them.
#include "compiler/package/package.h"

#include "compiler/codegen/data_section.h"
#include "compiler/codegen/llvm/linker.h"
#include "compiler/executor/graph_json.h"
#include "compiler/executor/vm_code.h"
#include "compiler/package/archive.h"
#include "compiler/package/device_blob.h"
#include "compiler/package/fill_section.h"
#include "compiler/package/model_library.h"
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

/// Glue, and the modules that a runtime finds in the artifact.
core::Result<Parts> makeParts(const PackageInput& input, OutputFormat format, PackageReport& report)
{
    const ExecutorProgram& program = input.program;
    const ObjectCode& code = *input.machine.backEnd->objects;
    Parts parts;
    GlueParts glue{program, input.executor, format, input.memory};
    StoragePlan storage;
    if (input.executor == ExecutorKind::Graph) {
        storage = planStorage(program);
        glue.storage = &storage;
        core::Result<std::string> json = graphJson(program, storage);
        if (!json) return json.error();
        report.graphJson = std::move(*json);
        // Parameters are linked, so the factory carries none.
        parts.blob = graphDeviceBlob(graphFactoryPayload(report.graphJson, {}, program.moduleName));
    } else if (input.executor == ExecutorKind::Vm) {
        parts.blob = vmDeviceBlob(vmExecutablePayload(program));
    } else {
        CHECK(input.memory) << "the AOT executor needs a memory plan";
        parts.blob = aotDeviceBlob(aotFactoryPayload({}, program.moduleName));
    }
    parts.glueText = code.glueText(glue);
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

/// Where the form wants it, weights stand in a section of their own: the linker gives it addresses
/// only.
DataSection weightsSection(const PackageInput& input, const ArtifactForm& form)
{
    return {form.fillsWeights ? ".tenon.constants" : ".rodata.tenon.constants", 64,
            constantSymbols(input.program), form.fillsWeights};
}

/// Paths of all objects: glue, kernels, constants, and last the module blob.
core::Result<std::vector<std::string>> writeObjects(const PackageInput& input, const Parts& parts,
                                                    const DataSection& weights,
                                                    const core::TemporaryFolder& folder,
                                                    PackageReport& report)
{
    const auto glueStart = std::chrono::steady_clock::now();
    const core::Result<std::string> glue =
        input.emitGlue ? input.emitGlue(parts.glueText)
                       : input.machine.backEnd->objects->emitGlue(parts.glueText, input.machine);
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
    paths.push_back(folder.file("constants.o"));
    paths.push_back(folder.file("devc.o"));
    core::Status written = checkConstants(weights.symbols);
    if (written)
        written = input.machine.backEnd->objects->writeData(
            {input.machine.triple, weights, parts.blob, parts.manifest, folder.file("constants.o"),
             folder.file("devc.o")});
    if (!written) return written.error();
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

LinkPlan linkPlan(const PackageInput& input, std::vector<std::string> objects,
                  const std::vector<std::string>& exports, const core::TemporaryFolder& folder)
{
    LinkPlan plan{
        .triple = input.machine.triple, .objects = std::move(objects), .exports = exports};
    for (const ProgramKernel& kernel : input.program.kernels)
        plan.aliases.emplace_back(aliasOf(kernel), kernel.symbol);
    plan.folder = folder.path();
    return plan;
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

core::Status linkTo(const std::string& path, const PackageInput& input, const LinkPlan& plan,
                    OutputFormat format)
{
    const core::Result<LinkJob> job = input.machine.backEnd->objects->linkJob(plan, format);
    if (!job) return job.error();
    return input.link ? input.link(*job, path) : link(*job, path);
}

/// What the linker made with the weights put in, written unless `path` holds it already.
core::Status writeFilled(const PackageInput& input, const LinkPlan& plan, OutputFormat format,
                         const DataSection& weights, const std::string& path, PackageReport& report)
{
    const std::string linked = plan.folder + "/linked.so";
    if (core::Status done = linkTo(linked, input, plan, format); !done) return done;
    core::Result<std::string> library = core::readFile(linked);
    if (!library) return library.error();
    const core::Result<FilledLibrary> filled = fillSection(*std::move(library), weights);
    if (!filled) return filled.error();
    report.isUnchanged = keepIfSame(filled->parts, path);
    if (report.isUnchanged) return core::kDone;
    return core::replaceFileAtomically(
        path, [&](const std::string& temporary) { return writeParts(filled->parts, temporary); });
}

/// The objects, and what describes them.
core::Status writeLibrary(const std::string& path, const PackageInput& input, const LinkPlan& plan,
                          const core::Manifest& manifest)
{
    CHECK(input.module) << "a Model Library Format archive holds the model";
    const auto texts = modelLibraryMembers({.program = input.program,
                                            .executor = input.executor,
                                            .manifest = manifest,
                                            .module = *input.module,
                                            .memory = input.memory,
                                            .exportedAt = exportTime()});
    if (!texts) return texts.error();
    std::vector<TarMember> members{{"./", ""}};
    for (size_t i = 0; i < plan.objects.size(); ++i)
        members.push_back(
            {"./codegen/host/lib/" + input.program.moduleName + "_lib" + std::to_string(i) + ".o",
             plan.objects[i]});
    for (const SourceFile& text : *texts) {
        const std::string part = plan.folder + "/library" + std::to_string(members.size());
        if (core::Status done = writePart(part, text.text); !done) return done;
        members.push_back({"./" + text.path, part});
    }
    return writeTar(path, members);
}

/// The parts joined into `path` in the form of the output.
core::Status joinParts(const PackageInput& input, const LinkPlan& plan, OutputFormat format,
                       const core::Manifest& manifest, const std::string& path)
{
    return core::replaceFileAtomically(path, [&](const std::string& temporary) {
        if (format == OutputFormat::Tar) return writeTar(temporary, tarMembers(plan.objects));
        if (format == OutputFormat::ModelLibrary)
            return writeLibrary(temporary, input, plan, manifest);
        return linkTo(temporary, input, plan, format);
    });
}

} // namespace

core::Result<PackageReport> writePackage(const PackageInput& input, OutputFormat format,
                                         const std::string& path)
{
    verifyProgram(input.program);
    const core::Result<const ArtifactForm*> form = formFor(input.machine, input.executor, format);
    if (!form) return form.error();
    PackageReport report;
    const core::Result<Parts> parts = makeParts(input, format, report);
    if (!parts) return parts.error();
    const core::Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-link-");
    if (!folder) return folder.error();
    const DataSection weights = weightsSection(input, **form);
    core::Result<std::vector<std::string>> objects =
        writeObjects(input, *parts, weights, *folder, report);
    if (!objects) return objects.error();

    report.exports = input.machine.backEnd->objects->exports(input.program, input.executor, format);
    const LinkPlan plan = linkPlan(input, *objects, report.exports, *folder);
    const auto linkStart = std::chrono::steady_clock::now();
    const core::Status written = weights.isReserved
                                     ? writeFilled(input, plan, format, weights, path, report)
                                     : joinParts(input, plan, format, report.manifest, path);
    if (!written) return written.error();
    report.linkMs = core::millisecondsSince(linkStart);
    std::error_code ignored;
    report.fileBytes = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    return report;
}

} // namespace tenon::compiler
