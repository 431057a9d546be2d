// SPDX-License-Identifier: Apache-2.0
// The verifier names what is wrong with a module and accepts what is right.
#include "core/ir/graph_text.h"
#include "core/ir/graph_verify.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

const char* kText = R"(def @main(%x: Tensor[(2,), float32]) {
  %c = const([1f, 2f]) : Tensor[(2,), float32]
  %0 = add(%x, %c) : Tensor[(2,), float32]
  %1 = @f(%0) : Tensor[(2,), float32]
  return %1
}
def @f(%p: Tensor[(2,), float32]) {
  %0 = nn.relu(%p) : Tensor[(2,), float32]
  return %0
}
)";

Module sample() { return std::move(*parseModule(kText)); }

std::string firstError(const Module& module)
{
    const std::vector<Diagnostic> errors = verifyModule(module);
    return errors.empty() ? "" : errors[0].message;
}

/// Changes one record of main.
std::string errorAfter(const std::function<void(NodeRecord&)>& change, size_t index)
{
    Module module = sample();
    NodeRecord record = module.node(module.main().order[index]);
    change(record);
    module.setNode(std::move(record));
    return firstError(module);
}

TEST(GraphVerify, AcceptsAWellFormedModule) { EXPECT_EQ(firstError(sample()), ""); }

TEST(GraphVerify, FindsUseBeforeDefinition)
{
    Module module = sample();
    GraphFunction main = module.main();
    std::swap(main.order[1], main.order[2]);
    module.setFunction(main);
    EXPECT_NE(firstError(module).find("not defined before its use"), std::string::npos);
}

TEST(GraphVerify, FindsWrongResultIndex)
{
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.operands[0].index = 1; }, 1).find("not defined"),
              std::string::npos);
}

TEST(GraphVerify, FindsMissingTypes)
{
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.types.clear(); }, 1).find("has no type"),
              std::string::npos);
    Module module = sample();
    NodeRecord record = module.node(module.main().order[1]);
    record.types.clear();
    module.setNode(record);
    VerifyOptions untyped;
    untyped.types = false;
    EXPECT_TRUE(verifyModule(module, untyped).empty());
}

TEST(GraphVerify, FindsCallsThatDoNotFit)
{
    EXPECT_NE(errorAfter(
                  [](NodeRecord& n) {
                      n.types = {{kFloat32, {3}}};
                  },
                  2)
                  .find("result 0"),
              std::string::npos);
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.operands.clear(); }, 2).find("takes 1 operands"),
              std::string::npos);
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.callee = FunctionId(99); }, 2).find("not exist"),
              std::string::npos);
}

TEST(GraphVerify, FindsFunctionsThatAreNeverUsed)
{
    Module module = sample();
    GraphFunction main = module.main();
    main.results = {{main.order[1], 0}};
    main.order.pop_back();
    module.setFunction(main);
    EXPECT_NE(firstError(module).find("`f` is never used"), std::string::npos);
}

TEST(GraphVerify, FindsRecursion)
{
    Module module = sample();
    NodeRecord record = module.node(module.main().order[2]);
    record.callee = module.mainId();
    module.setNode(record);
    EXPECT_NE(firstError(module).find("calls itself"), std::string::npos);
}

TEST(GraphVerify, FindsBadOriginsAndSharedNodes)
{
    EXPECT_NE(errorAfter(
                  [](NodeRecord& n) {
                      n.origin = {SourceId(1), SourceId(0)};
                  },
                  1)
                  .find("not sorted"),
              std::string::npos);
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.origin = {SourceId(77)}; }, 1).find("source"),
              std::string::npos);
    Module module = sample();
    GraphFunction main = module.main();
    main.order.push_back(main.order[0]);
    module.setFunction(main);
    EXPECT_NE(firstError(module).find("two places"), std::string::npos);
}

TEST(GraphVerify, FindsParametersBetweenNodesAndMissingResultNames)
{
    EXPECT_NE(errorAfter([](NodeRecord& n) { n.kind = NodeKind::Parameter; }, 0).find("between"),
              std::string::npos);
    Module module = sample();
    GraphFunction main = module.main();
    main.resultNames = {"y", "z"};
    module.setFunction(main);
    EXPECT_NE(firstError(module).find("some of its results"), std::string::npos);
}

TEST(GraphVerify, FindsConstantsOfAnotherType)
{
    EXPECT_NE(errorAfter(
                  [](NodeRecord& n) {
                      n.types = {{kInt32, {2}}};
                  },
                  0)
                  .find("the value is"),
              std::string::npos);
}

} // namespace
} // namespace tenon::core
