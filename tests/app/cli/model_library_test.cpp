// SPDX-License-Identifier: Apache-2.0
// `compile --output-format mlf`: what the archive holds, that it opens as a model, and that a
// Makefile of five lines makes a program of it that computes what `tenon run` computes.
#include "compiler/frontend/mlf/archive_members.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

const std::string kSample = "resources/sample/digits";

class ModelLibrary : public testing::Test
{
protected:
    std::string model() const { return test::sourcePath(kSample) + "/model.onnx"; }
    std::string path(const std::string& name) const { return m_folder.file(name); }

    compiler::ArchiveMembers write(const std::string& options, const std::string& name = "m.tar")
    {
        const Outcome done = tenon("compile " + model() + " --output-format mlf -o " + path(name) +
                                   " --json " + options + " 2>&1");
        EXPECT_EQ(done.code, 0) << done.output;
        m_told = json::parse(done.output, nullptr, false);
        const auto bytes = core::readFile(path(name));
        if (!bytes) return {};
        auto members = compiler::readArchive(*bytes, [](const std::string&) { return true; });
        EXPECT_TRUE(members) << members.error().text();
        return members ? *members : compiler::ArchiveMembers();
    }

    test::TemporaryFolder m_folder;
    json m_told; ///< what `compile --json` said
};

TEST_F(ModelLibrary, HoldsCodeModelParametersAndTheMemoryThatWasPlanned)
{
    auto members = write("--target 'c -mcpu=cortex-m4'");
    for (const char* name : {"codegen/host/src/default_lib0.c", "codegen/host/src/default_lib1.c",
                             "codegen/host/include/tvmgen_default.h", "parameters/default.params",
                             "src/default.relay"})
        EXPECT_TRUE(members.contains(name)) << name;
    const json all = json::parse(members["metadata.json"]);
    EXPECT_EQ(all["version"], 7);
    const json& described = all["modules"]["default"];
    EXPECT_EQ(described["style"], "full-model");
    EXPECT_EQ(described["executors"], json::array({"aot"}));
    EXPECT_EQ(described["target"], json::array({"c -keys=arm_cpu,cpu -mcpu=cortex-m4"}));
    EXPECT_FALSE(described.contains("external_dependencies")); // the AOT executor needs nothing
    const json& main = described["memory"]["functions"]["main"][0];
    const json& planned = m_told["memory"];
    EXPECT_EQ(main["workspace_size_bytes"], planned["workspace_bytes"]);
    EXPECT_EQ(main["constants_size_bytes"], planned["constant_bytes"]);
    EXPECT_EQ(main["io_size_bytes"], planned["io_bytes"]);
    int64_t end = 0;
    for (const json& buffer : main["plan"]["buffers"])
        end = std::max(end,
                       buffer["offset_bytes"].get<int64_t>() + buffer["size_bytes"].get<int64_t>());
    EXPECT_EQ(end, planned["workspace_bytes"]);
    EXPECT_EQ(described["memory"]["functions"]["operator_functions"].size(),
              m_told["kernel_count"]);
    EXPECT_FALSE(described["memory"].contains("sids"));
}

TEST_F(ModelLibrary, OfTheGraphExecutorHoldsItsGraphItsStoragesAndItsRuntime)
{
    auto members = write("--target 'c -mcpu=cortex-m4' --executor graph");
    const json graph = json::parse(members["executor-config/graph/default.graph"]);
    const json described = json::parse(members["metadata.json"])["modules"]["default"];
    std::map<int64_t, json> storages;
    for (const json& each : described["memory"]["sids"]) storages[each["storage_id"]] = each;
    for (const json& id : graph["attrs"]["storage_id"][1])
        EXPECT_TRUE(storages.contains(id.get<int64_t>())) << id;
    EXPECT_EQ(storages[0]["input_binding"], "image");
    EXPECT_EQ(storages[0]["size_bytes"], 4 * 32 * 32);
    EXPECT_TRUE(members.contains("runtime/micro/graph/micro_graph.c"));
    EXPECT_EQ(described["external_dependencies"][0]["url"], "./runtime");
}

/// The archive alone tells what a firmware made of it has.
TEST_F(ModelLibrary, OfTheGraphExecutorIsInspectedWithItsGraphAndItsMemory)
{
    write("--target 'c -mcpu=cortex-m4' --executor graph");
    const json read =
        json::parse(tenon("inspect " + path("m.tar") + " --json 2>&1").output, nullptr, false);
    const json& rows = read["metadata"];
    EXPECT_EQ(rows["executor"], "graph");
    EXPECT_EQ(rows["graph"].get<std::string>().find(
                  std::to_string(m_told["call_count"].get<int>()) + " kernel calls, "),
              0u)
        << rows;
    const std::string storages = rows["storages"];
    const std::string workspace = rows["workspace"];
    EXPECT_NE(storages.find("bytes in all"), std::string::npos) << rows;
    EXPECT_GT(workspace.size(), 7u);
    write("--target 'c -mcpu=cortex-m4' --workspace-pools sram=64KiB");
    const json planned =
        json::parse(tenon("inspect " + path("m.tar") + " --json 2>&1").output, nullptr, false);
    EXPECT_EQ(planned["metadata"]["pool sram"], "49,152 bytes of 65,536, workspace") << planned;
}

TEST_F(ModelLibrary, OfObjectsHoldsThemAndNoSources)
{
    for (const char* executor : {"aot", "graph"}) {
        const auto members = write(std::string("--target llvm --executor ") + executor);
        EXPECT_TRUE(members.contains("codegen/host/lib/default_lib0.o"));
        EXPECT_FALSE(members.contains("codegen/host/src/default_lib0.c"));
        EXPECT_EQ(members.contains("executor-config/graph/default.graph"),
                  std::string(executor) == "graph");
    }
    const Outcome vm = tenon("compile " + model() + " --executor vm -o " + path("vm.mlf.tar") +
                             " 2>&1 >/dev/null");
    EXPECT_NE(vm.code, 0);
    EXPECT_NE(vm.output.find("not the vm executor"), std::string::npos) << vm.output;
    EXPECT_FALSE(std::filesystem::exists(path("vm.mlf.tar")));
}

TEST_F(ModelLibrary, IsTheSameWheneverItIsMade)
{
    const auto digest = [&](const std::string& name) { return *core::readFile(path(name)); };
    write("--target c", "a.tar");
    write("--target c", "b.mlf.tar");
    EXPECT_EQ(digest("a.tar"), digest("b.mlf.tar"));
    ASSERT_EQ(setenv("SOURCE_DATE_EPOCH", "1700000000", 1), 0);
    auto members = write("--target c", "c.tar");
    unsetenv("SOURCE_DATE_EPOCH");
    EXPECT_EQ(json::parse(members["metadata.json"])["modules"]["default"]["export_datetime"],
              "2023-11-14 22:13:20Z");
}

TEST_F(ModelLibrary, OpensAsTheModelThatItWasMadeFrom)
{
    write("--target 'c -mcpu=cortex-m4'");
    const auto of = [](const std::string& file) {
        return json::parse(tenon("inspect " + file + " --json 2>&1").output, nullptr, false);
    };
    const json read = of(path("m.tar")), made = of(model());
    EXPECT_EQ(read["format"], "mlf");
    EXPECT_EQ(read["macs"], made["macs"]);
    EXPECT_EQ(read["inputs"], made["inputs"]);
    EXPECT_EQ(read["outputs"], made["outputs"]);
    EXPECT_EQ(read["metadata"]["target"], "c -keys=arm_cpu,cpu -mcpu=cortex-m4");
    EXPECT_NE(read["metadata"]["workspace"], "");
    const std::string input =
        " --inputs " + test::sourcePath(kSample) + "/test_data_set_0/input_0.pb";
    for (const auto& [file, folder] :
         {std::pair(path("m.tar"), "out_m"), std::pair(model(), "out")}) {
        const Outcome ran = tenon("run " + file + input + " --outputs " + path(folder) + " 2>&1");
        ASSERT_EQ(ran.code, 0) << ran.output;
    }
    EXPECT_EQ(*core::readFile(path("out_m/output_0.npy")),
              *core::readFile(path("out/output_0.npy")));
}

constexpr const char* kMakefile = R"(BOARD := $(TENON)/runtime/micro/mps2
GRAPH := $(wildcard runtime/*/*.c runtime/micro/graph/*.c)
FLAGS := -std=c99 -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections -Wl,--gc-sections
app.elf: main.c $(wildcard codegen/host/src/*.c) $(GRAPH)
	arm-none-eabi-gcc $(FLAGS) -nostartfiles -T $(BOARD)/link.ld -I$(BOARD) -Icodegen/host/include -Iruntime/micro/graph $^ $(BOARD)/startup.c -o $@ -lm
)";

/// Reads the file `in`, infers, writes the file `out`.
constexpr const char* kAotMain = R"(#include "semihost.h"
#include "tvmgen_default.h"
static float x[TVMGEN_DEFAULT_IMAGE_SIZE / 4], y[TVMGEN_DEFAULT_PROBABILITIES_SIZE / 4];
int main(void)
{
    struct tvmgen_default_inputs in = {x};
    struct tvmgen_default_outputs out = {y};
    if (semihost_read(semihost_open("in", 1), x, sizeof x)) return 1;
    if (tvmgen_default_run(&in, &out)) return 2;
    return semihost_write_to(semihost_open("out", 5), y, sizeof y) != 0;
}
)";
constexpr const char* kGraphMain = R"(#include "semihost.h"
#include "tvmgen_default.h"
static uint64_t memory[32768];
int main(void)
{
    tenon_micro_graph* graph;
    DLTensor* y;
    if (tenon_micro_graph_create(&tvmgen_default_model, memory, sizeof memory, &graph)) return 1;
    if (semihost_read(semihost_open("in", 1), tenon_micro_graph_input(graph, "image")->data, 4096))
        return 2;
    if (tenon_micro_graph_run(graph)) return 3;
    y = tenon_micro_graph_output(graph, 0);
    return semihost_write_to(semihost_open("out", 5), y->data, 4 * (uint32_t)y->shape[1]) != 0;
}
)";

TEST_F(ModelLibrary, IsBuiltByAMakefileOfFiveLinesAndComputesTheSame)
{
    for (const char* tool : {"arm-none-eabi-gcc", "qemu-system-arm", "make", "tar"}) {
        TENON_NEED_TOOL(tool);
    }
    const std::string input = test::sourcePath(kSample) + "/test_data_set_0/input_0.pb";
    const auto values = compiler::readTensorFile(input);
    ASSERT_TRUE(values) << values.error().text();
    const auto bytes = values->tensor.bytes();
    for (const auto& [executor, text] :
         {std::pair("aot", kAotMain), std::pair("graph", kGraphMain)}) {
        const std::string target =
            std::string(" --target 'c -mcpu=cortex-m4' --executor ") + executor;
        write(target + " --interface-api c");
        const std::string folder = path(executor);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/Makefile") << kMakefile;
        std::ofstream(folder + "/main.c") << text;
        std::ofstream(folder + "/in", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        const Outcome built = shell(
            "cd " + folder + " && tar xf ../m.tar && make TENON=" + test::sourcePath("") + " 2>&1");
        ASSERT_EQ(built.code, 0) << built.output;
        const Outcome ran =
            shell("cd " + folder +
                  " && timeout 120 qemu-system-arm -M mps2-an386 -nographic -monitor "
                  "none -serial none -semihosting-config enable=on,target=native "
                  "-kernel app.elf </dev/null 2>&1");
        ASSERT_EQ(ran.code, 0) << ran.output;
        const Outcome here = tenon("run " + model() + target + " --inputs " + input +
                                   " --outputs " + path("here") + " 2>&1");
        ASSERT_EQ(here.code, 0) << here.output;
        const std::string wanted = *core::readFile(path("here/output_0.npy"));
        const std::string got = *core::readFile(folder + "/out");
        ASSERT_GT(got.size(), 0u);
        EXPECT_EQ(got, wanted.substr(wanted.size() - got.size())) << executor;
    }
}

} // namespace
} // namespace tenon::cli
