// SPDX-License-Identifier: Apache-2.0
// tenon bench: what it tells of each call, and the comparison with a peer.
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <set>

namespace tenon::cli {
namespace {

using nlohmann::json;

class Bench : public ::testing::Test
{
protected:
    std::string model()
    {
        std::ofstream(m_folder.file("dscnn.onnx"), std::ios::binary)
            << test::makeDscnn({.channelDivisor = 4});
        return m_folder.file("dscnn.onnx");
    }
    test::TemporaryFolder m_folder;
};

TEST_F(Bench, TellsHowEachCallWorksAndHowNearItsBoundItIs)
{
    const Outcome benched = tenon("bench --json --per-layer --repeat 3 --threads 1 " + model());
    ASSERT_EQ(benched.code, 0);
    const json measured = json::parse(benched.output);
    EXPECT_GT(measured["peak"]["fp32_gflops_per_core"], 0);
    bool hasDepthwise = false, hasTitles = false;
    for (const json& layer : measured["layers"]) {
        hasDepthwise |= layer["method"] == "depthwise";
        if (layer["method"] == "") {
            EXPECT_NE(layer.value("bound", "memory"), "compute");
        } else {
            EXPECT_GT(layer["bound_ms"], 0);
        }
        EXPECT_LE(layer.value("bound_share", 0.0), 1);
        const std::string name = layer["name"];
        hasTitles |= name.find("dw 3x3") != std::string::npos;
        EXPECT_EQ(name.find("fused"), std::string::npos) << name;
        EXPECT_EQ(std::string(layer["symbol"]).rfind("k_", 0), 0u);
    }
    EXPECT_TRUE(hasTitles) << benched.output;
    for (const json& rate : measured["peak"]["bandwidth"]) EXPECT_GT(rate["copy_gb_s"], 0);
    EXPECT_GE(measured["peak"]["bandwidth"].size(), 2u);
    EXPECT_TRUE(hasDepthwise) << benched.output;
    EXPECT_TRUE(measured["peers"].empty());
    EXPECT_FALSE(measured.contains("ratio"));
}

TEST_F(Bench, WritesTheTimesOfAllCallsAsATrace)
{
    const std::string trace = m_folder.file("times.json");
    const Outcome benched =
        tenon("bench --json --per-layer --repeat 3 --threads 1 --trace " + trace + " " + model());
    ASSERT_EQ(benched.code, 0);
    const json layers = json::parse(benched.output)["layers"];
    std::ifstream file(trace);
    const json written = json::parse(file);
    double start = 0;
    size_t call = 0;
    for (const json& event : written["traceEvents"]) {
        if (event.value("cat", "") != "kernel") continue;
        ASSERT_LT(call, layers.size());
        EXPECT_EQ(event["name"], layers[call]["name"]);
        EXPECT_EQ(event["args"]["nodes"], layers[call]["from_nodes"]);
        EXPECT_NEAR(event["dur"], 1000 * layers[call]["ms"].get<double>(), 1e-9);
        EXPECT_NEAR(event["ts"], start, 1e-6);
        start += event["dur"].get<double>();
        ++call;
    }
    EXPECT_EQ(call, layers.size());
    EXPECT_EQ(tenon("bench --levels --trace " + trace + " " + model()).code, 2);
}

TEST_F(Bench, TellsWhatSeveralPassesMadeTogether)
{
    const Outcome all = tenon("passes --json --from imported " + model());
    ASSERT_EQ(all.code, 0);
    const json composed = json::parse(all.output);
    EXPECT_EQ(composed["from"], "imported");
    std::set<int> from, to;
    bool hasFusion = false;
    for (const json& change : composed["changes"]) {
        for (const json& node : change["from"])
            EXPECT_TRUE(from.insert(node["node"].get<int>()).second); // each node once
        for (const json& node : change["to"])
            EXPECT_TRUE(to.insert(node["node"].get<int>()).second);
        hasFusion |= change["from"].size() > 1 && change["to"].size() == 1;
    }
    EXPECT_TRUE(hasFusion);
    const Outcome part = tenon("passes --from FuseOps --to FuseOps " + model());
    ASSERT_EQ(part.code, 0);
    EXPECT_NE(part.output.find("0 changes"), std::string::npos) << part.output;
    EXPECT_EQ(tenon("passes --from NoSuchPass " + model()).code, 4);
    EXPECT_EQ(tenon("passes --from FuseOps --to SimplifyInference " + model()).code, 2);
}

TEST_F(Bench, ComparesTheOptimizationLevels)
{
    const Outcome benched = tenon("bench --json --levels --repeat 3 --threads 1 " + model());
    ASSERT_EQ(benched.code, 0);
    const json measured = json::parse(benched.output);
    ASSERT_EQ(measured["levels"].size(), 4u);
    for (int level = 0; level < 4; ++level) {
        const json& row = measured["levels"][static_cast<size_t>(level)];
        EXPECT_EQ(row["level"], level);
        EXPECT_GT(row["median_ms"], 0);
        EXPECT_EQ(row["samples"], 3);
        const Outcome compiled =
            tenon("compile --json --threads 1 --opt-level " + std::to_string(level) + " " +
                  model() + " -o " + m_folder.file("level.so"));
        ASSERT_EQ(compiled.code, 0);
        const json there = json::parse(compiled.output);
        EXPECT_EQ(row["call_count"], there["call_count"]);
        EXPECT_EQ(row["kernel_count"], there["kernel_count"]);
        EXPECT_EQ(row["file_bytes"], there["file_bytes"]);
        EXPECT_EQ(row["workspace_bytes"], there["memory"]["workspace_bytes"]);
        EXPECT_EQ(row["constant_bytes"], there["memory"]["constant_bytes"]);
    }
    EXPECT_GT(measured["levels"][0]["call_count"], measured["levels"][3]["call_count"]);
}

TEST_F(Bench, ComparesLevelsOfAModelOnThisComputerOnly)
{
    const std::string path = model();
    EXPECT_EQ(tenon("bench --levels --board pi " + path + " 2>&1").code, 2);
    const Outcome ofFile = tenon("bench --levels nowhere.so 2>&1");
    EXPECT_EQ(ofFile.code, 2);
    EXPECT_NE(ofFile.output.find("give the model, not an artifact"), std::string::npos);
}

TEST_F(Bench, ExplainsWhereTheTimeGoes)
{
    const std::string path = m_folder.file("shufflenet.onnx");
    std::ofstream(path, std::ios::binary)
        << test::makeShufflenetV2({.imageSize = 64, .channelDivisor = 2});
    const Outcome told = tenon("bench --explain --repeat 3 --threads 1 " + path);
    ASSERT_EQ(told.code, 0);
    for (const char* words :
         {"slowest", "times its bound", "share of time in plain loops ", ", on rows ",
          " times their bound), in moving data ", " above 1.3 times what the bytes take"})
        EXPECT_NE(told.output.find(words), std::string::npos) << words << told.output;
    const json measured =
        json::parse(tenon("bench --json --explain --repeat 3 --threads 1 " + path).output);
    const json& audit = measured["audit"];
    double plainMs = 0, rowsMs = 0, movingMs = 0, methodsMs = 0;
    for (const json& layer : measured["layers"]) {
        const std::string method = layer["method"];
        if (method.find("plain loops") != std::string::npos) plainMs += double(layer["ms"]);
        if (method.starts_with("moves data")) movingMs += double(layer["ms"]);
        EXPECT_EQ(layer.contains("plain_reason"),
                  method == "plain loops" || method == "direct on rows")
            << layer;
        if (method == "direct on rows") rowsMs += double(layer["ms"]);
    }
    for (const json& method : audit["methods"]) methodsMs += double(method["ms"]);
    const double sum = measured["layers_sum_ms"];
    EXPECT_NEAR(methodsMs, sum, 1e-6 * sum);
    EXPECT_NEAR(audit["plain_share"], plainMs / sum, 1e-6);
    EXPECT_NEAR(audit["rows_share"], rowsMs / sum, 1e-6);
    EXPECT_LE(audit["slow_rows_share"], audit["rows_share"]);
    EXPECT_NEAR(audit["moving_share"], movingMs / sum, 1e-6);
    EXPECT_GT(movingMs, 0); // channels are shuffled
    EXPECT_LE(audit["slow_moving_share"], audit["moving_share"]);
}

TEST_F(Bench, SaysWhatAComparisonNeeds)
{
    const std::string path = model();
    const auto said = [&](const std::string& before, const std::string& options) {
        return shell(before + " '" TENON_PROGRAM "' bench --repeat 1 --peer onnxruntime " +
                     options + " 2>&1")
            .output;
    };
    EXPECT_NE(said("TENON_ONNXRUNTIME=", path).find("set TENON_ONNXRUNTIME"), std::string::npos);
    EXPECT_NE(said("TENON_ONNXRUNTIME=/nowhere/libonnxruntime.so", path).find("cannot load"),
              std::string::npos);
    const std::string other = said("", "--peer-library libm.so.6 " + path);
    EXPECT_NE(other.find("is not ONNX Runtime"), std::string::npos) << other;
    EXPECT_NE(said("", "--board pi " + path).find("leave out --board"), std::string::npos);
    EXPECT_NE(said("TENON_ONNXRUNTIME=x", "--target 'llvm -mtriple=aarch64-linux-gnu' " + path)
                  .find("leave out --target"),
              std::string::npos);
}

TEST_F(Bench, TakesTurnsWithOnnxRuntime)
{
    const char* library = std::getenv("TENON_ONNXRUNTIME");
    TENON_NEED(library && *library, "onnxruntime", "TENON_ONNXRUNTIME names no library");
    const Outcome benched =
        tenon("bench --json --peer onnxruntime --repeat 7 --threads 1 " + model());
    ASSERT_EQ(benched.code, 0);
    const json measured = json::parse(benched.output);
    ASSERT_EQ(measured["peers"].size(), 1u);
    EXPECT_EQ(measured["peers"][0]["name"], "onnxruntime");
    EXPECT_GE(measured["peers"][0]["runs"].size(), 7u);
    EXPECT_GT(measured["peers"][0]["median_ms"], 0);
    EXPECT_EQ(measured["peers"][0]["difference"], "");
    EXPECT_GT(measured["ratio"], 0);
}

} // namespace
} // namespace tenon::cli
