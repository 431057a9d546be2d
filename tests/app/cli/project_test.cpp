// SPDX-License-Identifier: Apache-2.0
// tenon project: every template makes a folder; those that can be built here are, and compute what
// `tenon run` computes.
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/base/tool.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

class Project : public testing::Test
{
protected:
    std::string sample() const { return test::sourcePath("resources/sample/digits"); }
    std::string input() const { return sample() + "/test_data_set_0/input_0.pb"; }
    std::string path(const std::string& name) const { return m_folder.file(name); }

    void create(const std::string& name, const std::string& options)
    {
        const Outcome made = tenon("project create " + sample() + "/model.onnx " + path(name) +
                                   " " + options + " 2>&1");
        ASSERT_EQ(made.code, 0) << made.output;
    }

    /// Builds, flashes and runs; the bytes of the outputs are those of `tenon run` on the target.
    void expectTheSame(const std::string& name, const std::string& target)
    {
        for (const char* step : {"build", "flash"}) {
            const Outcome done = tenon(std::string("project ") + step + " " + path(name) + " 2>&1");
            ASSERT_EQ(done.code, 0) << done.output;
        }
        const Outcome ran = tenon("project run " + path(name) + " --inputs " + input() +
                                  " --outputs " + path("there") + " --print-top 1 2>&1");
        ASSERT_EQ(ran.code, 0) << ran.output;
        EXPECT_NE(ran.output.find("probabilities"), std::string::npos) << ran.output;
        const Outcome here =
            tenon("run " + sample() + "/model.onnx --target '" + target + "' --inputs " + input() +
                  " --outputs " + path("here") + " 2>&1");
        ASSERT_EQ(here.code, 0) << here.output;
        EXPECT_EQ(*core::readFile(path("there/output_0.npy")),
                  *core::readFile(path("here/output_0.npy")));
    }

    void writeByteNetwork() const;
    /// What the emulated Uno says of the model in the file, run on zeros; "" where a step failed.
    std::string saidByTheUno(const std::string& model) const
    {
        for (const std::string& command :
             {"project create " + path(model) + " " + path("a") + " --template arduino",
              "project build " + path("a"), "project run " + path("a")}) {
            const Outcome done = tenon(command + " 2>&1");
            EXPECT_EQ(done.code, 0) << done.output;
            if (done.code != 0) return {};
            if (!command.starts_with("project run")) continue;
            EXPECT_NE(done.output.find("code 0"), std::string::npos) << done.output;
            return done.output;
        }
        return {};
    }

    test::TemporaryFolder m_folder;
};

TEST_F(Project, OfABareBoardIsBuiltAndRunsInTheEmulator)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    create("m4", "--template baremetal-mps2");
    expectTheSame("m4", "c -mcpu=cortex-m4");
    create("m7", "--template baremetal-mps2 --target 'c -mcpu=cortex-m7' --workspace-pools "
                 "DTCM=24KiB,SRAM@.bss.noinit.sram");
    expectTheSame("m7", "c -mcpu=cortex-m7");
}

/// A convolution, a pool and a dense layer of bytes, as a converter writes them.
test::TfliteWriter byteNetwork()
{
    using Type = test::TfliteType;
    const auto options = [](int8_t padding) {
        return test::FlatOut().number(0, padding).number(1, int32_t{1}).number(2, int32_t{1});
    };
    std::vector<int8_t> taps(4 * 9 * 2), weights(3 * 4);
    for (size_t i = 0; i < taps.size(); ++i) taps[i] = static_cast<int8_t>(i * 37 % 251 - 125);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<int8_t>(i * 53 % 241 - 120);
    test::TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 6, 6, 2}, {{0.05F}, {-7}});
    const int k = w.constant<int8_t>("k", Type::Int8, {4, 3, 3, 2}, taps,
                                     {{0.01F, 0.02F, 0.008F, 0.015F}, {0, 0, 0, 0}, 0});
    const int b = w.constant<int32_t>("b", Type::Int32, {4}, {100, -200, 300, 0},
                                      {{0.0005F, 0.001F, 0.0004F, 0.00075F}, {0, 0, 0, 0}, 0});
    const int conv = w.tensor("conv", Type::Int8, {1, 6, 6, 4}, {{0.1F}, {-20}});
    const int pool = w.tensor("pool", Type::Int8, {1, 1, 1, 4}, {{0.1F}, {-20}});
    const int d = w.constant<int8_t>("d", Type::Int8, {3, 4}, weights, {{0.01F}, {0}});
    const int y = w.output("y", Type::Int8, {1, 3}, {{0.1F}, {5}});
    w.op("CONV_2D", {x, k, b}, {conv}, options(0).number(3, int8_t{1}));
    w.op("AVERAGE_POOL_2D", {conv}, {pool}, options(1).number(3, int32_t{6}).number(4, int32_t{6}));
    w.op("FULLY_CONNECTED", {pool, d, -1}, {y});
    return w;
}

void Project::writeByteNetwork() const
{
    const std::vector<std::byte> bytes = byteNetwork().file();
    std::ofstream(path("net.tflite"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

/// From the file of another tool to firmware in one command: the board computes what this computer
/// does.
TEST_F(Project, OfATfliteModelAnswersOnTheBoardAsHere)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    writeByteNetwork();
    std::vector<int8_t> values(72);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(i * 29 % 256 - 128);
    const auto input = core::Tensor::of<int8_t>(core::kInt8, {1, 6, 6, 2}, values);
    ASSERT_TRUE(compiler::writeTensorFile(path("x.npy"), input, "x"));
    const Outcome made = tenon("project create " + path("net.tflite") + " " + path("net") +
                               " --template baremetal-mps2 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    for (const char* step : {"build", "flash"}) {
        const Outcome done = tenon(std::string("project ") + step + " " + path("net") + " 2>&1");
        ASSERT_EQ(done.code, 0) << done.output;
    }
    const std::string inputs = " --inputs " + path("x.npy") + " --outputs ";
    const Outcome there = tenon("project run " + path("net") + inputs + path("there") + " 2>&1");
    ASSERT_EQ(there.code, 0) << there.output;
    const Outcome here = tenon("run " + path("net.tflite") + inputs + path("here") + " 2>&1");
    ASSERT_EQ(here.code, 0) << here.output;
    EXPECT_EQ(*core::readFile(path("there/output_0.npy")),
              *core::readFile(path("here/output_0.npy")));
}

TEST_F(Project, OfTheGraphExecutorRunsToo)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    create("graph", "--template baremetal-mps2 --executor graph");
    expectTheSame("graph", "c -mcpu=cortex-m4");
}

TEST_F(Project, OfTheHostIsBuiltAndRunsHere)
{
    TENON_NEED_TOOL("make");
    TENON_NEED_TOOL("cc");
    create("host", "--template crt-host");
    for (const char* step : {"build", "flash"})
        ASSERT_EQ(tenon(std::string("project ") + step + " " + path("host")).code, 0);
    const Outcome ran = tenon("project run " + path("host") + " --inputs " + input() + " --json");
    ASSERT_EQ(ran.code, 0) << ran.output;
    const Outcome here = tenon("run " + sample() + "/model.onnx --inputs " + input() + " --json");
    ASSERT_EQ(here.code, 0) << here.output;
    const json there = json::parse(ran.output)["outputs"][0],
               wanted = json::parse(here.output)["outputs"][0];
    EXPECT_EQ(there["shape"], wanted["shape"]);
    EXPECT_NEAR(there["max"].get<double>(), wanted["max"].get<double>(), 1e-5);
}

TEST_F(Project, HoldsTheModelAsAnArchiveAndUnpacked)
{
    create("z", "--template zephyr");
    EXPECT_TRUE(std::filesystem::exists(path("z/model.tar")));
    EXPECT_TRUE(std::filesystem::exists(path("z/model/codegen/host/src/default_lib0.c")));
    EXPECT_EQ(tenon("inspect " + path("z/model.tar")).code, 0);
    const json facts = json::parse(*core::readFile(path("z/project.json")));
    EXPECT_EQ(facts["template"], "zephyr");
    EXPECT_NE(core::readFile(path("z/Makefile"))->find("BOARD := mps2_an521"), std::string::npos);
    EXPECT_NE(core::readFile(path("z/CMakeLists.txt"))->find("find_package(Zephyr"),
              std::string::npos);
}

TEST_F(Project, WhoseToolsAreMissingSaysWhoHasThem)
{
    create("z", "--template zephyr");
    create("a", "--template arduino");
    TENON_NEED_TOOL("make");
    for (const auto& [name, tool, from] :
         {std::tuple("z", "west", "pipx install west"),
          std::tuple("a", "arduino-builder", "Debian's arduino-builder")}) {
        if (core::hasTool(tool)) continue; // the other tests build it
        const Outcome built = tenon(std::string("project build ") + path(name) + " 2>&1");
        EXPECT_NE(built.code, 0);
        EXPECT_NE(built.output.find(std::string(tool) + " is not installed"), std::string::npos)
            << built.output;
        EXPECT_NE(built.output.find(from), std::string::npos) << built.output;
    }
}

/// In the simulator of the Uno, whose 2 KB hold a model of four values.
TEST_F(Project, OfArduinoRunsInASimulator)
{
    for (const char* tool : {"make", "arduino-builder", "avr-gcc", "simavr"}) {
        TENON_NEED_TOOL(tool);
    }
    std::ofstream(path("small.txt"))
        << "def @main(%x: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {\n"
           "  %c0 = const([1f, 2f, 3f, 4f]) : Tensor[(1, 4), float32]\n"
           "  %0 = add(%x, %c0) : Tensor[(1, 4), float32]\n"
           "  %1 = nn.relu(%0) : Tensor[(1, 4), float32]\n  return %1 as \"y\"\n}\n";
    const std::string said = saidByTheUno("small.txt");
    // of inputs of zeros
    EXPECT_NE(said.find("output y: 1.0000000 2.0000000 3.0000000 4.0000000"), std::string::npos)
        << said;
}

/// A quantized network on the Uno, whose processor has eight bits and no unit for floats: its bytes
/// are those of this computer.
TEST_F(Project, OfArduinoComputesWithBytesAsThisComputerDoes)
{
    for (const char* tool : {"make", "arduino-builder", "avr-gcc", "simavr"}) {
        TENON_NEED_TOOL(tool);
    }
    writeByteNetwork();
    const auto zeros = core::Tensor::of<int8_t>(core::kInt8, {1, 6, 6, 2}, std::vector<int8_t>(72));
    ASSERT_TRUE(compiler::writeTensorFile(path("x.npy"), zeros, "x"));
    const std::string said = saidByTheUno("net.tflite");
    const Outcome here = tenon("run " + path("net.tflite") + " --inputs " + path("x.npy") +
                               " --outputs " + path("here") + " 2>&1");
    ASSERT_EQ(here.code, 0) << here.output;
    const std::string bytes = *core::readFile(path("here/output_0.npy"));
    std::string last;
    for (size_t i = bytes.size() - 3; i < bytes.size(); ++i)
        last += " " + std::to_string(static_cast<int8_t>(bytes[i]));
    EXPECT_NE(said.find(last), std::string::npos) << last << '\n' << said;
}

/// By the server, too: the bytes of `tenon run`, and what the board counted.
TEST_F(Project, IsServedByABareBoard)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    for (const auto& [name, cpu, executor] :
         {std::tuple("m4", "cortex-m4", "aot"), std::tuple("m33", "cortex-m33", "aot"),
          std::tuple("m55", "cortex-m55", "aot"), std::tuple("graph", "cortex-m4", "graph")}) {
        const std::string target = "'c -mcpu=" + std::string(cpu) + "'";
        create(name, "--template baremetal-mps2 --target " + target + " --executor " + executor);
        const Outcome ran = tenon("project run " + path(name) + " --server --number 2 --inputs " +
                                  input() + " --outputs " + path("there") + " --json 2>/dev/null");
        ASSERT_EQ(ran.code, 0) << name << ran.output;
        const Outcome here =
            tenon("run " + sample() + "/model.onnx --target " + target + " --executor " + executor +
                  " --inputs " + input() + " --outputs " + path("here") + " 2>&1");
        ASSERT_EQ(here.code, 0) << here.output;
        EXPECT_EQ(*core::readFile(path("there/output_0.npy")),
                  *core::readFile(path("here/output_0.npy")))
            << name;
        const json server = json::parse(ran.output)["server"];
        EXPECT_GT(server["instructions"], 100000) << name;
        EXPECT_GT(server["workspace_bytes"], 1000) << name;
        EXPECT_GT(server["stack_peak_bytes"], 100) << name;
        EXPECT_LT(server["stack_peak_bytes"], 8192) << name;
        EXPECT_EQ(server["bad_frames"], 0) << name;
        // The graph executor notes no calls.
        EXPECT_EQ(server["calls"].empty(), executor == std::string("graph")) << name;
        for (const json& call : server["calls"]) {
            EXPECT_GT(call["instructions"], 0) << call;
            EXPECT_GT(call["runs"], 1) << call;
        }
    }
}

/// Over the emulated UART, with bytes lost, damaged and repeated on the way and the board reset:
/// every result is right. `./dev check line` takes ten thousand round trips.
TEST_F(Project, ComputesRightOverALineThatDoesHarm)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    const std::string small = test::sourcePath("tests/app/cli/small_model.txt");
    ASSERT_EQ(
        tenon("project create " + small + " " + path("m4") + " --template baremetal-mps2 2>&1")
            .code,
        0);
    ASSERT_EQ(shell("make -s -C " + path("m4") + " server 2>&1").code, 0);
    const Outcome done =
        shell(TENON_LINE_CAMPAIGN " " + path("m4") + " --rounds 200 --seed 5 2>&1");
    EXPECT_EQ(done.code, 0) << done.output;
    const size_t at = done.output.find("rounds ");
    ASSERT_NE(at, std::string::npos) << done.output;
    int inferences = 0, requests = 0;
    ASSERT_EQ(
        std::sscanf(done.output.c_str() + at, "rounds %d inferences, %d", &inferences, &requests),
        2)
        << done.output;
    EXPECT_GT(inferences, 5) << done.output;
    EXPECT_GE(requests, 200) << done.output;
}

/// Written from the protocol's description: what TVM's own client says.
TEST_F(Project, SpeaksTvmsProjectApi)
{
    for (const char* tool : {"make", "cc", "python3"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    const auto said = core::runTool(
        {"python3", test::sourcePath("tests/app/cli/project_client.py"), path("host"), input()});
    ASSERT_TRUE(said) << said.error().message;
    const json seen = json::parse(*said);
    EXPECT_EQ(seen["info"]["platform_name"], "crt-host");
    EXPECT_EQ(seen["info"]["is_template"], false);
    EXPECT_EQ(seen["info"]["protocol_version"], 1);
    EXPECT_EQ(seen["errors"],
              json({-32600, -32601, -32602, -32700, "TransportClosedError", "IoTimeoutError"}));
    EXPECT_EQ(seen["packet"], 2048 - 11);
    const Outcome ran =
        tenon("project run " + path("host") + " --inputs " + input() + " --json 2>/dev/null");
    ASSERT_EQ(tenon("project build " + path("host")).code, 0);
    ASSERT_EQ(ran.code, 0);
    EXPECT_EQ(seen["largest"], json::parse(ran.output)["outputs"][0]["max"]);
}

/// Zephyr is not to be had here: what its build would be given.
TEST_F(Project, OfZephyrHasAServerForItsConsole)
{
    create("z", "--template zephyr");
    const auto has = [&](const char* file, const char* text) {
        const auto content = core::readFile(path(std::string("z/") + file));
        ASSERT_TRUE(content) << file;
        EXPECT_NE(content->find(text), std::string::npos) << file << *content;
    };
    has("CMakeLists.txt", "option(SERVER");
    has("Makefile", "-DSERVER=ON");
    has("server.conf", "CONFIG_CONSOLE=n");
    has("transport.h", "uart_poll_in");
    has("timer.h", "k_cycle_get_32");
    has("served.c", "tenon-image:");
    has("server/micro/mps2/serve.c", "serve_begin");
    has("microtvm_api_server.py", "server_info_query");
    const Outcome port =
        tenon("project run " + path("z") + " --serial " + path("no-port") + " 2>&1");
    EXPECT_NE(port.code, 0);
    EXPECT_NE(port.output.find("is the board plugged in"), std::string::npos) << port.output;
}

TEST_F(Project, OfAnotherKindHasNoServer)
{
    create("a", "--template arduino");
    const Outcome none = tenon("project run " + path("a") + " --server 2>&1");
    EXPECT_NE(none.code, 0);
    EXPECT_NE(none.output.find("have no server"), std::string::npos) << none.output;
}

TEST_F(Project, RefusesWhatMakesNoSense)
{
    const std::string model = sample() + "/model.onnx ";
    const Outcome unknown = tenon("project create " + model + path("x") + " --template quux 2>&1");
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(
        unknown.output.find("there are arduino, baremetal-mps2, baremetal-riscv, crt-host, zephyr"),
        std::string::npos)
        << unknown.output;
    const Outcome objects =
        tenon("project create " + model + path("x") + " --template crt-host --target llvm 2>&1");
    EXPECT_NE(objects.code, 0);
    EXPECT_NE(objects.output.find("use --target c"), std::string::npos) << objects.output;
    const Outcome noBoard = tenon("project create " + model + path("x") +
                                  " --template baremetal-mps2 --target 'c -mcpu=cortex-m0' 2>&1");
    EXPECT_NE(noBoard.output.find("-mcpu names one of cortex-m3"), std::string::npos)
        << noBoard.output;
    const Outcome graph =
        tenon("project create " + model + path("x") + " --template arduino --executor graph 2>&1");
    EXPECT_NE(graph.output.find("use --executor aot"), std::string::npos) << graph.output;
    EXPECT_FALSE(std::filesystem::exists(path("x")));

    std::filesystem::create_directories(path("full"));
    std::ofstream(path("full/notes.txt")) << "mine";
    const Outcome full =
        tenon("project create " + model + path("full") + " --template zephyr 2>&1");
    EXPECT_NE(full.code, 0);
    EXPECT_NE(full.output.find("name a new folder"), std::string::npos) << full.output;
    EXPECT_TRUE(std::filesystem::exists(path("full/notes.txt")));

    const Outcome none = tenon("project build " + path("full") + " 2>&1");
    EXPECT_NE(none.output.find("holds no project"), std::string::npos) << none.output;
    std::ofstream(path("full/project.json")) << "{\"project_version\": 1}";
    const Outcome bad = tenon("project run " + path("full") + " 2>&1");
    EXPECT_NE(bad.output.find("project.json names no template"), std::string::npos) << bad.output;
}

} // namespace
} // namespace tenon::cli
