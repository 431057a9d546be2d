// SPDX-License-Identifier: Apache-2.0
// Kernels in words: what they do, and where in the model.
#include "core/ir/graph_text.h"
#include "core/ir/kernel_title.h"
#include "core/ir/source_place.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(KernelTitle, SaysWhatTheMembersDo)
{
    test::expectGolden("tests/core/ir/kernel_title.txt", [](const test::GoldenCase& c) {
        const Result<Module> module = parseModule(c.input);
        if (!module) return module.error().text() + "\n";
        std::string out;
        for (const NodeId id : module->main().order)
            if (const NodeRecord& node = module->node(id); node.kind != NodeKind::Constant)
                out += kernelTitle(*module, node).work + "\n";
        return out;
    });
}

struct Place
{
    std::vector<SourceNode> nodes;
    std::string expected;
};

TEST(KernelTitle, SaysWhereInTheModel)
{
    const std::string longName(200, 'a');
    const Place places[] = {
        {{}, ""},
        {{{"Conv_0", "Conv", "", {}}}, "Conv_0"},
        {{{"Conv_0", "Conv", "", {}}, {"Clip_1", "Clip", "", {}}}, "Conv_0, Clip_1"},
        {{{"a", "", "", {}}, {"b", "", "", {}}, {"c", "", "", {}}}, "a .. c"},
        {{{"conv1", "", "", {}}, {"conv3", "", "", {}}}, "conv1-3"},
        {{{"/features/features.0/features.0.0/Conv",
           "",
           "",
           {"features", "features.0", "features.0.0"}}},
         "features.0.0"},
        {{{"x", "", "", {"features", "features.0", "features.0.0"}},
          {"y", "", "", {"features", "features.1", "conv", "conv.0"}}},
         "features.0-1"},
        {{{"x", "", "", {"layer1", "layer1.0", "conv1"}},
          {"y", "", "", {"layer1", "layer1.0", "relu"}}},
         "layer1.0/conv1, relu"},
        {{{"x", "", "", {"layer1", "layer1.0", "conv1"}}, {"y", "", "", {"layer1", "layer1.0"}}},
         "layer1.0/conv1"},
        {{{"x", "", "", {"encoder", "layer.0", "attention", "self", "query"}}},
         "encoder/../self/query"},
        {{{"/Conv", "", "", {}}}, "Conv"},
        {{{longName, "", "", {}}}, ".." + std::string(40, 'a')},
        // No letter is cut in half: the end begins at a whole one.
        {{{"x" + std::string("\xc3\xa4") + std::string(39, 'b'), "", "", {}}},
         ".." + std::string(39, 'b')},
    };
    for (const Place& place : places) {
        std::vector<SourceId> all;
        for (size_t i = 0; i < place.nodes.size(); ++i) all.emplace_back(static_cast<uint32_t>(i));
        EXPECT_EQ(sourcePlace(place.nodes, all), place.expected);
    }
    EXPECT_EQ(sourcePlace({}, {SourceId(3)}), "") << "of a module without sources";
}

TEST(KernelTitle, JoinsWorkAndPlace)
{
    EXPECT_EQ((KernelTitle{"conv 3x3", "features.0"}.text()), "conv 3x3 · features.0");
    EXPECT_EQ((KernelTitle{"conv 3x3", ""}.text()), "conv 3x3");
    EXPECT_EQ((KernelTitle{"", "features.0"}.text()), "features.0");
}

} // namespace
} // namespace tenon::core
