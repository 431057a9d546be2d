// SPDX-License-Identifier: Apache-2.0
// Patches: uses follow replacements, provenance is conserved, collisions are dropped in order.
#include "core/ir/change_set.h"
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const char* kText = R"(def @main(%x: Tensor[(2,), float32]) {
  %a = nn.relu(%x) : Tensor[(2,), float32]
  %b = sigmoid(%a) : Tensor[(2,), float32]
  %c = tanh(%b) : Tensor[(2,), float32]
  return %c, %a
}
)";

struct Sample
{
    Module module = std::move(*parseModule(kText));
    NodeId x = module.main().params[0];
    NodeId a = module.main().order[0];
    NodeId b = module.main().order[1];
    NodeId c = module.main().order[2];
    Patch patch(const char* rule, std::vector<NodeId> from) const
    {
        Patch out;
        out.rule = rule;
        out.reason = "a test";
        out.function = module.mainId();
        out.from = std::move(from);
        return out;
    }
    NodeRecord node(const char* op, NodeId operand) const
    {
        NodeRecord out = newOpNode(module, op, {{operand, 0}});
        out.types = module.node(a).types;
        return out;
    }
};

std::vector<std::string> ops(const Module& module)
{
    std::vector<std::string> out;
    for (const NodeId id : module.main().order) out.push_back(module.node(id).op);
    return out;
}

TEST(ChangeSet, ReplacesNodesAndKeepsTheirOrigin)
{
    Sample s;
    Patch patch = s.patch("merge", {s.a, s.b});
    patch.nodes = {s.node("exp", s.x)};
    patch.replace = {{{s.b, 0}, {patch.nodes[0].id, 0}}, {{s.a, 0}, {patch.nodes[0].id, 0}}};
    patch.erase = {s.a, s.b};
    const Change change = applyPatch(s.module, patch);
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"exp", "tanh"}));
    EXPECT_EQ(s.module.node(change.to[0]).origin,
              (std::vector<SourceId>{SourceId(0), SourceId(1)}));
    EXPECT_EQ(change.origin, s.module.node(change.to[0]).origin);
    EXPECT_EQ(s.module.main().results[1].node, change.to[0]);
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, WrapsAValueInAChainThatReadsIt)
{
    Sample s;
    Patch patch = s.patch("wrap", {s.a});
    patch.nodes = {s.node("exp", s.a)};
    patch.nodes.push_back(s.node("log", patch.nodes[0].id));
    patch.replace = {{{s.a, 0}, {patch.nodes[1].id, 0}}};
    applyPatch(s.module, patch);
    EXPECT_EQ(ops(s.module),
              (std::vector<std::string>{"nn.relu", "exp", "log", "sigmoid", "tanh"}));
    EXPECT_EQ(s.module.node(patch.nodes[0].id).operands[0].node, s.a);
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, ResolvesReplacementsThroughOtherPatchesOfTheBatch)
{
    Sample s;
    Patch first = s.patch("drop-a", {s.a});
    first.replace = {{{s.a, 0}, {s.x, 0}}};
    first.erase = {s.a};
    Patch second = s.patch("change-b", {s.b});
    second.nodes = {s.node("exp", s.a)};
    second.replace = {{{s.b, 0}, {second.nodes[0].id, 0}}};
    second.erase = {s.b};
    const AppliedPatches applied = applyPatches(s.module, std::vector<Patch>{first, second});
    EXPECT_EQ(applied.dropped, 0u);
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"exp", "tanh"}));
    EXPECT_EQ(s.module.node(second.nodes[0].id).operands[0].node, s.x);
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, DropsLaterPatchesThatTouchConsumedNodes)
{
    Sample s;
    Patch first = s.patch("first", {s.a, s.b});
    first.nodes = {s.node("exp", s.a)};
    first.replace = {{{s.b, 0}, {first.nodes[0].id, 0}}};
    first.erase = {s.b};
    Patch second = s.patch("second", {s.b, s.c});
    second.nodes = {s.node("log", s.b)};
    second.replace = {{{s.c, 0}, {second.nodes[0].id, 0}}};
    second.erase = {s.c};
    const AppliedPatches applied = applyPatches(s.module, std::vector<Patch>{first, second});
    EXPECT_EQ(applied.dropped, 1u);
    ASSERT_EQ(applied.changes.size(), 1u);
    EXPECT_EQ(applied.changes[0].rule, "first");
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"nn.relu", "exp", "tanh"}));
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, DropsAnErasureOfWhatAnEarlierPatchNeeds)
{
    Sample s;
    Patch first = s.patch("first", {s.c});
    first.nodes = {s.node("exp", s.b)};
    first.replace = {{{s.c, 0}, {first.nodes[0].id, 0}}};
    first.erase = {s.c};
    Patch second = s.patch("second", {s.b});
    second.erase = {s.b};
    EXPECT_EQ(applyPatches(s.module, std::vector<Patch>{first, second}).dropped, 1u);
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, DropsPatchesThatReadWhatIsErased)
{
    Sample s;
    Patch first = s.patch("skip-b", {s.c});
    first.replace = {{{s.c, 0}, {s.a, 0}}};
    first.erase = {s.c, s.b};
    Patch byNode = s.patch("reads-b", {});
    byNode.nodes = {s.node("exp", s.b)};
    Patch byValue = s.patch("becomes-b", {});
    byValue.replace = {{{s.x, 0}, {s.b, 0}}};
    const AppliedPatches applied =
        applyPatches(s.module, std::vector<Patch>{first, byNode, byValue});
    EXPECT_EQ(applied.dropped, 2u);
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"nn.relu"}));
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, DropsAPatchThatWouldTurnReplacementsInACircle)
{
    Sample s;
    Patch first = s.patch("b-for-c", {s.c});
    first.replace = {{{s.c, 0}, {s.b, 0}}};
    first.erase = {s.c};
    Patch second = s.patch("c-for-b", {s.a});
    second.replace = {{{s.b, 0}, {s.c, 0}}};
    EXPECT_EQ(applyPatches(s.module, std::vector<Patch>{first, second}).dropped, 1u);
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"nn.relu", "sigmoid"}));
    EXPECT_TRUE(verifyModule(s.module).empty());
}

TEST(ChangeSet, FollowsLongChainsOfReplacements)
{
    constexpr int kNodes = 100'000; // each walking to the end would take five billion steps
    Sample s;
    NodeId last = s.c;
    std::vector<Patch> patches;
    GraphFunction function = s.module.main();
    for (int i = 0; i < kNodes; ++i) {
        const NodeRecord node = s.node("exp", last);
        s.module.setNode(node);
        function.order.push_back(node.id);
        patches.push_back(s.patch("skip", {node.id}));
        patches.back().replace = {{{node.id, 0}, {last, 0}}};
        patches.back().erase = {node.id};
        last = node.id;
    }
    function.results = {{last, 0}};
    s.module.setFunction(std::move(function));
    EXPECT_EQ(applyPatches(s.module, patches).dropped, 0u);
    EXPECT_EQ(ops(s.module), (std::vector<std::string>{"nn.relu", "sigmoid", "tanh"}));
    EXPECT_EQ(s.module.main().results[0].node, s.c);
}

TEST(ChangeSet, MovesNodesIntoAFunctionUnderTheSameId)
{
    Sample s;
    Patch patch = s.patch("fuse", {s.b, s.c});
    NodeRecord param;
    param.id = s.module.ids().nextNode();
    param.kind = NodeKind::Parameter;
    param.types = s.module.node(s.a).types;
    NodeRecord inner = s.module.node(s.b);
    inner.operands = {{param.id, 0}};
    NodeRecord call;
    call.id = s.module.ids().nextNode();
    call.kind = NodeKind::Call;
    call.callee = s.module.ids().nextFunction();
    call.operands = {{s.a, 0}};
    call.types = s.module.node(s.c).types;
    GraphFunction fused;
    fused.id = call.callee;
    fused.name = "fused";
    fused.params = {param.id};
    fused.order = {s.b, s.c};
    fused.results = {{s.c, 0}};
    patch.nodes = {param, inner, call};
    patch.moved = {s.b, s.c};
    patch.functions = {fused};
    patch.replace = {{{s.c, 0}, {call.id, 0}}};
    const Module before = s.module;
    applyPatch(s.module, patch);
    EXPECT_EQ(s.module.main().order, (std::vector<NodeId>{s.a, call.id}));
    EXPECT_EQ(s.module.node(call.id).origin, (std::vector<SourceId>{SourceId(1), SourceId(2)}));
    EXPECT_EQ(s.module.function(fused.id).results[0].node, s.c);
    EXPECT_TRUE(verifyModule(s.module).empty());
    EXPECT_EQ(before.main().order.size(), 3u) << "the older version stays as it was";
}

TEST(ChangeSet, SortsTopologicallyAndStably)
{
    Sample s;
    GraphFunction main = s.module.main();
    main.order = {s.c, s.b, s.a};
    s.module.setFunction(main);
    sortTopologically(s.module, s.module.mainId());
    EXPECT_EQ(s.module.main().order, (std::vector<NodeId>{s.a, s.b, s.c}));

    // What does not depend on one another stays in its order.
    for (const NodeId id : {s.b, s.c}) {
        NodeRecord free = s.module.node(id);
        free.operands = {{id == s.b ? s.x : s.a, 0}};
        s.module.setNode(free);
    }
    main.order = {s.c, s.b, s.a};
    s.module.setFunction(main);
    sortTopologically(s.module, s.module.mainId());
    EXPECT_EQ(s.module.main().order, (std::vector<NodeId>{s.b, s.a, s.c}));
}

} // namespace
} // namespace tenon::core
