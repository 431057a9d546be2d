// SPDX-License-Identifier: Apache-2.0
// tenon footprint --board: fits or does not, with sums that agree with one another.
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

class FitOnBoard : public testing::Test
{
protected:
    void add(const std::string& profile)
    {
        const Outcome added = on("board add --virtual " + profile);
        ASSERT_EQ(added.code, 0) << added.output;
    }
    Outcome on(const std::string& words) const
    {
        return tenon(words + " --config " + m_folder.file("config") + " 2>/dev/null");
    }
    static std::string sample() { return test::sourcePath("resources/sample/digits/model.onnx"); }

    test::TemporaryFolder m_folder;
};

TEST_F(FitOnBoard, SumsUpWhatItLists)
{
    for (const char* tool : {"arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    add("mps2-an386");
    const Outcome done = on("footprint " + sample() + " --board mps2-an386 --json");
    ASSERT_EQ(done.code, 0) << done.output;
    const json all = json::parse(done.output), &fit = all["fit"];
    EXPECT_EQ(fit["fits"], true);
    EXPECT_EQ(fit["linked"], true);
    const json& image = all["executors"].back(); // aot-c
    EXPECT_EQ(fit["flash_bytes"], image["flash"]["total"]);
    EXPECT_EQ(fit["ram_bytes"], image["ram"]["total"]);
    int64_t weights = 0, code = 0, memory = 0, peak = 0;
    for (const json& layer : fit["layers"]) {
        weights += layer["weight_bytes"].get<int64_t>();
        code += layer["code_bytes"].get<int64_t>();
    }
    EXPECT_EQ(weights, image["flash"]["constants"]);
    EXPECT_GT(code, 500);
    EXPECT_LT(code, 2 * image["flash"]["kernels"].get<int64_t>());
    for (const json& part : fit["memory"]) memory += part["bytes"].get<int64_t>();
    EXPECT_EQ(memory, fit["ram_bytes"]);
    for (const json& buffer : fit["peak"]["buffers"]) peak += buffer["bytes"].get<int64_t>();
    EXPECT_GT(peak, 0);
    EXPECT_LE(fit["peak"]["bytes"], image["ram"]["workspace"]);
    EXPECT_NE(fit["verdict"].get<std::string>().find("fits `mps2-an386`"), std::string::npos);
}

TEST_F(FitOnBoard, SaysWhyNotAndWhatWouldHelp)
{
    for (const char* tool : {"arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    add("mps3-an547");
    const std::string large = m_folder.file("large.txt");
    std::ofstream(large)
        << "def @main(%x: Tensor[(1, 16, 64, 64), float32]) -> Tensor[(1, 16, 64, 64), float32] "
           "{\n  %0 = nn.relu(%x) : Tensor[(1, 16, 64, 64), float32]\n"
           "  %1 = nn.softmax(%0) : Tensor[(1, 16, 64, 64), float32]\n  return %1 as \"y\"\n}\n";
    const Outcome done = on("footprint " + large + " --board mps3-an547 --json");
    EXPECT_EQ(done.code, 1) << done.output;
    const json fit = json::parse(done.output)["fit"];
    EXPECT_EQ(fit["fits"], false);
    EXPECT_EQ(fit["linked"], false); // said before anything is linked
    EXPECT_GE(fit["ram_bytes"], 2 * 16 * 64 * 64 * 4);
    json integers, board;
    for (const json& remedy : fit["remedies"]) {
        if (remedy["what"] == "integers of 8 bits") integers = remedy;
        if (remedy["what"].get<std::string>().starts_with("another board")) board = remedy;
    }
    ASSERT_TRUE(integers.is_object()) << fit["remedies"];
    EXPECT_EQ(integers["ram_bytes"].get<int64_t>() * 4, fit["ram_bytes"].get<int64_t>());
    EXPECT_EQ(integers["fits"], true);
    ASSERT_TRUE(board.is_object()) << fit["remedies"];
    EXPECT_EQ(board["fits"], true);
    const Outcome text = on("footprint " + large + " --board mps3-an547");
    EXPECT_NE(text.output.find("does not fit `mps3-an547`"), std::string::npos) << text.output;
    EXPECT_NE(text.output.find("what would change it"), std::string::npos) << text.output;
}

/// Planned, not guessed: what is said of it is what a compile with it needs.
TEST_F(FitOnBoard, PricesPatchWiseExecution)
{
    for (const char* tool : {"arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    TENON_NEED_DATA("models/mlperftiny-vww-mobilenetv1-int8/model.onnx");
    add("mps2-an386");
    const std::string model = test::dataPath("models/mlperftiny-vww-mobilenetv1-int8/model.onnx");
    const std::string ask = "footprint " + model + " --board mps2-an386 --json";
    const Outcome whole = on(ask + " --pass-config fuse_rows=0");
    ASSERT_EQ(whole.code, 0) << whole.output;
    const json fit = json::parse(whole.output)["fit"];
    json patches;
    for (const json& remedy : fit["remedies"])
        if (remedy["what"] == "patch-wise execution") patches = remedy;
    ASSERT_TRUE(patches.is_object()) << fit["remedies"];
    EXPECT_LT(patches["ram_bytes"], fit["ram_bytes"]);
    const json usual = json::parse(on(ask).output);
    const auto workspace = [](const json& said) {
        return said["executors"].back()["ram"]["workspace"].get<int64_t>();
    };
    const json before = json::parse(whole.output);
    EXPECT_EQ(fit["ram_bytes"].get<int64_t>() - patches["ram_bytes"].get<int64_t>(),
              workspace(before) - workspace(usual));
}

/// A compile that is refused says whose the largest constants and buffers are.
TEST_F(FitOnBoard, NamesTheLayersOfWhatIsLargest)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_DATA("exported/mobilenet_v2/model.onnx");
    const Outcome large =
        tenon("compile " + test::dataPath("exported/mobilenet_v2/model.onnx") +
              " --target 'c -mcpu=cortex-m55' -o " + m_folder.file("m.elf") + " 2>&1");
    EXPECT_NE(large.code, 0);
    EXPECT_NE(large.output.find("of `dense"), std::string::npos) << large.output;
    const size_t buffer = large.output.find("in the workspace `");
    ASSERT_NE(buffer, std::string::npos) << large.output;
    EXPECT_NE(large.output.find("` of `conv", buffer), std::string::npos) << large.output;
}

/// Not by the kernel's name alone, which is made of a hash.
TEST_F(FitOnBoard, NamesTheNodeWhoseTypeCHasNot)
{
    TENON_NEED_DATA("models/squeezenet1-fp16/model.onnx");
    const Outcome half =
        tenon("compile " + test::dataPath("models/squeezenet1-fp16/model.onnx") +
              " --target 'c -mcpu=cortex-m4' -o " + m_folder.file("m.tar") + " 2>&1");
    EXPECT_NE(half.code, 0);
    EXPECT_NE(half.output.find("convert the model to float32 at node '"), std::string::npos)
        << half.output;
}

TEST_F(FitOnBoard, NeedsABudget)
{
    const Outcome done = tenon("footprint " + sample() + " --board local --config " +
                               m_folder.file("config") + " 2>&1");
    EXPECT_NE(done.code, 0);
    EXPECT_NE(done.output.find("no budget of flash and RAM is known"), std::string::npos)
        << done.output;
}

} // namespace
} // namespace tenon::cli
