// SPDX-License-Identifier: Apache-2.0
// What a test may find around it: source tree, outside data, tools, a folder of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::test {

/// Absolute path of a file of the source tree.
std::string sourcePath(const std::string& relative);

/// True under UPDATE_EXPECTED=1: golden files are rewritten instead of compared.
bool shouldUpdateExpected();

/// Path below TENON_TEST_DATA; "" when the variable is unset or the path does not exist.
std::string dataPath(const std::string& relative);

/// Full path of a program on PATH (or in /usr/sbin, /sbin); "" when there is none. `qemu-aarch64`
/// also finds the static build, `xvfb` finds Xvfb.
std::string toolPath(const std::string& name);

/// True when TENON_REQUIRE (names separated by commas or blanks) lists `name`.
bool isRequired(const std::string& name);

/// Runs nothing: "" when present, else the reason to skip ("SKIP: qemu-aarch64 is not installed").
std::string missingTool(const std::string& name);
std::string missingData(const std::string& relative);
/// The packages of the emulated board, which ./dev test fetches: tests use no network.
std::string missingEmulatedSystem();

/// Creates an empty folder for this test and removes it at the end of its scope.
class TemporaryFolder
{
public:
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return m_path; }
    std::string file(const std::string& name) const { return m_path + "/" + name; }

private:
    std::string m_path;
};

} // namespace tenon::test

/// First line of a test that needs a program: skips it with the program's name, or fails when
/// TENON_REQUIRE lists it. A macro because GTEST_SKIP must stand in the test's own body.
#define TENON_NEED_TOOL(name)                                                                      \
    if (const std::string reason_ = ::tenon::test::missingTool(name); !reason_.empty()) {          \
        ASSERT_FALSE(::tenon::test::isRequired(name)) << reason_;                                  \
        GTEST_SKIP() << reason_;                                                                   \
    }

/// The same for what is neither a program nor data: `name` is what TENON_REQUIRE calls it.
#define TENON_NEED(isThere, name, reason)                                                          \
    if (!(isThere)) {                                                                              \
        ASSERT_FALSE(::tenon::test::isRequired(name)) << (reason);                                 \
        GTEST_SKIP() << "SKIP: " << (reason);                                                      \
    }

/// The operator cases that Debian ships; required by the name of their package.
#define TENON_NEED_OPERATOR_CASES(folder)                                                          \
    TENON_NEED(std::filesystem::is_directory(folder), "libonnx-testdata",                          \
               "libonnx-testdata is not installed")

/// The same for a path below TENON_TEST_DATA; required by the name "data".
#define TENON_NEED_DATA(relative)                                                                  \
    if (const std::string reason_ = ::tenon::test::missingData(relative); !reason_.empty()) {      \
        ASSERT_FALSE(::tenon::test::isRequired("data")) << reason_;                                \
        GTEST_SKIP() << reason_;                                                                   \
    }
