// SPDX-License-Identifier: Apache-2.0
// Model-local functions and sparse initializers: what the import makes of them.
#include "compiler/frontend/import_report.h"
#include "compiler/frontend/onnx/file/inline_functions.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

using namespace tenon::compiler;
using tenon_onnx::AttributeProto;
using tenon_onnx::FunctionProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

Loaded inlinedModel(const ModelProto& model)
{
    const std::string bytes = model.SerializeAsString();
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    return loaded ? *std::move(loaded) : Loaded{.diagnostics = {loaded.error()}};
}

std::string errorsOfInlined(const Loaded& loaded)
{
    std::string out;
    for (const Diagnostic& d : loaded.diagnostics) out += d.text() + "\n";
    return out;
}

NodeProto& addNode(FunctionProto& function, const std::string& op,
                   const std::vector<std::string>& inputs, const std::string& output)
{
    NodeProto& node = *function.add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
}

FunctionProto& addFunction(ModelProto& model, const std::string& name)
{
    FunctionProto& function = *model.add_functions();
    function.set_domain("my.ops");
    function.set_name(name);
    function.add_input("a");
    function.add_output("r");
    auto& opset = *function.add_opset_import();
    opset.set_version(17);
    return function;
}

/// Slopes negative values by its attribute `slope`, then applies Relu.
void addSloped(ModelProto& model)
{
    FunctionProto& function = addFunction(model, "Sloped");
    function.add_attribute("slope");
    NodeProto& leaky = addNode(function, "LeakyRelu", {"a"}, "t");
    AttributeProto& alpha = *leaky.add_attribute();
    alpha.set_name("alpha");
    alpha.set_type(AttributeProto::FLOAT);
    alpha.set_ref_attr_name("slope");
    addNode(function, "Relu", {"t"}, "r");
}

TEST(Functions, AreReplacedByTheirNodes)
{
    ModelProto model = modelOf("opset 13\nopset my.ops 1\ninput x float32 1,4\n"
                               "node Sloped one x -> h slope=0.5f domain:my.ops\n"
                               "node Sloped two h -> y domain:my.ops\noutput y float32 1,4\n");
    addSloped(model);
    const Loaded loaded = inlinedModel(model);
    EXPECT_EQ(errorsOfInlined(loaded), "");
    const std::string text = printModule(loaded.module, {.hashes = false});
    EXPECT_NE(text.find("nn.leaky_relu(%x, alpha=0.5f)"), std::string::npos) << text;
    EXPECT_NE(text.find("alpha=0.01f"), std::string::npos) << text; // the operator's default
    ASSERT_EQ(loaded.module.sources().size(), 4u);
    EXPECT_EQ(loaded.module.sources()[0].name, "one/LeakyRelu_0");
    EXPECT_EQ(loaded.facts.functions.size(), 1u);
}

TEST(Functions, ReadTheirOperatorsAsOfTheirOwnOpset)
{
    // HardSwish is known from opset 14 on; the model imports 13, the function 17.
    ModelProto model = modelOf("opset 13\nopset my.ops 1\ninput x float32 1,4\n"
                               "node Act n x -> y domain:my.ops\noutput y float32 1,4\n");
    addNode(addFunction(model, "Act"), "HardSwish", {"a"}, "r");
    EXPECT_EQ(errorsOfInlined(inlinedModel(model)), "");
}

TEST(Functions, MayPassAnInputOn)
{
    ModelProto model = modelOf("opset 13\nopset my.ops 1\ninput x float32 1,4\n"
                               "node Same n x -> h domain:my.ops\nnode Relu r h -> y\n"
                               "output y float32 1,4\n");
    FunctionProto& function = addFunction(model, "Same");
    function.set_output(0, "a");
    const Loaded loaded = inlinedModel(model);
    EXPECT_EQ(errorsOfInlined(loaded), "");
}

TEST(Functions, ThatCallThemselvesAreReported)
{
    ModelProto model = modelOf("opset 13\nopset my.ops 1\ninput x float32 1,4\n"
                               "node Twice n x -> y domain:my.ops\noutput y float32 1,4\n");
    FunctionProto& function = addFunction(model, "Twice");
    addNode(function, "Twice", {"a"}, "t").set_domain("my.ops");
    addNode(function, "Twice", {"t"}, "r").set_domain("my.ops");
    const std::string errors = errorsOfInlined(inlinedModel(model));
    EXPECT_NE(errors.find("calls itself"), std::string::npos) << errors.substr(0, 400);
}

tenon_onnx::SparseTensorProto sparse(const std::vector<int64_t>& indices)
{
    tenon_onnx::SparseTensorProto out;
    out.mutable_values()->set_name("w");
    out.mutable_values()->set_data_type(tenon_onnx::TensorProto::FLOAT);
    out.mutable_values()->add_dims(2);
    out.mutable_values()->add_float_data(3);
    out.mutable_values()->add_float_data(5);
    out.mutable_indices()->set_data_type(tenon_onnx::TensorProto::INT64);
    out.mutable_indices()->add_dims(2);
    if (indices.size() == 4) out.mutable_indices()->add_dims(2);
    for (const int64_t index : indices) out.mutable_indices()->add_int64_data(index);
    out.add_dims(2);
    out.add_dims(2);
    return out;
}

TEST(Functions, ThatDoubleAreNotWrittenOutWithAllTheirNames)
{
    // Long before there are too many nodes, those have names of hundreds of megabytes.
    ModelProto model = modelOf("opset 17\nopset my.ops 1\ninput x float32 2\n"
                               "node F0 n x -> y domain:my.ops\noutput y float32 2\n");
    const std::string tail(2000, 'f');
    for (int i = 0; i < 20; ++i) {
        FunctionProto& function = addFunction(model, "F" + std::to_string(i));
        const std::string next = "F" + std::to_string(i + 1);
        for (const auto& [from, to] : {std::pair("a", "t"), std::pair("t", "r")}) {
            NodeProto& call = addNode(function, next, {from}, to);
            call.set_domain("my.ops");
            call.set_name(tail + to);
        }
    }
    addNode(addFunction(model, "F20"), "Relu", {"a"}, "r");
    inlineFunctions(model);
    EXPECT_LT(model.ByteSizeLong(), size_t{64} << 20);
}

TEST(SparseInitializers, AreWrittenOutDensely)
{
    for (const std::vector<int64_t>& indices :
         {std::vector<int64_t>{1, 2}, std::vector<int64_t>{0, 1, 1, 0}}) {
        ModelProto model = modelOf("opset 13\ninput x float32 2,2\nnode Add n x,w -> y\n"
                                   "output y float32 2,2\n");
        *model.mutable_graph()->add_sparse_initializer() = sparse(indices);
        const Loaded loaded = inlinedModel(model);
        EXPECT_EQ(errorsOfInlined(loaded), "");
        const std::string text = printModule(loaded.module, {.hashes = false});
        EXPECT_NE(text.find("const([0f, 3f, 5f, 0f])"), std::string::npos) << text;
    }
}

TEST(SparseInitializers, WithIndicesOutsideAreRefused)
{
    for (const std::vector<int64_t>& indices :
         {std::vector<int64_t>{1, 4}, std::vector<int64_t>{-1, 2},
          std::vector<int64_t>{0, 1, 2, 0}}) {
        ModelProto model = modelOf("opset 13\ninput x float32 2,2\nnode Add n x,w -> y\n"
                                   "output y float32 2,2\n");
        *model.mutable_graph()->add_sparse_initializer() = sparse(indices);
        const std::string errors = errorsOfInlined(inlinedModel(model));
        EXPECT_NE(errors.find("index outside its shape"), std::string::npos) << errors;
    }
}

TEST(SparseInitializers, ThatNameOnePlaceTwiceAreRefused)
{
    for (const std::vector<int64_t>& indices :
         {std::vector<int64_t>{2, 2}, std::vector<int64_t>{1, 0, 1, 0}}) {
        ModelProto model = modelOf("opset 13\ninput x float32 2,2\nnode Add n x,w -> y\n"
                                   "output y float32 2,2\n");
        *model.mutable_graph()->add_sparse_initializer() = sparse(indices);
        const std::string errors = errorsOfInlined(inlinedModel(model));
        EXPECT_NE(errors.find("sparse tensor `w` names one place twice"), std::string::npos)
            << errors;
    }
}

TEST(SparseInitializers, ThatClaimMoreThanMemoryAreRefused)
{
    ModelProto model = modelOf("opset 13\ninput x float32 2,2\nnode Add n x,w -> y\n"
                               "output y float32 2,2\n");
    auto& tensor = *model.mutable_graph()->add_sparse_initializer();
    tensor = sparse({1, 2});
    tensor.set_dims(0, int64_t{1} << 40);
    const std::string errors = errorsOfInlined(inlinedModel(model));
    EXPECT_NE(errors.find("too large"), std::string::npos) << errors;
}

TEST(ImportReport, SaysWhatBecameOfEveryNode)
{
    const Loaded loaded = inlinedModel(modelOf(
        "opset 13\ninput x float32 1,4\nnode Relu fine x -> a\nnode ImageDecoder odd a -> b\n"
        "node Relu after b -> c\nnode Add wrong x -> d\noutput c float32 1,4\n"
        "output d float32 1,4\n"));
    const ImportReport report = importReport(loaded);
    ASSERT_EQ(report.nodes.size(), 4u);
    EXPECT_EQ(report.nodes[0].verdict, NodeVerdict::Supported);
    EXPECT_EQ(report.nodes[1].verdict, NodeVerdict::Unsupported);
    EXPECT_NE(report.nodes[1].why.find("decode them before the model"), std::string::npos);
    EXPECT_EQ(report.nodes[2].verdict, NodeVerdict::Unreached);
    EXPECT_EQ(report.nodes[3].verdict, NodeVerdict::Invalid);
    EXPECT_EQ(report.count(NodeVerdict::Supported), 1u);
}

TEST(ImportReport, TellsNodesOfOneNameTogether)
{
    const ImportReport report = importReport(
        inlinedModel(modelOf("opset 13\ninput x float32 4\nnode Relu n x -> a\nnode Relu n x -> a\n"
                             "node Relu n x -> a\noutput a float32 4\n")));
    ASSERT_EQ(report.nodes.size(), 3u);
    EXPECT_NE(report.nodes[2].why.find("and 1 more for the 3 nodes of this name"),
              std::string::npos)
        << report.nodes[2].why;
}

} // namespace
} // namespace tenon::test
