// SPDX-License-Identifier: Apache-2.0
// Environment variables and PATH look-ups; the only place in the tests that reads them.
#include "tests/support/environment.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tenon::test {
namespace {

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

} // namespace

std::string sourcePath(const std::string& relative)
{
    return std::string(TENON_SOURCE_DIR) + "/" + relative;
}

bool shouldUpdateExpected() { return variable("UPDATE_EXPECTED") == "1"; }

std::string dataPath(const std::string& relative)
{
    const std::string root = variable("TENON_TEST_DATA");
    if (root.empty()) return "";
    const std::string path = root + "/" + relative;
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? path : "";
}

std::string toolPath(const std::string& name)
{
    // Debian's spellings of the same program.
    const std::string spellings[] = {name, name + "-static", name == "xvfb" ? "Xvfb" : name};
    for (const std::string& folder : core::split(variable("PATH") + ":/usr/sbin:/sbin", ':')) {
        for (const std::string& spelling : spellings) {
            const std::string path = folder + "/" + spelling;
            if (!folder.empty() && ::access(path.c_str(), X_OK) == 0) return path;
        }
    }
    return "";
}

bool isRequired(const std::string& name)
{
    std::string list = variable("TENON_REQUIRE");
    for (char& c : list)
        if (c == ' ' || c == ';') c = ',';
    for (const std::string& entry : core::split(list, ','))
        if (entry == name) return true;
    return false;
}

std::string missingTool(const std::string& name)
{
    return toolPath(name).empty() ? "SKIP: " + name + " is not installed" : "";
}

std::string missingData(const std::string& relative)
{
    if (variable("TENON_TEST_DATA").empty()) return "SKIP: TENON_TEST_DATA is not set";
    return dataPath(relative).empty() ? "SKIP: TENON_TEST_DATA has no " + relative : "";
}

std::string missingEmulatedSystem()
{
    const std::string configured = variable("XDG_CACHE_HOME");
    const std::string base = configured.empty() ? variable("HOME") + "/.cache" : configured;
    std::error_code failed;
    for (const auto& entry :
         std::filesystem::directory_iterator(base + "/tenon/packages-arm64/archives", failed))
        if (entry.path().extension() == ".deb") return "";
    return "SKIP: the packages of the emulated system are not in the cache; ./dev test fetches "
           "them";
}

TemporaryFolder::TemporaryFolder()
{
    const std::filesystem::path base = std::filesystem::temp_directory_path();
    m_path = (base / "tenon-test-XXXXXX").string();
    CHECK(::mkdtemp(m_path.data()) != nullptr) << m_path;
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

} // namespace tenon::test
