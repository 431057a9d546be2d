// SPDX-License-Identifier: Apache-2.0
// Readers of blobs and graph JSON: what they accept, and every way of refusing the rest.
#include "tests/runtime/artifacts.h"
#include "tests/runtime/session_shim.h"

#include <gtest/gtest.h>

#include <random>

extern "C" {
#include "runtime/executor/graph.h"
}
#include "runtime/include/tenon/c_runtime_api.h"

namespace tenon::test {
namespace {

/// Parses a copy of exactly the text's size, so that a sanitizer sees reads beyond it.
int parse(const std::string& text)
{
    const std::vector<char> exact(text.begin(), text.end());
    tenon_arena arena{};
    tenon_graph graph;
    const int status = tenon_graph_parse(exact.data(), exact.size(), &arena, &graph);
    tenon_arena_free(&arena);
    return status;
}

int loadBlob(const std::string& stream)
{
    const std::vector<char> exact(stream.begin(), stream.end());
    return shim_blob_load(exact.data(), exact.size());
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(GraphJson, acceptsAGraph)
{
    EXPECT_EQ(parse(addGraphJson()), 0) << TVMGetLastError();
    EXPECT_EQ(parse(addGraphJson() + " \n"), 0);
    EXPECT_EQ(parse(replaced(addGraphJson(), "\"attrs\":{\"dltype\"",
                             "\"metadata\":{\"a\":[1.5e3,null,true,{\"b\":\"\\u00e4\"}]},"
                             "\"attrs\":{\"dltype\"")),
              0)
        << TVMGetLastError();
}

TEST(GraphJson, refusesTextCutOffAnywhere)
{
    const std::string json = addGraphJson();
    for (size_t size = 0; size < json.size(); ++size) EXPECT_NE(parse(json.substr(0, size)), 0);
}

TEST(GraphJson, refusesGraphsThatWouldRunAstray)
{
    const std::string json = addGraphJson();
    const std::pair<const char*, const char*> changes[] = {
        {"[[4,0,0]]", "[[5,0,0]]"},
        {"[[4,0,0]]", "[[4,1,0]]"},
        {"[[4,0,0]]", "[[-1,0,0]]"},
        {"[[4,0,0]]", "[[4,-1,0]]"},
        {"[[4,0,0]]", "[]"},
        {"[0,1,2,3,4,5]", "[0,1,2,3,4,6]"},
        {"[0,1,2,3,4,5]", "[0,1,2,3,4]"},
        {"[0,1,2,2,3]", "[0,1,2,2,-3]"},
        {"[0,1,2,2,3]", "[0,1,2,2,99]"},
        {"[0,1,2,2,3]", "[0,1,2,2]"},
        {"\"arg_nodes\":[0,1]", "\"arg_nodes\":[0,9]"},
        {"\"arg_nodes\":[0,1]", "\"arg_nodes\":[0,2]"},
        {"[[2,0,0]]", "[[4,0,0]]"},
        {"\"inputs\":[[0,0,0],[1,0,0]]", "\"inputs\":[[0,0,0]]"},
        {"\"num_outputs\":\"1\"", "\"num_outputs\":\"2\""},
        {"\"num_outputs\":\"1\"", "\"num_outputs\":1"},
        {"\"flatten_data\":\"0\"", "\"flat\":\"0\""},
        {"[2,3],[6],[6]", "[2,3],[7],[6]"},
        {"[2,3],[6],[6]", "[2,3],[6],[-6]"},
        {"[2,3],[6],[6]", "[2,3],[6],[4611686018427387904,8]"},
        {"float32", "float33"},
        {"\"heads\"", "\"tails\""},
        {"\"op\":\"null\"", "\"op\":\"tvm_op\""},
    };
    for (const auto& [from, to] : changes) EXPECT_NE(parse(replaced(json, from, to)), 0) << to;
    EXPECT_NE(parse(json + "x"), 0);
    EXPECT_NE(parse(replaced(json, "\"attrs\":{\"dltype\"",
                             "\"metadata\":" + std::string(1000, '[') + ",\"attrs\":{\"dltype\"")),
              0);
}

TEST(GraphJson, refusesAReshapeWithSeveralResults)
{
    std::string json = addGraphJson();
    for (const auto& [from, to] : {
             std::pair{"\"__nop\",\"num_inputs\":\"1\",\"num_outputs\":\"1\"",
                       "\"split\",\"num_inputs\":\"1\",\"num_outputs\":\"2\""},
             std::pair{"[0,1,2,3,4,5]", "[0,1,2,3,5,6]"},
             std::pair{"\"list_str\",[", "\"list_str\",[\"float32\","},
             std::pair{"[1,1,1,1,1]", "[1,1,1,1,1,1]"},
             std::pair{"[6],[6]", "[6],[6],[6]"},
             std::pair{"[0,1,2,2,3]", "[0,1,2,2,3,4]"},
         })
        json = replaced(json, from, to);
    EXPECT_EQ(parse(json), 0) << TVMGetLastError();
    EXPECT_NE(parse(replaced(json, "split", "__nop")), 0);
}

TEST(GraphJson, survivesFlippedBytes)
{
    std::mt19937 random(3);
    const std::string json = addGraphJson();
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string damaged = json;
        for (unsigned n = 0; n <= random() % 3; ++n)
            damaged[random() % damaged.size()] = "\"[]{},:0179-\\ux "[random() % 16];
        if (parse(damaged) == 0) continue; // a name that was changed is as good as another
        ++refused;
        ASSERT_STRNE(TVMGetLastError(), "");
    }
    EXPECT_GT(refused, 10000);
    EXPECT_EQ(parse(json), 0) << TVMGetLastError();
}

TEST(Blob, acceptsTheSmallestArtifacts)
{
    EXPECT_EQ(loadBlob(graphBlob(graphFactoryPayload(addGraphJson()))), 0) << TVMGetLastError();
    EXPECT_EQ(loadBlob(aotBlob()), 0) << TVMGetLastError();
    EXPECT_EQ(loadBlob(Stream().u64(1).text("_lib").bytes()), 0);
}

TEST(Blob, refusesStreamsCutOffAnywhere)
{
    for (const std::string& whole : {graphBlob(graphFactoryPayload("{}")), aotBlob()})
        for (size_t size = 0; size < whole.size(); ++size)
            EXPECT_NE(loadBlob(whole.substr(0, size)), 0) << size;
}

TEST(Blob, refusesBadTrees)
{
    const auto tree = [](std::initializer_list<uint64_t> rows,
                         std::initializer_list<uint64_t> children) {
        Stream stream;
        stream.u64(3).text("metadata_module").text("_lib").text("_import_tree").u64(rows.size());
        for (const uint64_t row : rows) stream.u64(row);
        stream.u64(children.size());
        for (const uint64_t child : children) stream.u64(child);
        return stream.bytes();
    };
    EXPECT_EQ(loadBlob(tree({0, 1, 1}, {1})), 0);
    EXPECT_NE(loadBlob(tree({0, 1, 1}, {2})), 0);
    EXPECT_NE(loadBlob(tree({0, 1, 1}, {0})), 0);
    EXPECT_NE(loadBlob(tree({0, 1, 2}, {1, 0})), 0);
    EXPECT_NE(loadBlob(tree({0, 2, 1}, {1})), 0);
    EXPECT_NE(loadBlob(tree({1, 1, 1}, {1})), 0);
    EXPECT_NE(loadBlob(tree({0, 1}, {1})), 0);
    EXPECT_NE(loadBlob(tree({0, 1, 1}, {1, 1})), 0);
    EXPECT_NE(loadBlob(Stream().u64(1).text("cuda").bytes()), 0);
    EXPECT_NE(std::string(TVMGetLastError()).find("`cuda`"), std::string::npos);
    EXPECT_NE(loadBlob(Stream().u64(~uint64_t{0}).bytes()), 0);
}

} // namespace
} // namespace tenon::test
