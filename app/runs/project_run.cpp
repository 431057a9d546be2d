// SPDX-License-Identifier: Apache-2.0
// make, and the files around a program's run.
#include "app/runs/project_run.h"

#include "compiler/codegen/back_end.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/tool.h"

#include <cstring>
#include <filesystem>

namespace tenon::runs {
namespace {

namespace fs = std::filesystem;

/// One inference, nothing measured, and the bytes of the inputs.
Status writeRequest(const Project& project, const remote::NamedTensors& inputs)
{
    const int32_t counts[] = {1, 0, 0};
    std::string request(reinterpret_cast<const char*>(counts), sizeof counts);
    for (const auto& [name, tensor] : inputs) {
        const auto bytes = tensor.bytes();
        request.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    std::error_code ignored;
    fs::create_directories(project.folder + "/build", ignored);
    fs::remove(project.file("output"), ignored);
    return writeFileAtomically(project.file("request"), request);
}

Result<std::vector<Tensor>> readOutputs(const Project& project)
{
    const auto bytes = readFile(project.file("output"));
    if (!bytes) return bytes.error();
    std::vector<Tensor> out;
    size_t at = 0;
    for (const ManifestTensor& spec : project.facts.manifest.outputs) {
        const auto dtype = parseDataType(spec.dtype);
        if (!dtype) return dtype.error();
        const auto size = static_cast<size_t>(elementCount(spec.shape) * dtype->bytes());
        if (size > bytes->size() - at)
            return makeError(DiagnosticCode::BoardFailure, "the run wrote too few outputs",
                             {.file = project.file("output")});
        out.push_back(Tensor::make(*dtype, spec.shape, [&](std::span<std::byte> to) {
            if (size > 0) std::memcpy(to.data(), bytes->data() + at, size);
        }));
        at += size;
    }
    return out;
}

} // namespace

Result<Project> openProject(const std::string& folder)
{
    auto facts = compiler::readProject(folder);
    if (!facts) return facts.error();
    const auto project = compiler::projectTemplate(facts->project);
    if (!project) return project.error();
    return Project{folder, std::move(*facts), *project};
}

Status needTools(const Project& project, std::span<const compiler::ProjectTool> tools)
{
    for (const compiler::ProjectTool& tool : tools)
        if (!hasTool(std::string(tool.program)))
            return makeError(DiagnosticCode::UnsupportedFeature,
                             std::string(tool.program) + " is not installed, which projects of " +
                                 core::quoted(project.facts.project) + " need; install " +
                                 std::string(tool.from),
                             {.file = project.folder});
    return kDone;
}

Result<std::string> makeProject(const Project& project, const std::string& what)
{
    if (Status found = needTools(project, project.project->buildTools); !found)
        return found.error();
    if (what != "all")
        if (Status found = needTools(project, project.project->runTools); !found)
            return found.error();
    auto done = runTool({"make", "-C", project.folder, "--no-print-directory", what});
    if (done) return done;
    Diagnostic error = done.error();
    error.location.file = project.folder + "/Makefile";
    return error;
}

Result<std::vector<Tensor>> runProject(const Project& project, const remote::NamedTensors& inputs)
{
    if (Status written = writeRequest(project, inputs); !written) return written.error();
    if (const auto ran = makeProject(project, "run"); !ran) return ran.error();
    return readOutputs(project);
}

} // namespace tenon::runs
