// SPDX-License-Identifier: Apache-2.0
// Graphs within graphs with layers inside of them, truth values, attention, results that are
// inputs.
#include "tests/conformance/tflite/odd_layers.h"

namespace tenon::test {
namespace {

const OddKind kKinds[] = {{"float32", kFloats, TfliteType::Float32, false},
                          {"int8", kBytes, TfliteType::Int8, true}};

/// A graph of one value by `op` with a constant.
void addStep(CaseBuilder& c, const char* op, const Numbers& kind, const Shape32& shape)
{
    TfliteWriter& m = c.model();
    m.graph();
    const int x = m.input("x", kind.type, shape, scaleOf(kind));
    const int k = c.constant(kind, shape);
    m.op(op, {x, k}, {m.output("y", kind.type, shape, scaleOf(kind))},
         FlatOut().number(0, int8_t{0}).number(1, uint8_t{0}));
}

/// A loop whose body chooses: odd steps add, the others multiply.
void addLoopOfBranches(TfliteCases& all, const Numbers& kind)
{
    CaseBuilder c(all, "odd flow", kind.name, "a branch in a loop");
    TfliteWriter& m = c.model();
    const Shape32 shape{3, 5}, one{1};
    const TfliteScale scale = scaleOf(kind);
    const Shape32 in{c.input(kInts, one, {0}), c.input(kind, shape)};
    const Shape32 out{c.output(kInts, one), c.output(kind, shape)};
    m.op("WHILE", in, out, FlatOut().number(0, 1).number(1, 2));
    m.graph();
    const int counter = m.input("i", TfliteType::Int32, one);
    m.input("x", kind.type, shape, scale);
    m.op("LESS", {counter, c.integers({5})}, {m.output("goes_on", TfliteType::Bool, one)});
    m.graph();
    const int i = m.input("i", TfliteType::Int32, one), x = m.input("x", kind.type, shape, scale);
    const int parity = m.tensor("parity", TfliteType::Int32, one);
    const int isOdd = m.tensor("is_odd", TfliteType::Bool, one);
    m.op("FLOOR_MOD", {i, c.integers({2})}, {parity});
    m.op("EQUAL", {parity, c.integers({1})}, {isOdd});
    m.op("ADD", {i, c.integers({1})}, {m.output("next", TfliteType::Int32, one)});
    m.op("IF", {isOdd, x}, {m.output("y", kind.type, shape, scale)},
         FlatOut().number(0, 3).number(1, 4));
    addStep(c, "ADD", kind, shape);
    addStep(c, "MUL", kind, shape);
}

/// Either a convolution or a depthwise one.
void addLayersOfBranches(TfliteCases& all, const OddKind& kind, double condition)
{
    CaseBuilder c(all, "odd flow", kind.name,
                  condition > 0 ? "a convolution in a branch" : "a depthwise one in the other");
    TfliteWriter& m = c.model();
    const Shape32 shape{2, 5, 6, 7};
    const Numbers sums = kind.data.isFloat() ? kind.data : kind.data.within(-5, 6);
    const Shape32 in{c.input(kBools, {1}, {condition}), c.input(kind.data, shape)};
    const int out = c.between(sums, shape);
    m.op("IF", in, {out}, FlatOut().number(0, 1).number(1, 2));
    const int last = c.output(sums, shape);
    m.op("RELU", {out}, {last});
    for (const bool isDepthwise : {false, true}) {
        m.graph();
        OddLayers n(c, kind);
        const OddValue x{m.input("x", kind.data.type, shape, scaleOf(kind.data)), kind.data, shape};
        n.result(isDepthwise ? n.depthwise(x, {{1, 3, 3, 7}, shape})
                             : n.conv(x, {{7, 3, 3, 7}, shape}));
    }
}

/// A branch that calls a branch.
void addNested(TfliteCases& all, double outer, double inner)
{
    CaseBuilder c(all, "odd flow", "float32",
                  std::string("branches in a branch, ") + (outer > 0 ? "true " : "false ") +
                      (inner > 0 ? "true" : "false"));
    TfliteWriter& m = c.model();
    const Shape32 shape{4};
    const Shape32 in{c.input(kBools, {1}, {outer}), c.input(kBools, {1}, {inner}),
                     c.input(kFloats, shape)};
    m.op("IF", in, {c.output(kFloats, shape)}, FlatOut().number(0, 1).number(1, 2));
    m.graph();
    const int choice = m.input("choice", TfliteType::Bool, {1});
    const int x = m.input("x", TfliteType::Float32, shape);
    m.op("IF", {choice, x}, {m.output("y", TfliteType::Float32, shape)},
         FlatOut().number(0, 3).number(1, 4));
    m.graph();
    m.input("choice", TfliteType::Bool, {1});
    const int other = m.input("x", TfliteType::Float32, shape);
    m.op("NEG", {other}, {m.output("y", TfliteType::Float32, shape)});
    addStep(c, "ADD", kFloats, shape);
    addStep(c, "SUB", kFloats, shape);
}

/// A recurrent layer as a loop over rows of its input.
void addUnrolledByHand(TfliteCases& all)
{
    CaseBuilder c(all, "odd flow", "float32", "a recurrent layer as a loop");
    TfliteWriter& m = c.model();
    const Shape32 one{1}, held{1, 6};
    const Shape32 in{c.input(kInts, one, {0}), c.input(kFloats, held)};
    m.op("WHILE", in, {c.output(kInts, one), c.output(kFloats, held)},
         FlatOut().number(0, 1).number(1, 2));
    m.graph();
    const int counter = m.input("i", TfliteType::Int32, one);
    m.input("h", TfliteType::Float32, held);
    m.op("LESS", {counter, c.integers({7})}, {m.output("goes_on", TfliteType::Bool, one)});
    m.graph();
    const int i = m.input("i", TfliteType::Int32, one);
    const int h = m.input("h", TfliteType::Float32, held);
    m.op("ADD", {i, c.integers({1})}, {m.output("next", TfliteType::Int32, one)});
    const int rows = c.constant(kFloats.within(-1, 1), {7, 6});
    const int row = m.tensor("row", TfliteType::Float32, held);
    m.op("GATHER", {rows, i}, {row}, FlatOut().number(0, 0));
    const int w = c.weight(TfliteType::Float32, {6, 6}, -1, 0.5);
    const int sum = m.tensor("sum", TfliteType::Float32, held);
    const int both = m.tensor("both", TfliteType::Float32, held);
    m.op("FULLY_CONNECTED", {h, w, -1}, {sum}, FlatOut().number(0, int8_t{0}));
    m.op("ADD", {sum, row}, {both}, FlatOut().number(0, int8_t{0}));
    m.op("TANH", {both}, {m.output("g", TfliteType::Float32, held)});
}

void addTruth(TfliteCases& all, const Numbers& kind)
{
    CaseBuilder c(all, "odd flow", kind.name, "truth values in and out");
    TfliteWriter& m = c.model();
    const Shape32 shape{3, 4};
    const int a = c.input(kind, shape), b = c.input(kind, shape), mask = c.input(kBools, shape);
    const int above = c.between(kBools, shape), both = c.output(kBools, shape);
    m.op("GREATER", {a, b}, {above});
    m.op("LOGICAL_AND", {above, mask}, {both});
    m.op("SELECT_V2", {both, a, b}, {c.output(kind, shape)});
    m.op("REDUCE_ANY", {both, c.integers({1})}, {c.output(kBools, {3})},
         FlatOut().number(0, uint8_t{0}));
}

/// Scores of rows by rows, their shares, and the mixture of values; the scores are results, too.
void addAttention(TfliteCases& all, const OddKind& kind)
{
    CaseBuilder c(all, "odd flow", kind.name, "attention of 2 heads");
    TfliteWriter& m = c.model();
    const bool isFloat = kind.data.isFloat();
    const Shape32 heads{1, 2, 5, 8}, square{1, 2, 5, 5};
    const int q = c.input(kind.data, heads), k = c.input(kind.data, heads),
              v = c.input(kind.data, heads);
    const int scores = c.output(isFloat ? kind.data : kind.data.within(-40, 40), square);
    const int shares = c.between(isFloat ? kind.data : kind.data.within(0, 255.0 / 256), square);
    m.op("BATCH_MATMUL", {q, k}, {scores}, FlatOut().number(0, uint8_t{0}).number(1, uint8_t{1}));
    m.op("SOFTMAX", {scores}, {shares}, FlatOut().number(0, 0.35F));
    m.op("BATCH_MATMUL", {shares, v}, {c.output(kind.data, heads)},
         FlatOut().number(0, uint8_t{0}).number(1, uint8_t{0}));
}

/// One value twice among the results, and an input that is a result.
void addSharedResults(TfliteCases& all)
{
    CaseBuilder c(all, "odd flow", "float32", "a result twice, and an input as a result");
    const int x = c.input(kFloats, {2, 3});
    const int y = c.output(kFloats, {2, 3});
    c.model().op("ABS", {x}, {y});
    c.model().markOutput(y);
    c.model().markOutput(x);
}

} // namespace

void addOddFlowCases(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kInts}) addLoopOfBranches(all, kind);
    for (const OddKind& kind : kKinds) {
        for (const double condition : {1.0, 0.0}) addLayersOfBranches(all, kind, condition);
        addAttention(all, kind);
    }
    for (const auto& [outer, inner] : {std::pair{1.0, 1.0}, {1.0, 0.0}, {0.0, 1.0}})
        addNested(all, outer, inner);
    addUnrolledByHand(all);
    for (const Numbers& kind : {kFloats, kInts, kBytes}) addTruth(all, kind);
    addSharedResults(all);
}

} // namespace tenon::test
