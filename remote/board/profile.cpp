// SPDX-License-Identifier: Apache-2.0
// Reading the profiles of resources/boards.
#include "remote/board/profile.h"

#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tenon::remote {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
namespace fs = std::filesystem;

namespace {

/// A block of lines, written in JSON as a list.
std::string lines(const nlohmann::json& list)
{
    std::string out;
    for (const nlohmann::json& line : list) out += line.get<std::string>() + "\n";
    return out;
}

void readEmulation(const nlohmann::json& json, Emulation& out)
{
    out.program = json.at("program");
    out.machine = json.value("machine", "");
    if (!out.machine.empty()) return;
    out.architecture = json.at("architecture");
    out.cpu = json.at("cpu");
    out.release = json.at("release");
    out.cpuinfo = lines(json.at("cpuinfo"));
    out.cpuinfoTail = lines(json.at("cpuinfo_tail"));
}

Result<BoardProfile> readProfile(const fs::path& path)
{
    const Result<std::string> text = core::readFile(path.string());
    if (!text) return text.error();
    try {
        const auto json = nlohmann::json::parse(*text);
        BoardProfile out{.name = path.stem().string(),
                         .title = json.at("title"),
                         .target = json.at("target"),
                         .system = json.at("system"),
                         .cores = json.at("cores"),
                         .ramBytes = json.at("ram_bytes"),
                         .flashBytes = json.value("flash_bytes", int64_t{0})};
        if (const auto found = json.find("emulation"); found != json.end())
            readEmulation(*found, out.emulation);
        return out;
    } catch (const nlohmann::json::exception& error) {
        return makeError(DiagnosticCode::BadText, error.what(), {.file = path.string()});
    }
}

} // namespace

Result<std::vector<BoardProfile>> boardProfiles()
{
    std::vector<BoardProfile> out;
    std::error_code failed;
    const std::string folder = core::shippedFile("boards");
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        if (entry.path().extension() != ".json") continue;
        Result<BoardProfile> profile = readProfile(entry.path());
        if (!profile) return profile.error();
        out.push_back(std::move(*profile));
    }
    if (failed)
        return makeError(DiagnosticCode::IoFailure, "cannot read the board profiles",
                         {.file = folder});
    std::sort(out.begin(), out.end(),
              [](const BoardProfile& a, const BoardProfile& b) { return a.name < b.name; });
    return out;
}

Result<BoardProfile> findProfile(const std::string& name)
{
    const Result<std::vector<BoardProfile>> all = boardProfiles();
    if (!all) return all.error();
    std::vector<std::string> names;
    for (const BoardProfile& each : *all) {
        if (each.name == name) return each;
        names.push_back(each.name);
    }
    return makeError(DiagnosticCode::UnknownName,
                     "there is no board profile " + core::quoted(name) + "; did you mean " +
                         core::join(core::nearestNames(name, names, 3), ", "));
}

} // namespace tenon::remote
