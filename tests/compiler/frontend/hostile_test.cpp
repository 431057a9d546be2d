// SPDX-License-Identifier: Apache-2.0
// Files made to break readers: too large, names that are code, axes and sizes at their bounds.
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tenon::test {
namespace {

using namespace tenon::compiler;

std::string errorsOf(const tenon_onnx::ModelProto& model)
{
    const std::string bytes = model.SerializeAsString();
    const auto loaded =
        loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    if (!loaded) return loaded.error().text();
    std::string out;
    for (const Diagnostic& d : loaded->diagnostics)
        if (d.severity == Severity::Error) out += d.text() + "\n";
    return out;
}

TEST(HostileModel, BeyondTwoGibibytesIsToldToUseExternalData)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("model.onnx");
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    ASSERT_GE(file, 0);
    const bool isSparse = ::ftruncate(file, (off_t{1} << 31) + 1) == 0;
    ::close(file);
    TENON_NEED(isSparse, "sparse-files", "the file system has no sparse files of this size");
    const auto loaded = loadOnnx(path, {});
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find("external data"), std::string::npos)
        << loaded.error().text();
}

TEST(HostileModel, MayHaveAnyName)
{
    for (const std::string& name :
         {std::string("%s%n%d"), std::string(1 << 20, 'n'), std::string("<b>\"&amp;"),
          std::string("\x1b[2J\x1b[31m"), std::string("\u202egnp.exe"), std::string("a\0b", 3),
          std::string("\xff\xfe"), std::string("../../etc/passwd")}) {
        auto model = modelOf("input x float32 2\nnode Relu r x -> y\noutput y float32 2\n");
        auto& graph = *model.mutable_graph();
        graph.mutable_node(0)->set_op_type(name);
        graph.mutable_node(0)->set_name(name);
        graph.mutable_node(0)->set_input(0, name);
        const std::string errors = errorsOf(model);
        EXPECT_FALSE(errors.empty());
        EXPECT_EQ(errors.find('\x1b'), std::string::npos) << "control codes reach the terminal";
        EXPECT_EQ(errors.find('\0'), std::string::npos);
    }
}

/// Each of whose nodes would otherwise remember all before it: gigabytes.
TEST(HostileModel, MayComputeALongChainFromConstants)
{
    constexpr int kNodes = 30'000;
    auto model = modelOf("opset 13\ninput x float32 1\nfloats k float32 1 = 1\n"
                         "node Add n0 k,k -> v0\nnode Add last x,v0 -> y\noutput y float32 1\n");
    auto& graph = *model.mutable_graph();
    for (int i = 1; i < kNodes; ++i) {
        auto& node = *graph.add_node() = graph.node(0);
        node.set_name("n" + std::to_string(i));
        node.set_input(0, "v" + std::to_string(i - 1));
        node.set_output(0, "v" + std::to_string(i));
    }
    graph.mutable_node(1)->set_input(1, "v" + std::to_string(kNodes - 1));
    const std::string bytes = model.SerializeAsString();
    const auto loaded =
        loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    size_t sources = 0;
    for (const NodeId id : loaded->module.main().order)
        sources += loaded->module.node(id).origin.size();
    EXPECT_LE(sources, 1000u);
    EXPECT_GE(loaded->changes.size() + sources, size_t{kNodes}); // none is forgotten
}

TEST(HostileModel, HasItsAxesCheckedAtTheirBounds)
{
    for (const std::string op :
         {"Softmax", "LogSoftmax", "Hardmax", "ArgMax", "Split", "Concat", "LpNormalization"})
        for (const int axis : {-4, -3, 2, 3}) {
            const std::string inputs = op == "Concat" ? "x,x" : "x";
            const std::string outputs = op == "Split" ? "y,z" : "y";
            const std::string errors = errorsOf(
                modelOf("input x float32 2,2,2\nnode " + op + " n " + inputs + " -> " + outputs +
                        " axis=" + std::to_string(axis) + "\noutput y float32 *\n"));
            const bool isInside = axis >= -3 && axis < 3;
            EXPECT_EQ(errors.empty(), isInside) << op << " " << axis << ": " << errors;
            EXPECT_TRUE(isInside || errors.find("at node 'n'") != std::string::npos) << errors;
        }
}

TEST(HostileModel, HasAttributesComparedWithItsWeights)
{
    const char* const nodes[] = {
        "node Conv n x,w -> y kernel_shape=[100000,100000]",
        "node Conv n x,w -> y group=1000000",
        "node Conv n x,w -> y group=0",
        "node Conv n x,w -> y strides=[0,0]",
        "node Conv n x,w -> y dilations=[9223372036854775807,1]",
        "node Conv n x,w -> y pads=[9223372036854775807,0,0,0]",
        "node ConvTranspose n x,w -> y output_shape=[9223372036854775807,1]",
        "node MaxPool n x -> y kernel_shape=[0,0]",
        "node MaxPool n x -> y kernel_shape=[9223372036854775807,2]",
        "node DepthToSpace n x -> y blocksize=0",
        "node SpaceToDepth n x -> y blocksize=0",
        "node LSTM n s,r,r -> y hidden_size=1000000",
        "node GRU n s,r,r -> y hidden_size=0"};
    for (const char* node : nodes) {
        const std::string errors = errorsOf(modelOf(
            std::string("input x float32 1,4,4,4\ninput s float32 2,1,3\n") +
            "init w float32 4,4,3,3\ninit r float32 1,8,3\n" + node + "\noutput y float32 *\n"));
        EXPECT_NE(errors.find("at node 'n'"), std::string::npos) << node << ": " << errors;
    }
}

} // namespace
} // namespace tenon::test
