// SPDX-License-Identifier: Apache-2.0
// tenon as a program: exit codes, JSON, diagnostics on stderr, nothing half-written.
#include "compiler/frontend/tensor_file.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

class Cli : public ::testing::Test
{
protected:
    std::string write(const std::string& name, const std::string& content)
    {
        std::ofstream(m_folder.file(name), std::ios::binary) << content;
        return "'" + m_folder.file(name) + "'";
    }
    std::string smallModel()
    {
        return write("dscnn.onnx", test::makeDscnn({.channelDivisor = 16}));
    }
    test::TemporaryFolder m_folder;
};

TEST_F(Cli, TellsWrongUsageFromBadInput)
{
    EXPECT_EQ(tenon("--version").code, 0);
    EXPECT_EQ(tenon("--help").code, 0);
    EXPECT_EQ(tenon("2>&1").code, 2);
    EXPECT_EQ(tenon("frobnicate 2>&1").code, 2);
    EXPECT_EQ(tenon("inspect 2>&1").code, 2);
    EXPECT_EQ(tenon("inspect --quux x 2>&1").code, 2);
    EXPECT_EQ(tenon("inspect /nonexistent.onnx 2>&1").code, 4);
    EXPECT_EQ(tenon("compile " + smallModel() + " --opt-level 7 -o x.so 2>&1").code, 2);
    EXPECT_EQ(tenon("compile " + smallModel() + " -o x.exe 2>&1").code, 2);
    EXPECT_EQ(tenon("compile " + smallModel() + " 2>&1").code, 2);
    EXPECT_EQ(tenon("targets --explain 'llvm -mcpu=quux' 2>&1").code, 4);
    EXPECT_EQ(tenon("inspect " + write("bad.onnx", "no model") + " 2>&1").code, 4);
    EXPECT_EQ(tenon("plan x.csv --algorithm quux 2>&1").code, 2);
    EXPECT_EQ(tenon("tir " + write("bad.tir", "def") + " 2>&1").code, 4);
    EXPECT_EQ(tenon("verify " + m_folder.path() + " 2>&1").code, 4);
}

TEST_F(Cli, NamesAWrongWordAndWhatIsNearest)
{
    const std::pair<const char*, const char*> wrong[] = {
        {"inspct x.onnx", "`tenon` has no command `inspct`; nearest are `inspect`"},
        {"board lst", "`tenon board` has no command `lst`; nearest are `list`"},
        {"inspect x.onnx --jsn", "`tenon inspect` has no option `--jsn`; nearest are `--json`"},
        {"board add x --rpx=y", "`tenon board add` has no option `--rpx`; nearest are `--rpc`"}};
    for (const auto& [call, message] : wrong) {
        const Outcome outcome = tenon(std::string(call) + " 2>&1");
        EXPECT_EQ(outcome.code, 2) << call;
        EXPECT_NE(outcome.output.find(message), std::string::npos) << outcome.output;
    }
    EXPECT_NE(tenon("verify x --jobs 0 2>&1").output.find("--jobs: Value 0 is no number above 0;"),
              std::string::npos);
    // The words are known: what is wrong is something else.
    EXPECT_NE(tenon("inspect a b 2>&1").output.find("not expected: b"), std::string::npos);
    EXPECT_EQ(tenon("inspect --json 2>&1").output,
              "error[bad-argument]: MODEL is required; `tenon inspect --help` lists all\n");
    EXPECT_NE(tenon("project create x 2>&1").output.find("; `tenon project create --help` lists"),
              std::string::npos);
    const Outcome nothing = tenon("2>&1");
    EXPECT_EQ(nothing.code, 2);
    EXPECT_NE(nothing.output.find("measure a model or artifact"), std::string::npos);
}

TEST_F(Cli, PrintsJsonOrNothingWhereJsonIsAskedFor)
{
    const json passes = json::parse(tenon("passes --list-passes --json").output);
    ASSERT_FALSE(passes["passes"].empty());
    EXPECT_EQ(passes["passes"][0]["phase"], "import");
    const std::string model = smallModel();
    for (const std::string& call :
         {"compile " + model + " --emit tir --json", "passes " + model + " --diff FuseOps --json",
          "passes " + model + " --print-after all --json"}) {
        const Outcome outcome = tenon(call + " 2>/dev/null");
        EXPECT_EQ(outcome.code, 2) << call;
        EXPECT_EQ(outcome.output, "") << call;
    }
}

TEST_F(Cli, PrintsOneDiagnosticPerLineOnStderr)
{
    const std::string bad = write("bad.onnx", "no model");
    EXPECT_EQ(tenon("inspect " + bad + " 2>/dev/null").output, "");
    const std::string errors = tenon("inspect " + bad + " 2>&1 >/dev/null").output;
    EXPECT_EQ(errors.rfind("error[bad-model]: ", 0), 0u) << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1);
}

TEST_F(Cli, InfersTypesThatGraphTextLeavesOut)
{
    const auto tried = [&](const std::string& call) {
        const std::string text = "def @main(%x: Tensor[(1, 2), float32]) {\n  %0 = " + call;
        return tenon("relay " + write("graph.txt", text + "\n  return %0\n}\n") + " 2>&1");
    };
    const auto says = [](const Outcome& outcome, const char* part) {
        return outcome.output.find(part) != std::string::npos;
    };
    const Outcome inferred = tried("nn.relu(%x)");
    EXPECT_EQ(inferred.code, 0);
    EXPECT_TRUE(says(inferred, "nn.relu(%x) : Tensor[(1, 2), float32]")) << inferred.output;
    const std::pair<const char*, const char*> wrong[] = {
        {"nn.relu(%x) : Tensor[(1, 3), float32]", "the type should be Tensor[(1, 2), float32]"},
        {"nn.rellu(%x)", "nearest are nn.relu"},
        {"nn.relu(%x, %x)", "takes (x) but got 2 operands"},
        {"clip(%x, a_min=\"no\", a_max=1f)", "it must be float"}};
    for (const auto& [call, message] : wrong) {
        const Outcome outcome = tried(call);
        EXPECT_EQ(outcome.code, 4) << call;
        EXPECT_TRUE(says(outcome, message)) << outcome.output;
        EXPECT_TRUE(says(outcome, "graph.txt")) << outcome.output;
    }
}

TEST_F(Cli, InspectsAsJson)
{
    const Outcome out = tenon("inspect --json " + smallModel());
    ASSERT_EQ(out.code, 0);
    const json document = json::parse(out.output);
    EXPECT_EQ(document["opsets"]["ai.onnx"], 13);
    EXPECT_EQ(document["inputs"][0]["shape"], json({1, 1, 49, 10}));
    EXPECT_EQ(document["inputs"][0]["dtype"], "float32");
    EXPECT_GT(document["macs"], 0);
    EXPECT_GT(document["params"], 0);
    EXPECT_EQ(document["ops"]["BatchNormalization"], 9);
    EXPECT_TRUE(document["diagnostics"].empty());
    int64_t nodes = 0;
    for (const auto& [op, count] : document["ops"].items()) nodes += count.get<int64_t>();
    EXPECT_EQ(document["nodes"], nodes);
}

TEST_F(Cli, ListsPassesAsJson)
{
    const Outcome out = tenon("passes --json " + smallModel());
    ASSERT_EQ(out.code, 0);
    const json document = json::parse(out.output);
    EXPECT_GT(document["module_bytes"], 0);
    EXPECT_GE(document["trace_bytes"], document["module_bytes"].get<int64_t>());
    std::vector<std::string> changed;
    for (const json& pass : document["passes"])
        if (pass["changed"]) {
            changed.push_back(pass["name"]);
            EXPECT_FALSE(pass["changes"].empty());
        }
    for (const char* name : {"SimplifyInference", "FoldScaleAxis", "AlterOpLayout", "FuseOps"})
        EXPECT_NE(std::find(changed.begin(), changed.end(), name), changed.end()) << name;
    const json stopped =
        json::parse(tenon("passes --json --stop-after SimplifyInference " + smallModel()).output);
    EXPECT_EQ(stopped["passes"].back()["name"], "SimplifyInference");
}

TEST_F(Cli, CompilesRunsAndMeasures)
{
    const std::string output = m_folder.file("model.so");
    const Outcome compiled = tenon("compile --json --no-cache " + smallModel() + " -o " + output);
    ASSERT_EQ(compiled.code, 0);
    const json document = json::parse(compiled.output);
    EXPECT_FALSE(document["kernels"].empty());
    EXPECT_GT(document["phases"]["total_ms"], 0);
    EXPECT_GE(document["memory"]["workspace_bytes"], document["memory"]["lower_bound_bytes"]);

    const Outcome ran = tenon("run --json " + output + " --print-top 3 --outputs " +
                              m_folder.file("out") + " 2>/dev/null");
    ASSERT_EQ(ran.code, 0);
    const json outputs = json::parse(ran.output)["outputs"];
    EXPECT_EQ(outputs[0]["top"].size(), 3u);
    EXPECT_TRUE(std::filesystem::exists(m_folder.file("out/output_0.pb")));

    const Outcome benched = tenon("bench --json --per-layer --repeat 3 --threads 1 " + output);
    ASSERT_EQ(benched.code, 0);
    const json measured = json::parse(benched.output);
    EXPECT_EQ(measured["runs"].size(), 3u);
    EXPECT_GT(measured["median_ms"], 0);
    EXPECT_FALSE(measured["layers"].empty());
    EXPECT_FALSE(measured["layers"][0]["from_nodes"].empty());
}

TEST_F(Cli, FindsItsOutputAsItShouldBe)
{
    const std::string output = m_folder.file("same.so");
    const std::string command = "compile --no-cache " + smallModel() + " -o " + output;
    EXPECT_EQ(json::parse(tenon(command + " --json").output)["unchanged"], false);
    const json again = json::parse(tenon(command + " --json").output);
    EXPECT_EQ(again["unchanged"], true);
    EXPECT_EQ(again["file_bytes"], std::filesystem::file_size(output));
    EXPECT_NE(tenon(command).output.find("as it was"), std::string::npos);
    const json other = json::parse(tenon(command + " --json --opt-level 0").output);
    EXPECT_EQ(other["unchanged"], false);
    EXPECT_EQ(tenon(command).output.find("as it was"), std::string::npos);
}

TEST_F(Cli, PrintsKernelsWhereTheOutputIsADash)
{
    const Outcome shown = tenon("compile --emit tir " + smallModel());
    ASSERT_EQ(shown.code, 0);
    const Outcome dashed = shell("cd " + m_folder.path() +
                                 " && '" TENON_PROGRAM "' compile --emit tir -o - " + smallModel());
    EXPECT_EQ(dashed.code, 0);
    EXPECT_EQ(dashed.output, shown.output);
    EXPECT_FALSE(std::filesystem::exists(m_folder.file("-")));
}

TEST_F(Cli, VerifiesItsOwnOutputAndFindsAWrongOne)
{
    const std::string model = smallModel();
    const std::string one = m_folder.file("case/one");
    std::filesystem::create_directories(one + "/test_data_set_0");
    std::filesystem::copy_file(m_folder.file("dscnn.onnx"), one + "/model.onnx");
    ASSERT_EQ(tenon("run " + model + " --outputs " + m_folder.file("out") + " 2>/dev/null").code,
              0);
    std::filesystem::copy_file(m_folder.file("out/output_0.pb"),
                               one + "/test_data_set_0/output_0.pb");
    // Without inputs the case cannot run: that is its failure, not the program's.
    const Outcome none = tenon("verify " + m_folder.file("case") + " 2>/dev/null");
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.output.find("0 passed, 1 failed, 0 unsupported\n"), std::string::npos);
    EXPECT_NE(tenon("verify " + model + " 2>&1").output.find("a file, not a folder of cases;"),
              std::string::npos);
    EXPECT_NE(tenon("verify " + m_folder.file("none") + " 2>&1").output.find("no such folder;"),
              std::string::npos);
    // What the model was given can be kept, and given again.
    ASSERT_EQ(tenon("run " + model + " --keep-inputs " + one + "/test_data_set_0 2>&1").code, 0);
    const Outcome both = tenon("verify " + m_folder.file("case") + " 2>&1");
    EXPECT_EQ(both.code, 0) << both.output;
    EXPECT_NE(both.output.find("1 passed, 0 failed"), std::string::npos) << both.output;
}

TEST_F(Cli, NamesTheFileOfInputsThatDoNotFit)
{
    const std::string model = smallModel(), out = m_folder.file("out");
    ASSERT_EQ(tenon("run " + model + " --outputs " + out + " 2>/dev/null").code, 0);
    for (const char* command : {"run ", "bench ", "compare "}) {
        const Outcome outcome = tenon(command + model + " --inputs " + out + "/output_0.pb 2>&1");
        EXPECT_EQ(outcome.code, 4) << command;
        EXPECT_NE(outcome.output.find(" in file " + out + "/output_0.pb\n"), std::string::npos)
            << outcome.output;
    }
}

TEST_F(Cli, SaysWhereInputsAreNotFinite)
{
    const std::string digits = test::sourcePath("resources/sample/digits/model.onnx");
    ASSERT_EQ(tenon("run " + digits + " --keep-inputs " + m_folder.path() + " 2>/dev/null").code,
              0);
    auto input = compiler::readTensorFile(m_folder.file("input_0.pb"));
    ASSERT_TRUE(input) << input.error().text();
    std::vector<float> values(static_cast<size_t>(input->tensor.size()));
    values[3] = NAN;
    values[5] = HUGE_VALF;
    const std::string file = m_folder.file("x.npy");
    ASSERT_TRUE(compiler::writeTensorFile(
        file, core::Tensor::of<float>(core::kFloat32, input->tensor.shape(), values), "x"));
    for (const char* command : {"run ", "compare "}) {
        const Outcome outcome = tenon(command + digits + " --inputs " + file + " 2>&1");
        EXPECT_NE(outcome.output.find("note[numeric-mismatch]: 2 of "), std::string::npos)
            << outcome.output;
        const Outcome finite =
            tenon(command + digits + " --inputs " + m_folder.file("input_0.pb") + " 2>&1");
        EXPECT_EQ(finite.output.find("infinite"), std::string::npos) << finite.output;
    }
}

TEST_F(Cli, ServesNobodyElseUnlessItIsTold)
{
    for (const char* open :
         {"rpc-server --host 0.0.0.0", "tracker --host 0.0.0.0", "rpc-server --tracker 127.0.0.1",
          "rpc-server --tracker 192.0.2.1 --key k", "rpc-server --tracker 127.0.0.1:x --key k",
          "tracker --servers-from nowhere", "tracker --query 127.0.0.1:0"})
        EXPECT_EQ(tenon(std::string(open) + " 2>&1").code, 2) << open;
}

TEST_F(Cli, BecomesAServerThatEndsInOrder)
{
    const std::string log = m_folder.file("log");
    const Outcome out = tenon("rpc-server --port 0 --key k > '" + log +
                              "' & for i in $(seq 1200); do grep -q listening '" + log +
                              "' && break; sleep 0.05; done; kill $!; wait $!");
    EXPECT_EQ(out.code, 0) << out.output;
}

TEST_F(Cli, PlansMemory)
{
    const std::string csv =
        write("plan.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n");
    const Outcome out = tenon("plan --json " + csv);
    ASSERT_EQ(out.code, 0);
    const json instance = json::parse(out.output)["instances"][0];
    EXPECT_EQ(instance["buffers"], 3);
    EXPECT_EQ(instance["lower_bound"], 128);
    for (const json& result : instance["results"]) EXPECT_GE(result["bytes"], 128);
}

TEST_F(Cli, NamesAllUnsupportedOperatorsInJson)
{
    TENON_NEED_DATA("invalid-models/style-candy/model.onnx");
    const std::string model = test::dataPath("invalid-models/style-candy/model.onnx");
    const Outcome out = tenon("inspect --json '" + model + "' 2>/dev/null");
    EXPECT_EQ(out.code, 4);
    const json document = json::parse(out.output);
    std::vector<std::string> ops;
    for (const json& d : document["diagnostics"])
        if (d["severity"] == "error") ops.push_back(d["op"]);
    for (const char* op : {"Affine", "Crop", "ImageScaler"})
        EXPECT_NE(std::find(ops.begin(), ops.end(), op), ops.end()) << op;
    EXPECT_EQ(tenon("compile '" + model + "' -o " + m_folder.file("m.so") + " 2>/dev/null").code,
              4);
    EXPECT_FALSE(std::filesystem::exists(m_folder.file("m.so")));
}

TEST_F(Cli, PassesVerificationOnRealData)
{
    TENON_NEED_DATA("models/mnist-cnn");
    const Outcome out = tenon("verify '" + test::dataPath("models/mnist-cnn") + "' 2>&1");
    EXPECT_EQ(out.code, 0) << out.output;
    EXPECT_NE(out.output.find("1 passed, 0 failed, 0 unsupported\n"), std::string::npos);
}

} // namespace
} // namespace tenon::cli
