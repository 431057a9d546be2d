// SPDX-License-Identifier: Apache-2.0
// Model Library Format archives: what Tenon wrote is read back, what others wrote is described,
// and what is hostile is refused by name.
#include "compiler/driver/compile.h"
#include "compiler/executor/params.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/mlf/model_library_file.h"
#include "core/base/file.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/frontend/mlf/tar_bytes.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace tenon::compiler {
namespace {

using test::TarPart;

constexpr const char* kModel =
    "def @main(%x: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {\n"
    "  %0 = nn.relu(%x) : Tensor[(1, 4), float32]\n"
    "  return %0 as \"y\"\n}\n";

/// What Tenon writes, with one text in the place of another.
std::string metadata(const std::string& from = "", const std::string& to = "")
{
    std::string text = R"({"version": 7, "modules": {"default": {
        "model_name": "default", "export_datetime": "2026-01-01 00:00:00Z", "style": "full-model",
        "target": ["c -mcpu=cortex-m4"], "executors": ["aot"],
        "producer": {"name": "Tenon", "version": "1", "model": "net"},
        "memory": {"functions": {"main": [{"device": 1, "workspace_size_bytes": 4096,
            "constants_size_bytes": 12, "io_size_bytes": 32,
            "inputs": {"x": {"size": 16, "dtype": "float32"}},
            "outputs": {"y": {"size": 16, "dtype": "float32"}}}], "operator_functions": []}}}}})";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return text;
}

std::string archive(const std::vector<TarPart>& parts)
{
    std::string out;
    for (const TarPart& part : parts) out += test::tarPart(part);
    return out + test::tarEnd();
}

std::vector<TarPart> parts(const std::string& json, const std::string& text = kModel)
{
    return {{"./", "", '5'},
            {"./metadata.json", json},
            {"./src/default.relay", text},
            {"./src/default.constants", paramsBlob({})}};
}

std::vector<TarPart> foreignParts()
{
    return parts(metadata(R"("name": "Tenon")", R"("name": "x")"), "#[version = \"0.0.5\"]\n");
}

constexpr const char* kGraphMember = "./executor-config/graph/default.graph";

/// y = view(x + p0) as the graph executor's JSON, with one text in the place of another.
std::string graph(const std::string& from = "", const std::string& to = "")
{
    std::string text = R"({"nodes": [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "null", "name": "p0", "inputs": []},
        {"op": "tvm_op", "name": "add", "attrs": {"func_name": "tvmgen_default_fused_add",
         "num_inputs": "2", "num_outputs": "1", "flatten_data": "0"},
         "inputs": [[0, 0, 0], [1, 0, 0]]},
        {"op": "tvm_op", "name": "y", "attrs": {"func_name": "__nop", "num_inputs": "1",
         "num_outputs": "1", "flatten_data": "0"}, "inputs": [[2, 0, 0]]}],
      "arg_nodes": [0, 1], "heads": [[3, 0, 0]],
      "attrs": {"dltype": ["list_str", ["float32", "float32", "float32", "uint1"]],
        "device_index": ["list_int", [1, 1, 1, 1]], "storage_id": ["list_int", [0, 1, 0, 0]],
        "shape": ["list_shape", [[1, 4], [4], [1, 4], [4]]]},
      "node_row_ptr": [0, 1, 2, 3, 4]})";
    if (!from.empty()) {
        EXPECT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
    }
    return text;
}

Tensor fourFloats()
{
    return Tensor::make(kFloat32, {4}, [](std::span<std::byte> to) {
        const float values[] = {0, 1, 2, 3};
        std::memcpy(to.data(), values, sizeof values);
    });
}

class ModelLibrary : public testing::Test
{
protected:
    Result<Loaded> load(const std::string& bytes)
    {
        m_path = m_folder.file("m.tar");
        EXPECT_TRUE(writeFileAtomically(m_path, bytes));
        return loadModel(m_path, {});
    }
    /// The message, which is of BadModel.
    std::string refusal(const std::string& bytes)
    {
        const auto loaded = load(bytes);
        if (loaded) return "";
        EXPECT_EQ(loaded.error().code, DiagnosticCode::BadModel) << loaded.error().text();
        EXPECT_EQ(loaded.error().location.file, m_path);
        return loaded.error().message;
    }
    std::string refused(std::vector<TarPart> all, TarPart more)
    {
        all.push_back(std::move(more));
        return refusal(archive(all));
    }

    std::string refusedGraph(const std::string& text)
    {
        auto all = foreignParts();
        all.push_back({kGraphMember, text});
        return refusal(archive(all));
    }

    test::TemporaryFolder m_folder;
    std::string m_path;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(ModelLibrary, IsReadAsTheModelThatItHolds)
{
    const auto loaded = load(archive(parts(metadata())));
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_TRUE(loaded->diagnostics.empty());
    EXPECT_EQ(printModule(loaded->module), kModel);
    EXPECT_EQ(loaded->facts.format, "mlf");
    EXPECT_EQ(loaded->facts.producer, "Tenon");
    const auto& rows = loaded->facts.metadata;
    const auto has = [&](const char* key, const char* value) {
        return std::find(rows.begin(), rows.end(),
                         std::pair<std::string, std::string>(key, value)) != rows.end();
    };
    EXPECT_TRUE(has("workspace", "4,096 bytes"));
    EXPECT_TRUE(has("target", "c -mcpu=cortex-m4"));
    EXPECT_TRUE(has("executor", "aot"));
    EXPECT_TRUE(isModelLibraryFile(m_path));
}

TEST_F(ModelLibrary, OfAnotherToolIsDescribedAndCannotBeCompiled)
{
    const auto loaded = load(archive(
        parts(metadata(R"("name": "Tenon")", R"("name": "x")"), "#[version = \"0.0.5\"]\n")));
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(loaded->diagnostics.size(), 1u);
    EXPECT_EQ(loaded->diagnostics[0].code, DiagnosticCode::UnsupportedFeature);
    ASSERT_EQ(loaded->facts.inputs.size(), 1u);
    EXPECT_EQ(loaded->facts.inputs[0].name, "x");
    EXPECT_EQ(loaded->facts.inputs[0].dtype, "float32");
}

TEST_F(ModelLibrary, OfTheGraphExecutorTellsItsGraphAndItsMemory)
{
    std::string json = metadata("\"aot\"", "\"graph\"");
    json.replace(
        json.find("\"functions\""), 0,
        R"("sids": [{"storage_id": 0, "size_bytes": 16}, {"storage_id": 1, "size_bytes": 32}], )");
    json.replace(json.find("\"inputs\""), 0,
                 R"("pools": [{"pool_name": "sram", "kind": "workspace", "used_bytes": 4096,
                    "size_hint_bytes": 8192}], "plan": {"algorithm": "hill_climb", "buffers": [
                    {"name": "a", "size_bytes": 100}, {"name": "b", "size_bytes": 3000}]}, )");
    auto all = parts(json);
    all.push_back({kGraphMember, graph()});
    const auto loaded = load(archive(all));
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(printModule(loaded->module), kModel); // its own text, not the kernels'
    const std::map<std::string, std::string> rows(loaded->facts.metadata.begin(),
                                                  loaded->facts.metadata.end());
    EXPECT_EQ(rows.at("graph"), "1 kernel calls, 1 views, 2 inputs and constants, 2 storages");
    EXPECT_EQ(rows.at("storages"), "2, 48 bytes in all");
    EXPECT_EQ(rows.at("pool sram"), "4,096 bytes of 8,192, workspace");
    EXPECT_EQ(rows.at("planned buffers"), "2, the largest `b` of 3,000 bytes");
}

TEST_F(ModelLibrary, OfAnotherToolShowsTheGraphOfItsKernels)
{
    auto all = foreignParts();
    all.push_back({kGraphMember, graph()});
    all.push_back({"./parameters/default.params", paramsBlob({{"p0", fourFloats()}})});
    const auto loaded = load(archive(all));
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(loaded->diagnostics.size(), 1u);
    EXPECT_SAYS(loaded->diagnostics[0].message, "the kernels that were made of it are shown");
    const GraphFunction& main = loaded->module.main();
    ASSERT_EQ(main.params.size(), 1u);
    EXPECT_EQ(loaded->module.node(main.params[0]).name, "x");
    ASSERT_EQ(main.order.size(), 3u); // the constant, the call, the view
    const NodeRecord& constant = loaded->module.node(main.order[0]);
    const NodeRecord& call = loaded->module.node(main.order[1]);
    const NodeRecord& view = loaded->module.node(main.order[2]);
    EXPECT_EQ(constant.constant->number(2), 2);
    EXPECT_EQ(call.op, "tvm.tvmgen_default_fused_add");
    EXPECT_EQ(call.types[0].text(), "Tensor[(1, 4), float32]");
    EXPECT_EQ(call.operands, (std::vector<ValueRef>{{main.params[0], 0}, {constant.id, 0}}));
    EXPECT_EQ(view.op, "tvm.__nop");
    EXPECT_EQ(view.types[0].text(), "Tensor[(4,), bool]");
    EXPECT_EQ(main.results, (std::vector<ValueRef>{{view.id, 0}}));
    ASSERT_EQ(loaded->facts.inputs.size(), 1u);
    EXPECT_EQ(loaded->facts.inputs[0].shape.size(), 2u);
    EXPECT_EQ(loaded->facts.parameterBytes, 16);
    JobContext job;
    const auto built = compile(std::make_shared<const Loaded>(std::move(*loaded)), {}, job);
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, DiagnosticCode::UnsupportedFeature);
}

/// What is changed in a graph, and what is said then.
const std::pair<std::pair<const char*, std::string>, const char*> kBrokenGraphs[] = {
    {{"[[0, 0, 0], [1, 0, 0]]", "[[0, 0, 0], [3, 0, 0]]"},
     "node 2 reads node 3, which does not stand before it; a graph has no cycles"},
    {{"[[0, 0, 0], [1, 0, 0]]", "[[2, 0, 0]]"}, "node 2 reads node 2, which does not"},
    {{"[[0, 0, 0], [1, 0, 0]]", "[[-1, 0, 0]]"}, "node 2 reads node -1"},
    {{"[[0, 0, 0], [1, 0, 0]]",
      "[[" + std::string(100'000, '[') + std::string(100'000, ']') + ", 0, 0]]"},
     "node 2 reads node no number"},
    {{"[[0, 0, 0], [1, 0, 0]]", "[[0, 1, 0]]"}, "reads output 1 of node 0, which has 1"},
    {{"[[0, 0, 0], [1, 0, 0]]", "[7]"}, "no pair of a node and an output"},
    {{"\"num_outputs\": \"1\"", "\"num_outputs\": \"99999999999999999999\""},
     "node 2 has no number of outputs"},
    {{"\"num_outputs\": \"1\"", "\"num_outputs\": \"1000000\""}, "too many values"},
    {{"\"op\": \"tvm_op\"", "\"op\": \"shell\""}, "node 2 is `shell`"},
    {{"\"func_name\": \"tvmgen", "\"name\": \"tvmgen"}, "node 2 names no function"},
    {{"\"name\": \"p0\", \"inputs\": []", "\"name\": \"p0\", \"inputs\": [[0, 0, 0]]"},
     "node 1 is a source and reads others"},
    {{"\"heads\": [[3, 0, 0]]", "\"heads\": [[9, 0, 0]]"}, "`heads` reads node 9"},
    {{"\"float32\", \"uint1\"", "\"float32\""}, "attribute `dltype` has 3 elements for 4 values"},
    {{"\"uint1\"", "\"nonsense\""}, "value 3 has no data type"},
    {{"[1, 4], [4]]", "[1, 4], [4611686018427387904]]"}, "which is too large"},
    {{"[1, 4], [4]]", "[1, 4], [-4]]"}, "value 3 has a size of -4"},
    {{"[1, 4], [4]]", "[1, 4], 7]"}, "value 3 has no shape"},
    {{"[0, 1, 0, 0]", "[0, 1, 0, 900]"}, "value 3 lies in storage 900"},
    {{"\"storage_id\"", "\"x\""}, "attribute `storage_id` is no list"}};

TEST_F(ModelLibrary, RefusesAGraphThatBreaksTheFormat)
{
    EXPECT_EQ(refusedGraph(graph()), "");
    const std::string whole = graph();
    EXPECT_SAYS(refusedGraph(whole.substr(0, whole.size() / 2)), "graph: is no JSON");
    EXPECT_SAYS(refusedGraph(std::string(300'000, '[')), "graph: is no JSON");
    EXPECT_SAYS(refusedGraph("[]"), "`nodes` is no list");
    EXPECT_SAYS(refusedGraph("{\"nodes\": []}"), "has 0 nodes");
    EXPECT_SAYS(refusedGraph("{\"nodes\": [5]}"), "node 0 has no list of inputs");
}

TEST_F(ModelLibrary, RefusesAGraphWhosePartsContradictOneAnother)
{
    for (const auto& [change, says] : kBrokenGraphs)
        EXPECT_SAYS(refusedGraph(graph(change.first, change.second)), says);

    auto all = foreignParts();
    EXPECT_SAYS(refusal(archive(parts(metadata("\"aot\"", "\"graph\"")))),
                "no member `executor-config/graph/default.graph`");
    all.push_back({kGraphMember, graph("[1, 4], [4]", "[1, 4], [5]")});
    all.push_back({"./parameters/default.params", "nonsense"});
    EXPECT_FALSE(refusal(archive(all)).empty());
    all = foreignParts();
    all.push_back({kGraphMember, graph("[[1, 4], [4]", "[[1, 4], [5]")});
    all.push_back({"./parameters/default.params", paramsBlob({{"p0", fourFloats()}})});
    EXPECT_SAYS(refusal(archive(all)), "the parameter `p0` is not the");
}

TEST_F(ModelLibrary, RefusesMemoryThatCannotBe)
{
    const auto with = [&](const char* before, const std::string& what) {
        std::string json = metadata();
        json.replace(json.find(before), 0, what);
        return refusal(archive(parts(json)));
    };
    EXPECT_SAYS(with("\"functions\"", "\"sids\": 5, "), "`sids` is no list");
    EXPECT_SAYS(with("\"functions\"", R"("sids": [{"size_bytes": -1}], )"), "`size_bytes` is no");
    EXPECT_SAYS(with("\"functions\"", R"("sids": [{"size_bytes": 9223372036854775807},
                                                  {"size_bytes": 9223372036854775807}], )"),
                "`sids` has more bytes than there are");
    EXPECT_SAYS(with("\"inputs\"", "\"pools\": {}, "), "`pools` is no list");
    EXPECT_SAYS(with("\"inputs\"", "\"pools\": [7], "), "`used_bytes` is no number of bytes");
    EXPECT_SAYS(with("\"inputs\"", R"("plan": {"buffers": [{}]}, )"), "`size_bytes` is no");
}

TEST_F(ModelLibrary, RefusesMembersThatAreNoFiles)
{
    const auto good = parts(metadata());
    EXPECT_SAYS(refused(good, {"./a", "", '2', "/etc/passwd"}), "member `./a` is a link");
    EXPECT_SAYS(refused(good, {"./a", "", '1', "metadata.json"}), "member `./a` is a link");
    EXPECT_SAYS(refused(good, {"./a", "", '3'}), "neither a file nor a folder");
    EXPECT_SAYS(refused(good, {"../a", "x"}), "leaves the archive");
    EXPECT_SAYS(refused(good, {"./src/../../a", "x"}), "leaves the archive");
    EXPECT_SAYS(refused(good, {"/etc/a", "x"}), "path from the root");
    EXPECT_SAYS(refused(good, {"metadata.json", "{}"}), "`metadata.json` is there twice");
}

TEST_F(ModelLibrary, RefusesSizesThatTheArchiveDoesNotHold)
{
    const auto good = parts(metadata());
    TarPart huge{"./src/a", "x"};
    huge.size = int64_t{1} << 32;
    EXPECT_SAYS(refused(good, huge), "says that it has 4294967296 bytes");
    std::string cut = archive(good);
    cut.resize(1024 + 256); // in the middle of metadata.json
    EXPECT_FALSE(refusal(cut).empty());
    TarPart damaged{"./a", "x"};
    damaged.isDamaged = true;
    EXPECT_SAYS(refused(good, damaged), "damaged");
}

TEST_F(ModelLibrary, RefusesMetadataThatBreaksTheFormat)
{
    EXPECT_SAYS(refusal(archive({{"./default.o", "x"}})), "no member `metadata.json`");
    EXPECT_FALSE(isModelLibraryFile(m_path));
    EXPECT_SAYS(refusal(archive(parts("{\"version\": "))), "metadata.json: is no JSON");
    EXPECT_SAYS(refusal(archive(parts("[]"))), "is no object");
    EXPECT_SAYS(refusal(archive(parts("{}"))), "`version` is no integer");
    EXPECT_SAYS(refusal(archive(parts(metadata("7", "8")))), "`version` is 8; Tenon reads 7");
    EXPECT_SAYS(refusal(archive(parts("{\"version\": 7, \"modules\": {}}"))), "names no model");
    EXPECT_SAYS(refusal(archive(parts(metadata("\"memory\"", "\"x\"")))), "`memory` is missing");
    EXPECT_SAYS(refusal(archive(parts(metadata("4096", "-1")))),
                "`workspace_size_bytes` is no number of bytes");
    EXPECT_SAYS(refusal(archive(parts(metadata("\"inputs\"", "\"x\"")))), "`inputs` is no object");
}

TEST_F(ModelLibrary, RefusesWhatIsNoSingleModel)
{
    const auto two = load(archive(parts(metadata("\"modules\": {", "\"modules\": {\"a\": {}, "))));
    ASSERT_FALSE(two);
    EXPECT_EQ(two.error().code, DiagnosticCode::UnsupportedFeature);
    EXPECT_SAYS(two.error().message, "holds 2 models");
    const auto one = load(archive(parts(R"({"version": 7, "style": "operator"})")));
    ASSERT_FALSE(one);
    EXPECT_SAYS(one.error().message, "a single operator");
}

TEST_F(ModelLibrary, RefusesAModelThatIsNotWhole)
{
    auto noText = parts(metadata());
    noText.erase(noText.begin() + 2);
    EXPECT_SAYS(refusal(archive(noText)), "no member `src/default.relay`");
    auto noConstants = parts(metadata());
    noConstants.pop_back();
    EXPECT_SAYS(refusal(archive(noConstants)), "no member `src/default.constants`");
    noConstants.push_back({"./src/default.constants", "nonsense"});
    EXPECT_FALSE(refusal(archive(noConstants)).empty());
    noConstants.back().content =
        paramsBlob({{"abc", Tensor::make(kFloat32, {1}, [](std::span<std::byte>) {})}});
    EXPECT_SAYS(refusal(archive(noConstants)), "not the one that its name");
    const auto bad = load(archive(parts(metadata(), "def @main(")));
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, DiagnosticCode::BadText);
}

} // namespace
} // namespace tenon::compiler
