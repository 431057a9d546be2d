// SPDX-License-Identifier: Apache-2.0
// Following a source node: alone, as a row of a kernel, folded into a constant, gone; and finding
// it by its name.
#include "core/ir/follow.h"
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

/// Three nodes that come from "act_a", "act_b" and "act_c" of the model file.
struct Sample
{
    Module module = std::move(*parseModule(kText));
    NodeId a = module.main().order[0];
    NodeId b = module.main().order[1];
    NodeId c = module.main().order[2];

    Sample()
    {
        module.setSources(std::make_shared<const std::vector<SourceNode>>(std::vector<SourceNode>{
            {"act_a", "Relu", "", {}}, {"act_b", "Sigmoid", "", {}}, {"Act_C", "Tanh", "", {}}}));
        uint32_t source = 0;
        for (const NodeId id : {a, b, c}) {
            NodeRecord node = module.node(id);
            node.origin = {SourceId(source++)};
            module.setNode(node);
        }
    }

    /// b and c in one primitive function, called once.
    Change fuse()
    {
        GraphFunction fused;
        fused.id = module.ids().nextFunction();
        fused.name = "fused_sigmoid_tanh";
        fused.order = {b, c};
        fused.results = {{c, 0}};
        NodeRecord param;
        param.id = module.ids().nextNode();
        param.kind = NodeKind::Parameter;
        param.types = module.node(a).types;
        fused.params = {param.id};
        NodeRecord inner = module.node(b);
        inner.operands = {{param.id, 0}};
        NodeRecord call;
        call.id = module.ids().nextNode();
        call.kind = NodeKind::Call;
        call.callee = fused.id;
        call.operands = {{a, 0}};
        call.types = module.node(c).types;
        call.origin = {SourceId(1), SourceId(2)};
        GraphFunction main = module.main();
        main.order = {a, call.id};
        main.results = {{call.id, 0}};
        for (const NodeRecord& node : {param, inner, call}) module.setNode(node);
        module.setFunction(fused);
        module.setFunction(main);
        return {"fuse", "both are elementwise", {b, c}, {call.id}, {b, c}, call.origin};
    }
};

TEST(Follow, SaysWhichRowOfWhichKernelANodeBecame)
{
    Sample s;
    const Module imported = s.module;
    const std::vector<Change> changes{s.fuse()};
    const std::vector<Change> none;
    const std::vector<FollowedPass> passes{{"InferType", false, &none, &imported},
                                           {"FuseOps", true, &changes, &s.module}};
    const auto steps = follow(imported, passes, SourceId(2));
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(placesText(steps[0].places), "tanh");
    EXPECT_EQ(steps[1].version, 2u);
    EXPECT_EQ(steps[1].pass, "FuseOps");
    ASSERT_EQ(steps[1].rules.size(), 1u);
    EXPECT_EQ(steps[1].rules[0].first, "fuse");
    EXPECT_EQ(placesText(steps[1].places), "row 2 of kernel 1");
    EXPECT_EQ(steps[1].places[0].rows, 2);
    EXPECT_EQ(steps[1].places[0].kernel, "fused_sigmoid_tanh");
    EXPECT_EQ(steps[1].places[0].node, s.c);
}

TEST(Follow, LeavesOutPassesThatDidNotTouchTheNode)
{
    Sample s;
    const Module imported = s.module;
    const std::vector<Change> changes{s.fuse()};
    const auto steps = follow(
        imported, std::vector<FollowedPass>{{"FuseOps", true, &changes, &s.module}}, SourceId(0));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(placesText(steps[0].places), "nn.relu");
}

TEST(Follow, SaysThatANodeIsInsideOfAKernelOrAConstantOrGone)
{
    Sample s;
    NodeRecord constant = newConstantNode(s.module, Tensor(), "folded");
    constant.origin = {SourceId(0)};
    NodeRecord call;
    call.id = s.module.ids().nextNode();
    call.kind = NodeKind::CallTir;
    call.kernel = "tvmgen_tanh";
    call.operands = {{constant.id, 0}};
    call.origin = {SourceId(2)};
    GraphFunction main = s.module.main();
    main.order = {constant.id, call.id};
    main.results = {{call.id, 0}};
    s.module.setNode(constant);
    s.module.setNode(call);
    s.module.setFunction(main);
    const Whereabouts here(s.module);
    EXPECT_EQ(placesText(here.of(SourceId(0))), "part of a constant");
    EXPECT_EQ(placesText(here.of(SourceId(1))), "gone");
    EXPECT_EQ(placesText(here.of(SourceId(2))), "inside kernel 1");
    EXPECT_EQ(placesText(Whereabouts(s.module, SourceId(2)).of(SourceId(2))), "inside kernel 1");
    EXPECT_EQ(placesText(here.of(SourceId(7))), "gone");
}

TEST(Follow, PutsArithmeticOfConstantsBehindWhatTheProgramComputes)
{
    Sample s;
    NodeRecord constant = newConstantNode(s.module, Tensor(), "scale");
    NodeRecord ofConstant = newOpNode(s.module, "multiply", {{constant.id, 0}, {constant.id, 0}});
    ofConstant.origin = {SourceId(0)};
    GraphFunction main = s.module.main();
    main.order.insert(main.order.begin(), {constant.id, ofConstant.id});
    s.module.setNode(constant);
    s.module.setNode(ofConstant);
    s.module.setFunction(main);
    EXPECT_EQ(placesText(Whereabouts(s.module).of(SourceId(0))), "nn.relu; multiply of constants");
}

TEST(Follow, FindsANodeByItsNameOrAPartOfIt)
{
    const Sample s;
    EXPECT_EQ(findSource(s.module, "act_a")->value, 0u);
    EXPECT_EQ(findSource(s.module, "act_c")->value, 2u);
    EXPECT_EQ(findSource(s.module, "_B")->value, 1u);
}

TEST(Follow, NamesCandidatesForAnUnclearName)
{
    const Sample s;
    EXPECT_EQ(findSource(s.module, "act").error().message,
              "3 nodes of the model have `act` in their names; did you mean `act_a`, `act_b`, "
              "`Act_C`?");
    EXPECT_EQ(findSource(s.module, "akt_a").error().message,
              "no node of the model is called `akt_a`; did you mean `act_a`, `act_b`, `Act_C`?");
    EXPECT_FALSE(findSource(s.module, ""));
}

} // namespace
} // namespace tenon::core
