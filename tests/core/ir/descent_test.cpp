// SPDX-License-Identifier: Apache-2.0
// What several passes made together.
#include "core/ir/descent.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const char* kText = R"(def @main(%x: Tensor[(2,), float32]) {
  %a = nn.relu(%x) : Tensor[(2,), float32]
  %b = sigmoid(%a) : Tensor[(2,), float32]
  %c = tanh(%b) : Tensor[(2,), float32]
  return %c
}
)";

struct Sample
{
    const Module before = std::move(*parseModule(kText));
    Module after = before;
    NodeId a = before.main().order[0];
    NodeId b = before.main().order[1];
    NodeId c = before.main().order[2];

    /// `old` becomes a node of the operator `op`, by `rule`.
    Change replace(NodeId old, const char* op, const char* rule)
    {
        Patch patch{rule, "a test", after.mainId(), {old}};
        NodeRecord made = newOpNode(after, op, after.node(old).operands);
        made.types = after.node(old).types;
        patch.replace.push_back({{old, 0}, {made.id, 0}});
        patch.nodes = {made};
        patch.erase = {old};
        const Change change = applyPatch(after, patch);
        sortTopologically(after, after.mainId());
        return change;
    }
    /// Both become one.
    Change merge(NodeId first, NodeId second, const char* rule)
    {
        Patch patch{rule, "a test", after.mainId(), {first, second}};
        NodeRecord made = newOpNode(after, "exp", after.node(first).operands);
        made.types = after.node(second).types;
        patch.replace.push_back({{second, 0}, {made.id, 0}});
        patch.nodes = {made};
        patch.erase = {first, second};
        const Change change = applyPatch(after, patch);
        sortTopologically(after, after.mainId());
        return change;
    }
};

TEST(ComposeChanges, FollowsANodeThroughSeveralPasses)
{
    Sample sample;
    const std::vector<Change> first{sample.replace(sample.b, "sqrt", "one")};
    const NodeId made = first[0].to.back();
    const std::vector<Change> second{sample.replace(made, "exp", "two")};
    const auto composed = composeChanges(sample.before, sample.after, {&first, &second});
    ASSERT_EQ(composed.size(), 1u); // what was in between is not told, nor what only reads it
    EXPECT_EQ(composed[0].from, std::vector<NodeId>{sample.b});
    EXPECT_EQ(composed[0].to, second[0].to);
    EXPECT_EQ(composed[0].rules, (std::vector<std::string>{"one", "two"}));
}

TEST(ComposeChanges, PutsNodesTogetherThatBecameOne)
{
    Sample sample;
    const std::vector<Change> first{sample.replace(sample.a, "sqrt", "one")};
    const NodeId made = first[0].to.back();
    const std::vector<Change> second{sample.merge(made, sample.b, "two")};
    const auto composed = composeChanges(sample.before, sample.after, {&first, &second});
    ASSERT_EQ(composed.size(), 1u);
    EXPECT_EQ(composed[0].from, (std::vector<NodeId>{sample.a, sample.b}));
    EXPECT_EQ(composed[0].to.size(), 1u);
    EXPECT_EQ(composed[0].rules, (std::vector<std::string>{"one", "two"}));
}

TEST(ComposeChanges, SaysNothingOfPassesThatChangedNothing)
{
    Sample sample;
    const std::vector<Change> none;
    EXPECT_TRUE(composeChanges(sample.before, sample.after, {&none, &none}).empty());
    EXPECT_TRUE(composeChanges(sample.before, sample.after, {}).empty());
}

} // namespace
} // namespace tenon::core
