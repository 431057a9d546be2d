// SPDX-License-Identifier: Apache-2.0
// Writes a project aside and renames it, as source packages are.
#include "compiler/package/project_folder.h"

#include "compiler/package/source_package.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using core::DiagnosticCode;
using core::makeError;

constexpr int kVersion = 1;

core::Status checkEmpty(const std::string& folder)
{
    std::error_code failed;
    if (!fs::exists(folder, failed)) return core::kDone;
    if (fs::is_directory(folder, failed) && fs::is_empty(folder, failed)) return core::kDone;
    return makeError(DiagnosticCode::BadArgument,
                     core::quoted(folder) + " exists and holds something; name a new folder",
                     {.file = folder});
}

} // namespace

std::string projectText(const ProjectFacts& facts)
{
    const Json json{{"project_version", kVersion},
                    {"template", facts.project},
                    {"manifest", Json::parse(core::writeManifest(facts.manifest))}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

core::Result<ProjectFacts> readProject(const std::string& folder)
{
    const std::string path = folder + "/project.json";
    const auto text = core::readFile(path);
    if (!text)
        return makeError(DiagnosticCode::BadArgument,
                         core::quoted(folder) +
                             " holds no project; `tenon project create` makes one",
                         {.file = path});
    const auto bad = [&](const std::string& why) {
        return makeError(DiagnosticCode::BadArtifact, "project.json " + why, {.file = path});
    };
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return bad("is no JSON object");
    if (json.value("project_version", Json()) != kVersion) return bad("has an unknown version");
    const auto name = json.find("template");
    const auto manifest = json.find("manifest");
    if (name == json.end() || !name->is_string() || manifest == json.end())
        return bad("names no template or no model");
    auto read = core::parseManifest(manifest->dump());
    if (!read) {
        core::Diagnostic error = read.error();
        error.location.file = path;
        return error;
    }
    return ProjectFacts{name->get<std::string>(), std::move(*read)};
}

core::Status writeProjectFolder(const std::vector<SourceFile>& files,
                                const std::vector<SourceFile>& library, const std::string& folder)
{
    if (core::Status fine = checkEmpty(folder); !fine) return fine;
    std::string target = folder;
    while (target.size() > 1 && target.back() == '/') target.pop_back();
    const auto beside = core::TemporaryFolder::makeBeside(target);
    if (!beside) return core::withoutBeside(beside.error(), target);
    const std::string fresh = beside->file("new");
    core::Status written = writeSourceTree(files, fresh);
    if (written) written = writeSourceArchive(library, fresh + "/model.tar");
    if (!written) return core::withoutBeside(written.error(), target);
    std::error_code failed;
    fs::permissions(fresh, static_cast<fs::perms>(0755), failed);
    fs::remove(target, failed); // empty, or not there
    fs::rename(fresh, target, failed);
    if (!failed) return core::kDone;
    return makeError(DiagnosticCode::IoFailure,
                     "cannot write " + core::quoted(target) + ": " + failed.message());
}

} // namespace tenon::compiler
