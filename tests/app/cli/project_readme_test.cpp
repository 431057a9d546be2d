// SPDX-License-Identifier: Apache-2.0
// What a project tells whoever opens its folder, and the library that is there without make.
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tenon::cli {
namespace {

/// The Arduino IDE takes the library as it was written; make is not needed for it.
TEST(ProjectReadme, OfArduinoSaysWhatToDoWithTheLibrary)
{
    const test::TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return folder.file(name); };
    const Outcome made =
        tenon("project create " + test::sourcePath("resources/sample/digits/model.onnx") + " " +
              path("a") + " --template arduino 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    size_t files = 0;
    for (const char* part : {"src", "include"})
        for (const auto& file :
             std::filesystem::directory_iterator(path("a/model/codegen/host/") + part)) {
            const auto copy = core::readFile(path("a/libraries/tenon_model/src/") +
                                             file.path().filename().string());
            ASSERT_TRUE(copy) << file.path();
            EXPECT_EQ(*copy, *core::readFile(file.path().string()));
            ++files;
        }
    EXPECT_GE(files, 2u);
    const std::string readme = *core::readFile(path("a/README.md"));
    for (const char* said :
         {"| input | `image` | float32 |", "arduino-builder", "Sketch > Include"})
        EXPECT_NE(readme.find(said), std::string::npos) << readme;
}

} // namespace
} // namespace tenon::cli
