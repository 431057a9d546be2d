// SPDX-License-Identifier: Apache-2.0
// The wire scan and what it must refuse: truncation, damage, depth, bombs.
#include "compiler/frontend/onnx/file/wire_scan.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/file.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

std::span<const std::byte> bytesOf(const std::string& text)
{
    return std::as_bytes(std::span(text));
}

std::string smallModel()
{
    return test::modelOf("input x float32 1,3,4,4\ninit w float32 2,3,3,3\ninit b float32 2\n"
                         "node Conv conv x,w,b -> c\nnode Relu act c -> y\n"
                         "output y float32 1,2,2,2\n")
        .SerializeAsString();
}

Result<Loaded> loadBytes(const std::string& bytes)
{
    return loadOnnxBytes(bytesOf(bytes), std::make_shared<int>(0), "", "m.onnx", {});
}

TEST(WireScan, KnowsFilesOfText)
{
    const auto messageOf = [](const std::string& text) {
        const auto loaded = loadBytes(text);
        return loaded ? std::string("a model") : loaded.error().message;
    };
    EXPECT_EQ(messageOf("<!DOCTYPE html>\n<html>Not found</html>"),
              "the file is text and no ONNX model; it begins with `<!DOCTYPE html>`");
    const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n";
    EXPECT_NE(messageOf(pointer).find("`git lfs pull` fetches it"), std::string::npos);
    // The 40th byte is in the middle of a letter.
    EXPECT_EQ(messageOf(std::string(39, 'a') + "\xc3\xa9 and on"),
              "the file is text and no ONNX model; it begins with `" + std::string(39, 'a') + "`");
    EXPECT_EQ(messageOf(std::string("words\0", 6)).find("text"), std::string::npos);
}

TEST(WireScan, KnowsFilesOfOtherPrograms)
{
    const std::string rest(300, '\0');
    const std::pair<std::string, const char*> files[] = {
        {"\x7f"
         "ELF\x02\x01",
         "`run`, `bench` and `deploy` take those"},
        {"PK\x03\x04", "a ZIP archive, as PyTorch"},
        {"\x80\x02}q", "a pickle, as PyTorch writes, and no ONNX model; export the model"},
        {"\x93NUMPY\x01", "an array of NumPy and no ONNX model"},
        {std::string("\x1c\0\0\0ORTM", 8), "the .onnx file that it was made from"}};
    for (const auto& [start, message] : files) {
        const auto loaded = loadBytes(start + rest);
        ASSERT_FALSE(loaded) << message;
        EXPECT_NE(loaded.error().message.find(message), std::string::npos)
            << loaded.error().message;
    }
    // Damage that only looks like it stays damage.
    EXPECT_EQ(loadBytes("\x80" + rest).error().message.find("pickle"), std::string::npos);
}

TEST(WireScan, LeavesWeightsWhereTheyAre)
{
    const std::string bytes = smallModel();
    const auto thin = thinModel(bytesOf(bytes), "m");
    ASSERT_TRUE(thin);
    tenon_onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(*thin));
    const auto& weight = model.graph().initializer(0);
    EXPECT_FALSE(weight.has_raw_data());
    ASSERT_EQ(weight.mapped_length(), 54 * sizeof(float));
    float first = 0;
    std::memcpy(&first, bytes.data() + weight.mapped_offset(), sizeof first);
    EXPECT_EQ(first, 0.5f);
    // Small tensors stay inside the message.
    EXPECT_TRUE(model.graph().initializer(1).has_raw_data());
}

TEST(WireScan, SharesAlignedWeightsOfAMappedFile)
{
    const test::TemporaryFolder folder;
    std::string bytes;
    for (int pad = 0; pad < 8; ++pad) {
        auto model = test::modelOf("input x float32 1,3,4,4\ninit w float32 2,3,3,3\n"
                                   "node Conv conv x,w -> y\noutput y float32 1,2,2,2\n");
        model.set_doc_string(std::string(static_cast<size_t>(pad), 'x'));
        ASSERT_TRUE(writeFileAtomically(folder.file("m.onnx"), model.SerializeAsString()));
        const auto loaded = loadOnnx(folder.file("m.onnx"), {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        ASSERT_TRUE(loaded->diagnostics.empty());
        for (const NodeId id : loaded->module.main().order)
            if (const auto& constant = loaded->module.node(id).constant) {
                EXPECT_EQ(constant->number(53), 0.5);
                EXPECT_EQ(reinterpret_cast<uintptr_t>(constant->bytes().data()) % 4, 0u);
            }
    }
}

TEST(WireScan, EveryPrefixIsRefusedOrOpens)
{
    const std::string bytes = smallModel();
    ASSERT_TRUE(loadBytes(bytes));
    int refused = 0;
    for (size_t length = 0; length < bytes.size(); ++length) {
        const auto loaded = loadBytes(bytes.substr(0, length));
        if (!loaded) {
            ++refused;
            EXPECT_EQ(loaded.error().code, DiagnosticCode::BadModel);
            EXPECT_EQ(loaded.error().location.file, "m.onnx");
        }
    }
    EXPECT_GT(refused, static_cast<int>(bytes.size()) - 16);
}

TEST(WireScan, EveryFlippedByteIsRefusedOrOpens)
{
    const std::string bytes = smallModel();
    for (size_t at = 0; at < bytes.size(); ++at)
        for (const int flip : {0x01, 0x80, 0xff}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ flip);
            const auto loaded = loadBytes(damaged);
            if (!loaded) {
                EXPECT_FALSE(loaded.error().message.empty());
            }
        }
}

/// A graph nested `depth` times inside If's attributes.
tenon_onnx::GraphProto nested(int depth)
{
    tenon_onnx::GraphProto graph;
    auto& node = *graph.add_node();
    node.set_op_type("If");
    auto& attr = *node.add_attribute();
    attr.set_name("then_branch");
    attr.set_type(tenon_onnx::AttributeProto::GRAPH);
    if (depth > 0) *attr.mutable_g() = nested(depth - 1);
    return graph;
}

TEST(WireScan, RefusesDepthBombs)
{
    for (const int depth : {20, 100}) {
        tenon_onnx::ModelProto model;
        model.add_opset_import()->set_version(13);
        *model.mutable_graph() = nested(depth);
        const auto loaded = loadBytes(model.SerializeAsString());
        EXPECT_EQ(static_cast<bool>(loaded), depth == 20);
        if (!loaded) {
            EXPECT_NE(loaded.error().message.find("nested too deeply"), std::string::npos);
        }
    }
    // Deeper than any stack, written by hand: graph in attribute in node in graph, innermost first.
    std::string graph;
    for (int i = 0; i < 3000; ++i) {
        const auto wrapped = [](char key, const std::string& inner) {
            std::string out(1, key);
            for (size_t n = inner.size(); true; n >>= 7) {
                out += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
                if (n < 0x80) break;
            }
            return out + inner;
        };
        const std::string attr = wrapped(0x32, graph);
        graph = wrapped(0x0a, wrapped(0x2a, attr));
        if (graph.size() > 1000000) break;
    }
    EXPECT_FALSE(loadBytes(std::string("\x3a") + '\x7f' + graph));
}

TEST(WireScan, RefusesNodesWithoutOperatorBeforeParsingThem)
{
    // A bomb of empty nodes: two bytes each.
    std::string graph;
    for (int i = 0; i < 100000; ++i) graph += std::string("\x0a\x00", 2);
    std::string bytes("\x3a");
    for (size_t n = graph.size(); true; n >>= 7) {
        bytes += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
        if (n < 0x80) break;
    }
    const auto loaded = loadBytes(bytes + graph);
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find("names no operator"), std::string::npos);
}

TEST(WireScan, DropsOurPrivateFieldsFromFiles)
{
    auto model = test::modelOf("input x float32 1,4\ninit w float32 4\nnode Add add x,w -> y\n"
                               "output y float32 1,4\n");
    auto& tensor = *model.mutable_graph()->mutable_initializer(0);
    tensor.clear_raw_data();
    tensor.set_mapped_offset(0);
    tensor.set_mapped_length(16);
    const auto loaded = loadBytes(model.SerializeAsString());
    ASSERT_TRUE(loaded);
    EXPECT_TRUE(hasErrors(loaded->diagnostics));
}

TEST(WireScan, RefusesWhatIsNoModel)
{
    for (const std::string& bytes : {std::string(), std::string("hello, world"),
                                     std::string(64, '\0'), std::string(64, '\xff'),
                                     std::string("\x7f"
                                                 "ELF\x02\x01\x01")})
        EXPECT_FALSE(loadBytes(bytes));
    EXPECT_FALSE(loadOnnx("/nonexistent/model.onnx", {}));
    EXPECT_FALSE(loadOnnx("/", {}));
}

} // namespace
} // namespace tenon::compiler
