// SPDX-License-Identifier: Apache-2.0
// What must hold for every operator: adding one adds its tests.
#include "compiler/evaluate/evaluate.h"
#include "compiler/evaluate/interpreter.h"
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/op.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"
#include "tests/compiler/ops/op_case.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

class EveryOp : public ::testing::TestWithParam<const OpDef*>
{
protected:
    const OpDef& op() const { return *GetParam(); }
    Module example() const
    {
        auto module = test::exampleModule(std::string(op().example));
        CHECK(module) << op().name << ": " << module.error().text();
        return *std::move(module);
    }
    const NodeRecord& nodeOf(const Module& module) const
    {
        return module.node(module.main().order.at(0));
    }
};

TEST_P(EveryOp, IsDocumented)
{
    EXPECT_FALSE(op().doc.empty());
    // Only sizes reads nothing.
    EXPECT_TRUE(!op().operands.empty() || op().name == "sizes");
    for (const OperandSpec& operand : op().operands) EXPECT_FALSE(operand.doc.empty());
    for (const AttrSpec& attr : op().attrs) EXPECT_FALSE(attr.doc.empty()) << attr.name;
    EXPECT_EQ(findOp(op().name), &op());
}

TEST_P(EveryOp, HasReadableDefaults)
{
    const Attrs none;
    const OpView view{op().name, none, {}, {}};
    for (const AttrSpec& attr : op().attrs) {
        if (attr.fallback.empty()) continue;
        if (attr.type == "int")
            intAttr(view, attr.name);
        else if (attr.type == "float")
            floatAttr(view, attr.name);
        else if (attr.type == "dtype")
            dtypeAttr(view, attr.name);
        else if (attr.type.starts_with("int["))
            intsAttr(view, attr.name);
        else if (attr.type == "string[]")
            EXPECT_EQ(attr.fallback, "[]");
        else if (attr.type.starts_with("float["))
            floatsAttr(view, attr.name);
        else
            stringAttr(view, attr.name);
    }
}

TEST_P(EveryOp, ExampleSurvivesPrinterAndParser)
{
    const Module module = example();
    EXPECT_EQ(nodeOf(module).op, op().name);
    const std::string text = printModule(module);
    const auto again = parseModule(text);
    ASSERT_TRUE(again) << again.error().text() << "\n" << text;
    EXPECT_EQ(printModule(*again), text);
}

TEST_P(EveryOp, InferenceAgreesWithLowering)
{
    const Module module = example();
    const NodeRecord& node = nodeOf(module);
    const auto function = test::lowered(module, node);
    ASSERT_TRUE(function) << function.error().text();
    const tir::PrimFunc& f = **function;
    ASSERT_EQ(f.outputCount, node.types.size());
    for (size_t i = 0; i < node.types.size(); ++i) {
        const tir::Buffer& buffer = f.params[f.params.size() - f.outputCount + i];
        EXPECT_EQ(buffer->dtype, node.types[i].dtype);
        ASSERT_EQ(buffer->shape.size(), node.types[i].shape.size());
        for (size_t d = 0; d < buffer->shape.size(); ++d)
            EXPECT_TRUE(buffer->shape[d].isConstInt(node.types[i].shape[d].value()))
                << "dimension " << d;
    }
    const std::string text = tir::print(f);
    const auto again = tir::parsePrimFunc(text);
    ASSERT_TRUE(again) << again.error().text() << "\n" << text;
    EXPECT_TRUE(tir::structuralEqual(f, *again)) << text;
}

TEST_P(EveryOp, EvaluatorsAgree)
{
    const Module module = example();
    const auto function = test::lowered(module, nodeOf(module));
    ASSERT_TRUE(function) << function.error().text();
    const std::vector<Tensor> inputs = test::randomInputs(module, 7);
    const JobContext job;
    const auto slow = interpret(**function, inputs);
    const auto fast = evaluate(**function, inputs, job);
    ASSERT_TRUE(slow) << slow.error().text();
    ASSERT_TRUE(fast) << fast.error().text();
    for (size_t r = 0; r < slow->size(); ++r)
        for (int64_t i = 0; i < (*slow)[r].size(); ++i) {
            const double a = (*slow)[r].number(i), b = (*fast)[r].number(i);
            if (std::isnan(a) && std::isnan(b)) continue;
            if (op().accuracy == Accuracy::Exact)
                ASSERT_EQ(a, b) << "element " << i;
            else
                ASSERT_NEAR(a, b, 1e-6 * std::max(1.0, std::abs(a))) << "element " << i;
        }
}

TEST_P(EveryOp, RejectsForeignAttributesAndMissingOperands)
{
    Module module = example();
    NodeRecord node = nodeOf(module);
    node.attrs.set("no_such_attribute", int64_t{1});
    auto types = inferTypes(module, node);
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().code, DiagnosticCode::BadAttribute);

    if (op().operands.empty()) return;
    node = nodeOf(module);
    node.operands.clear();
    types = inferTypes(module, node);
    ASSERT_FALSE(types);
    EXPECT_EQ(types.error().code, DiagnosticCode::BadOperandCount);
}

TEST_P(EveryOp, CostIsSane)
{
    const Module module = example();
    const Cost cost = costOf(module, nodeOf(module));
    EXPECT_GE(cost.flops, 0);
    EXPECT_GE(cost.bytes, 0);
    EXPECT_TRUE(std::isfinite(cost.flops) && std::isfinite(cost.bytes));
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, ::testing::ValuesIn(allOps().begin(), allOps().end()),
                         [](const auto& param) {
                             std::string name(param.param->name);
                             for (char& c : name)
                                 if (c == '.') c = '_';
                             return name;
                         });

TEST(OpTable, IsSortedAndUnique)
{
    const auto ops = allOps();
    for (size_t i = 1; i < ops.size(); ++i) EXPECT_LT(ops[i - 1]->name, ops[i]->name);
}

TEST(OpTable, SuggestsNearNames)
{
    const auto module = test::exampleModule("%x: Tensor[(1,), float32] => nn.rellu(%x)");
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().code, DiagnosticCode::UnsupportedOperator);
    EXPECT_NE(module.error().message.find("nn.relu"), std::string::npos);
    EXPECT_EQ(module.error().location.node, "result");
}

} // namespace
} // namespace tenon::compiler
