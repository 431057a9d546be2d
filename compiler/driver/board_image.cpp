// SPDX-License-Identifier: Apache-2.0
// What is asked of a board's project, and make.
#include "compiler/driver/board_image.h"

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/image_mark.h"
#include "compiler/package/project_folder.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/tool.h"

#include <filesystem>

namespace tenon::compiler {

Result<const ProjectTemplate*> boardTemplate(const std::string& folder, const Target& target)
{
    const auto facts = readProject(folder);
    if (!facts) return facts.error();
    const auto project = projectTemplate(facts->project);
    if (!project) return project.error();
    if (!(*project)->serves)
        return makeError(DiagnosticCode::BadArgument,
                         "projects of " + core::quoted(facts->project) +
                             " have no server to run a model on a board",
                         {.file = folder});
    const auto theirs = parseTarget(facts->manifest.target);
    if (theirs && theirs->mcpu != target.mcpu)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "the board's project is for " + core::quoted(theirs->text()) +
                             ", the model for " + core::quoted(target.text()) +
                             "; compile for the board's -mcpu, or give the board another project",
                         {.file = folder, .detail = "mcpu"});
    return *project;
}

namespace {

/// `make server-image` in the folder; the image, which carries the manifest, becomes `path`.
Status linkImage(const std::string& folder, const ProjectTemplate& project,
                 const std::string& manifest, const std::string& path)
{
    for (const ProjectTool& tool : project.buildTools)
        if (!core::hasTool(std::string(tool.program)))
            return makeError(DiagnosticCode::UnsupportedFeature,
                             std::string(tool.program) +
                                 " is not installed, which the board's project needs; install " +
                                 std::string(tool.from),
                             {.file = folder});
    const std::string described = folder + "/manifest.json";
    if (Status written = core::writeFileAtomically(described, manifest); !written) return written;
    const auto made = core::runTool({"make", "-s", "-C", folder, "--no-print-directory",
                                     "server-image", "OUT=" + path, "MANIFEST=" + described});
    return made ? Status(kDone) : Status(made.error());
}

} // namespace

Result<PackageReport> writeForBoard(const CompileResult& result, const std::string& path,
                                    const std::string& boardProject)
{
    if (boardProject.empty()) return writeArtifact(result, path);
    if (!result.machine.backEnd->sources)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "a board on a serial line takes C source, not code for " +
                             core::quoted(result.target.text()) + "; compile for its own target");
    const auto project = boardTemplate(boardProject, result.target);
    if (!project) return project.error();
    const auto folder = core::TemporaryFolder::make("tenon-link-");
    if (!folder) return folder.error();
    const std::string place = folder->file("project");
    if (Status written = writeBoardProject(result, **project, place, boardProject); !written)
        return written.error();
    const auto facts = readProject(place);
    if (!facts) return facts.error();
    PackageReport report;
    report.manifest = facts->manifest;
    const auto start = std::chrono::steady_clock::now();
    const Status linked = core::replaceFileAtomically(path, [&](const std::string& temporary) {
        return linkImage(place, **project, core::writeManifest(report.manifest), temporary);
    });
    if (!linked) return linked.error();
    report.linkMs = core::millisecondsSince(start);
    std::error_code ignored;
    report.fileBytes = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    return report;
}

Result<std::string> imageName(const std::string& path)
{
    constexpr size_t kDigits = 32;
    const auto file = core::MappedFile::open(path);
    if (!file) return file.error();
    const auto bytes = (*file)->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (size_t at = text.find(kImageMark); at != std::string_view::npos;
         at = text.find(kImageMark, at + 1)) {
        const std::string_view name = text.substr(at + kImageMark.size(), kDigits);
        const bool isName = name.size() == kDigits &&
                            name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
        if (isName) return std::string(kImageMark) + std::string(name);
    }
    return std::string();
}

} // namespace tenon::compiler
