// SPDX-License-Identifier: Apache-2.0
// Names out of hostile files: endless, all alike, or of terminal codes. What is printed stays
// short, and takes little memory.
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

namespace tenon::cli {
namespace {

const std::string kLong(2'000'000, 'n');
const std::string kCodes = "\x1b[31m\x1b]0;title\x07\r\n\x7f\xc2\x9b\xe2\x80\xae";

/// What a command prints about a model, both streams.
std::string told(const std::string& command, const tenon_onnx::ModelProto& model)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("model.onnx");
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    const Outcome outcome = tenon(command + " " + path + " 2>&1");
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 1 || outcome.code == 4) << outcome.code;
    return outcome.output;
}

void expectLittleMemory()
{
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    EXPECT_LT(usage.ru_maxrss, 512 * 1024) << "KiB, of the largest process so far";
}

tenon_onnx::ModelProto relu()
{
    return test::modelOf("input x float32 4\nnode Relu n x -> y\noutput y float32 4\n");
}

/// The same model with one of its names replaced, in every place that has names.
std::vector<tenon_onnx::ModelProto> renamed(const std::string& name)
{
    std::vector<tenon_onnx::ModelProto> out(7, relu());
    const auto node = [&](size_t i) { return out[i].mutable_graph()->mutable_node(0); };
    node(0)->set_name(name);
    node(0)->set_op_type("Unknown");
    node(1)->set_op_type(name);
    node(2)->set_input(0, name);
    node(3)->set_domain(name);
    out[4].mutable_graph()->mutable_output(0)->set_name(name);
    node(5)->set_output(0, name);
    out[5].mutable_graph()->mutable_output(0)->set_name(name);
    out[6]
        .mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param(name);
    return out;
}

TEST(HostileNames, AreElided)
{
    for (const tenon_onnx::ModelProto& model : renamed(kLong))
        for (const char* command : {"inspect", "run"}) {
            const std::string text = told(command, model);
            EXPECT_LT(text.size(), 10'000u) << command << text.substr(0, 2000);
        }
    expectLittleMemory();
}

TEST(HostileNames, DoNotReachTheTerminal)
{
    for (const tenon_onnx::ModelProto& model : renamed(kCodes))
        for (const char* command : {"inspect", "run"}) {
            const std::string text = told(command, model);
            for (const char* code : {"\x1b", "\x07", "\r", "\x7f", "\xc2\x9b", "\xe2\x80\xae"})
                EXPECT_EQ(text.find(code), std::string::npos) << command << ": " << text;
        }
}

TEST(HostileNames, ThatAreAllAlikeAreListedInLinearTime)
{
    for (const char* name : {"", "n"}) {
        auto model = relu();
        for (int i = 0; i < 50'000; ++i) {
            auto* node = model.mutable_graph()->add_node();
            *node = model.graph().node(0);
            node->set_name(name);
        }
        const std::string text = told("inspect", model);
        EXPECT_NE(text.find("the name `y` is defined twice"), std::string::npos);
        EXPECT_NE(text.find("more; "), std::string::npos);
        EXPECT_LT(text.size(), 1'000'000u);
    }
    expectLittleMemory();
}

TEST(HostileNames, OfFilesStandInErrorsOfTheCompiler)
{
    const auto model = test::modelOf(
        "input x float32 1\nints s int64 1 = 1000000000000\nnode ConstantOfShape large s -> c\n"
        "node Add a c,x -> y\noutput y float32 *\n");
    for (const char* command : {"run", "passes"}) {
        const std::string text = told(command, model);
        EXPECT_NE(text.find("at node 'large'"), std::string::npos) << text;
        EXPECT_NE(text.find("model.onnx"), std::string::npos) << text;
    }
}

} // namespace
} // namespace tenon::cli
