// SPDX-License-Identifier: Apache-2.0
// Control flow and variables of .tflite files.
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using namespace tenon::compiler;
using Type = TfliteType;
using Numbers = std::vector<double>;

/// One operator on x in a graph of its own.
void branch(TfliteWriter& w, const std::string& op)
{
    w.graph();
    const int x = w.input("in " + op, Type::Float32, {2});
    const int y = w.output("out " + op, Type::Float32, {2});
    w.op(op, {x}, {y});
}

Module moduleOf(const TfliteWriter& w)
{
    const auto bytes = w.file();
    auto loaded = loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    EXPECT_TRUE(loaded) << loaded.error().text();
    for (const Diagnostic& d : loaded->diagnostics)
        EXPECT_NE(d.severity, Severity::Error) << d.text();
    return loaded->module;
}

size_t countOf(const Module& module, const std::string& op)
{
    size_t count = 0;
    for (const NodeId id : module.main().order) count += module.node(id).op == op;
    return count;
}

TEST(TfliteControl, IfHasTwoBodies)
{
    TfliteWriter w;
    const int c = w.input("c", Type::Bool, {1});
    const int x = w.input("x", Type::Float32, {2});
    const int y = w.output("y", Type::Float32, {2});
    w.op("IF", {c, x}, {y}, FlatOut().number(0, int32_t{1}).number(1, int32_t{2}));
    branch(w, "ABS");
    branch(w, "NEG");
    const Module module = moduleOf(w);
    ASSERT_EQ(countOf(module, "if"), 1u);
}

TEST(TfliteControl, IfWithAKnownConditionIsItsBranch)
{
    TfliteWriter w;
    const int c = w.constant<uint8_t>("c", Type::Bool, {1}, {0});
    const int x = w.input("x", Type::Float32, {2});
    const int y = w.output("y", Type::Float32, {2});
    w.op("IF", {c, x}, {y}, FlatOut().number(0, int32_t{1}).number(1, int32_t{2}));
    branch(w, "ABS");
    branch(w, "NEG");
    EXPECT_EQ(numbersOf(w, {{"x", floats({2}, {1, -2})}}), (Numbers{-1, 2}));
}

TEST(TfliteControl, ACompositeIsWhatItsGraphSays)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2});
    const int y = w.output("y", Type::Float32, {2});
    w.op("STABLEHLO_COMPOSITE", {x}, {y},
         FlatOut().string(0, "aten.neg.default").number(1, int32_t{1}));
    branch(w, "NEG");
    const Module module = moduleOf(w);
    EXPECT_EQ(countOf(module, "negative"), 1u);
    TfliteWriter bad;
    const int a = bad.input("a", Type::Float32, {2});
    bad.op("STABLEHLO_COMPOSITE", {a}, {bad.output("b", Type::Float32, {2})},
           FlatOut().number(1, int32_t{7}));
    const auto bytes = bad.file();
    const auto loaded = loadTfliteBytes(bytes, nullptr, "model.tflite", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_FALSE(loaded->diagnostics.empty());
    EXPECT_NE(loaded->diagnostics[0].text().find("it names graph 7 of 1"), std::string::npos)
        << loaded->diagnostics[0].text();
}

TEST(TfliteControl, WhileIsALoopThatCarriesItsInputs)
{
    TfliteWriter w;
    const int i = w.input("i", Type::Int32, {});
    const int o = w.output("o", Type::Int32, {});
    w.op("WHILE", {i}, {o}, FlatOut().number(0, int32_t{1}).number(1, int32_t{2}));
    w.graph();
    const int a = w.input("a", Type::Int32, {});
    const int most = w.constant<int32_t>("most", Type::Int32, {}, {10});
    const int goes = w.output("goes", Type::Bool, {});
    w.op("LESS", {a, most}, {goes});
    w.graph();
    const int b = w.input("b", Type::Int32, {});
    const int three = w.constant<int32_t>("three", Type::Int32, {}, {3});
    const int next = w.output("next", Type::Int32, {});
    w.op("ADD", {b, three}, {next});
    const Module module = moduleOf(w);
    ASSERT_EQ(countOf(module, "loop"), 1u);
}

TEST(TfliteControl, VariablesStartWithWhatIsAssignedOnce)
{
    const auto handle = [](TfliteWriter& w) {
        const int h = w.tensor("h", Type::Resource, {});
        w.op("VAR_HANDLE", {}, {h}, FlatOut().string(1, "state"));
        return h;
    };
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2});
    w.op("CALL_ONCE", {}, {}, FlatOut().number(0, int32_t{1}));
    const int h = handle(w);
    const int old = w.tensor("old", Type::Float32, {2});
    w.op("READ_VARIABLE", {h}, {old});
    const int sum = w.tensor("sum", Type::Float32, {2});
    w.op("ADD", {x, old}, {sum});
    w.op("ASSIGN_VARIABLE", {h, sum}, {});
    const int y = w.output("y", Type::Float32, {2});
    w.op("READ_VARIABLE", {h}, {y});
    w.graph();
    const int first = w.constant<float>("first", Type::Float32, {2}, {10, 20});
    w.op("ASSIGN_VARIABLE", {handle(w), first}, {});
    EXPECT_EQ(numbersOf(w, {{"x", floats({2}, {1, 2})}}), (Numbers{11, 22}));
}

/// What the import says of a layer whose memory is a variable, or a value of the model.
std::vector<Diagnostic> remarksOnMemory(bool isVariable)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 2});
    const int f = w.constant<float>("f", Type::Float32, {1, 2}, {1, 1});
    const int t = w.constant<float>("t", Type::Float32, {1, 3}, {1, 2, 3});
    const int s = isVariable ? w.variable("memory", Type::Float32, {1, 3})
                             : w.input("memory", Type::Float32, {1, 3});
    w.op("SVDF", {x, f, t, -1, s}, {w.output("y", Type::Float32, {1, 1})},
         FlatOut().number(0, int32_t{1}));
    const auto loaded = loadTfliteBytes(w.file(), nullptr, "model.tflite", {});
    EXPECT_TRUE(loaded);
    return loaded->diagnostics;
}

TEST(TfliteControl, SaysThatStatesStartAnew)
{
    const std::vector<Diagnostic> remarks = remarksOnMemory(true);
    ASSERT_EQ(remarks.size(), 1u);
    EXPECT_EQ(remarks[0].severity, Severity::Warning);
    EXPECT_NE(remarks[0].message.find("`memory` starts anew"), std::string::npos)
        << remarks[0].message;
    for (const Diagnostic& remark : remarksOnMemory(false))
        EXPECT_EQ(remark.message.find("starts anew"), std::string::npos) << remark.message;
}

} // namespace
} // namespace tenon::test
