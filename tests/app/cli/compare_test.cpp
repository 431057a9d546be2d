// SPDX-License-Identifier: Apache-2.0
// tenon compare: what it prints and writes, and its exit codes.
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/support/rpc_server.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

const std::string kDigits = test::sourcePath("resources/sample/digits");

TEST(CompareCommand, FindsTheSampleWithinTolerance)
{
    const Outcome out = tenon("compare " + kDigits + " 2>&1");
    EXPECT_EQ(out.code, 0) << out.output;
    EXPECT_NE(out.output.find("every tensor is within tolerance"), std::string::npos);
    EXPECT_NE(out.output.find("3 data sets"), std::string::npos);
}

TEST(CompareCommand, TellsEveryTensorAsJsonAndCsv)
{
    const test::TemporaryFolder folder;
    const Outcome out = tenon("compare " + kDigits + "/model.onnx --executor graph --json --csv " +
                              folder.file("errors.csv"));
    ASSERT_EQ(out.code, 0);
    const json said = json::parse(out.output);
    EXPECT_EQ(said["executor"], "graph");
    EXPECT_TRUE(said["first_outside"].is_null());
    ASSERT_FALSE(said["tensors"].empty());
    for (const json& tensor : said["tensors"]) {
        EXPECT_FALSE(tensor["nodes"].empty());
        EXPECT_TRUE(tensor.contains("isolated"));
        EXPECT_FALSE(tensor["cumulative"]["is_outside"]);
    }
    std::ifstream file(folder.file("errors.csv"));
    std::stringstream csv;
    csv << file.rdbuf();
    const std::string text = csv.str();
    EXPECT_TRUE(text.starts_with("call,tensor,type,kernel,"));
    EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
              said["tensors"].size() + 1);
}

TEST(CompareCommand, NamesTheFirstTensorOutside)
{
    // No float network keeps so many decibels.
    const Outcome out = tenon("compare " + kDigits + " --min-sqnr 1000 2>&1");
    EXPECT_EQ(out.code, 1);
    EXPECT_NE(out.output.find("the first tensor outside tolerance is"), std::string::npos);
    EXPECT_NE(out.output.find("isolated"), std::string::npos);
}

TEST(CompareCommand, TellsWhatRoundingAloneMoves)
{
    const test::TemporaryFolder folder;
    const Outcome out = tenon("compare " + kDigits + " --noise --min-sqnr 1000 --csv " +
                              folder.file("errors.csv") + " 2>&1");
    EXPECT_EQ(out.code, 1);
    EXPECT_NE(out.output.find("noise dB"), std::string::npos) << out.output;
    EXPECT_NE(out.output.find("sums in another order alone move"), std::string::npos);
    EXPECT_NE(out.output.find("  noise       "), std::string::npos);
    std::ifstream file(folder.file("errors.csv"));
    std::string titles;
    std::getline(file, titles);
    EXPECT_TRUE(titles.ends_with(",noise_sqnr_db,noise_outside")) << titles;
}

TEST(CompareCommand, MakesUpInputsAndLeavesOutWhatIsNotAsked)
{
    const test::TemporaryFolder folder;
    ASSERT_EQ(shell("cp " + kDigits + "/model.onnx " + folder.file("model.onnx")).code, 0);
    const Outcome out =
        tenon("compare " + folder.file("model.onnx") + " --no-isolated --absorbed 2>&1");
    EXPECT_EQ(out.code, 0) << out.output;
    EXPECT_NE(out.output.find("the inputs are made up"), std::string::npos);
    EXPECT_NE(out.output.find("inside of"), std::string::npos);
}

TEST(CompareCommand, RunsOnABoardInPieces)
{
    const test::TemporaryFolder folder;
    const test::RpcServer server({});
    const std::string config = " --config " + folder.path();
    ASSERT_EQ(tenon("board add lab --rpc 127.0.0.1:" + std::to_string(server.port()) + config).code,
              0);
    const Outcome out = tenon("compare " + kDigits + " --board lab --piece 8KiB --json" + config);
    ASSERT_EQ(out.code, 0) << out.output;
    const json said = json::parse(out.output);
    EXPECT_EQ(said["place"], "on board `lab`");
    EXPECT_GT(said["builds"], 2);
    EXPECT_TRUE(said["first_outside"].is_null());
}

TEST(CompareCommand, RunsOnAnEmulatedMicrocontroller)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    const Outcome out = tenon("compare " + kDigits + " --inputs " + kDigits +
                              "/test_data_set_0 --target 'c -mcpu=cortex-m4' --json");
    ASSERT_EQ(out.code, 0) << out.output;
    const json said = json::parse(out.output);
    EXPECT_EQ(said["sets"], 1);
    EXPECT_TRUE(said["first_outside"].is_null());
}

TEST(CompareCommand, TakesTensorsOfAFileForTheReference)
{
    // The outputs of another image: everything else is computed from what the reference has.
    const std::string data = kDigits + "/test_data_set_0";
    const test::TemporaryFolder folder;
    ASSERT_EQ(tenon("run " + kDigits + "/model.onnx --inputs " + kDigits +
                    "/test_data_set_1 --outputs " + folder.path())
                  .code,
              0);
    const std::string compare = "compare " + kDigits + " --inputs " + data + " --reference ";
    const Outcome same = tenon(compare + data + "/output_0.pb 2>&1");
    EXPECT_EQ(same.code, 0) << same.output;
    const Outcome other = tenon(compare + folder.file("output_0.pb") + " 2>&1");
    EXPECT_EQ(other.code, 1);
    EXPECT_NE(other.output.find("the first tensor outside tolerance is `probabilities`"),
              std::string::npos)
        << other.output;
    const Outcome none = tenon(compare + data + "/input_0.pb 2>&1");
    EXPECT_NE(none.output.find("no tensor of the reference has the name"), std::string::npos);
    EXPECT_NE(tenon("compare " + kDigits + " --reference " + data + "/output_0.pb 2>&1").code, 0)
        << "three data sets, one reference";
}

TEST(CompareCommand, TakesAQuantizedModelForItsOwnReference)
{
    // Integers go by the names of real values, too, which come first.
    const test::TemporaryFolder folder;
    const std::string model = folder.file("q.onnx"), data = kDigits + "/test_data_set_0";
    ASSERT_EQ(tenon("quantize " + kDigits + "/model.onnx --data " + kDigits + " -o " + model +
                    " --target 'llvm -mcpu=x86-64-v3'")
                  .code,
              0);
    const Outcome out =
        tenon("compare " + model + " --inputs " + data + " --reference " + model + " --json");
    ASSERT_EQ(out.code, 0) << out.output;
    EXPECT_TRUE(json::parse(out.output)["first_outside"].is_null()) << out.output;
}

TEST(CompareCommand, TakesOnnxRuntimeForTheReference)
{
    const char* library = std::getenv("TENON_ONNXRUNTIME");
    TENON_NEED(library && *library, "onnxruntime", "TENON_ONNXRUNTIME names no library");
    const Outcome out = tenon("compare " + kDigits + " --reference onnxruntime 2>&1");
    EXPECT_EQ(out.code, 0) << out.output;
    EXPECT_NE(out.output.find("against ONNX Runtime"), std::string::npos);
}

TEST(CompareCommand, RefusesWhatItCannotCompare)
{
    const test::TemporaryFolder folder;
    const Outcome empty = tenon("compare " + folder.path() + " 2>&1");
    EXPECT_NE(empty.code, 0);
    EXPECT_NE(empty.output.find("the folder holds no model"), std::string::npos);
    const Outcome unfit =
        tenon("compare " + kDigits + " --inputs " + kDigits + "/test_data_set_0/output_0.pb 2>&1");
    EXPECT_NE(unfit.code, 0);
}

} // namespace
} // namespace tenon::cli
