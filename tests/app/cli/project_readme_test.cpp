// SPDX-License-Identifier: Apache-2.0
// What a project tells whoever opens its folder, and the library that is there without make.
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

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
    for (const char* said : {"| input | `image` | float32 |", "arduino-builder", "Sketch > Include",
                             "create MODEL FOLDER --template arduino --target 'c",
                             "--target 'c -mcpu=cortex-m4'", "115200"})
        EXPECT_NE(readme.find(said), std::string::npos) << readme;
}

/// `make run` as the README has it: on the terminal, with zeros and with one's own bytes.
TEST(ProjectReadme, OfAHostProgramSaysHowToFeedAndReadIt)
{
    for (const char* tool : {"make", "cc", "od"}) {
        TENON_NEED_TOOL(tool);
    }
    const test::TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return folder.file(name); };
    ASSERT_TRUE(core::writeFileAtomically(
        path("small.txt"), "def @main(%x: Tensor[(1, 3), int8]) -> Tensor[(1, 3), int8] {\n"
                           "  %0 = add(%x, %x) : Tensor[(1, 3), int8]\n  return %0 as \"y\"\n}\n"));
    const Outcome made = tenon("project create " + path("small.txt") + " " + path("p") +
                               " --template crt-host 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    const auto makeRun = [&](const std::string& more) {
        return shell("make --no-print-directory -C " + path("p") + " run " + more + " 2>&1");
    };
    const Outcome zeros = makeRun("");
    EXPECT_EQ(zeros.code, 0) << zeros.output;
    EXPECT_NE(zeros.output.find("the inputs are zeros"), std::string::npos) << zeros.output;
    ASSERT_TRUE(core::writeFileAtomically(path("mine.bin"), std::string("\x07\xfb\x01", 3)));
    const Outcome mine = makeRun("INPUTS=" + path("mine.bin"));
    EXPECT_EQ(mine.code, 0) << mine.output;
    EXPECT_NE(mine.output.find("output y, int8, 1 x 3:\n   14  -10    2"), std::string::npos)
        << mine.output;
    ASSERT_TRUE(core::writeFileAtomically(path("mine.bin"), "longer"));
    const Outcome wrong = makeRun("INPUTS=" + path("mine.bin"));
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.output.find("INPUTS have 6 bytes; the model takes 3"), std::string::npos)
        << wrong.output;
    EXPECT_NE(core::readFile(path("p/README.md"))->find("INPUTS="), std::string::npos);
}

/// Whoever feeds bytes to a quantized model has to know what they stand for.
TEST(ProjectReadme, OfAQuantizedModelSaysScaleAndZeroPoint)
{
    const test::TemporaryFolder folder;
    test::TfliteWriter writer;
    const int x = writer.input("x", test::TfliteType::Int8, {1, 4}, {{0.5F}, {-7}});
    const int y = writer.output("y", test::TfliteType::Int8, {1, 4}, {{0.5F}, {-7}});
    writer.op("RELU", {x}, {y});
    const std::vector<std::byte> bytes = writer.file();
    ASSERT_TRUE(core::writeFileAtomically(
        folder.file("net.tflite"),
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    const Outcome made = tenon("project create " + folder.file("net.tflite") + " " +
                               folder.file("p") + " --template crt-host 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    const std::string readme = *core::readFile(folder.file("p/README.md"));
    for (const char* row : {"| input | `x` | int8 | 1 x 4 | (integer + 7) * 0.5 |",
                            "| output | `y` | int8 | 1 x 4 | (integer + 7) * 0.5 |"})
        EXPECT_NE(readme.find(row), std::string::npos) << readme;
}

} // namespace
} // namespace tenon::cli
