// SPDX-License-Identifier: Apache-2.0
// Branches, loops and variables: operators that name other graphs of the file.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

/// A graph of two inputs and one result of `shape` by one operator.
void addBody(TfliteWriter& model, const char* op, const Numbers& kind, const Shape32& shape)
{
    model.graph();
    const TfliteScale scale = scaleOf(kind);
    const int a = model.input("a", kind.type, shape, scale),
              b = model.input("b", kind.type, shape, scale);
    const int out = model.output("out", kind.type, shape, scale);
    model.op(op, {a, b}, {out}, FlatOut().number(0, int8_t{0}).number(1, uint8_t{0}));
}

void addBranches(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kInts})
        for (const double condition : {0.0, 1.0}) {
            CaseBuilder c(all, "IF", kind.name, condition > 0 ? "true" : "false");
            const Shape32 shape{2, 3};
            const Shape32 in{c.input(kBools, {1}, {condition}), c.input(kind, shape),
                             c.input(kind, shape)};
            c.op(in, {c.output(kind, shape)}, FlatOut().number(0, 1).number(1, 2));
            addBody(c.model(), "ADD", kind, shape);
            addBody(c.model(), "MUL", kind, shape);
        }
}

/// Adds a constant while the counter is below a limit.
void addLoop(TfliteCases& all, const Numbers& kind)
{
    CaseBuilder c(all, "WHILE", kind.name, "five times");
    const Shape32 shape{2, 3};
    const Shape32 in{c.input(kInts, {1}, {0}), c.input(kind, shape)};
    const Shape32 out{c.output(kInts, {1}), c.output(kind, shape)};
    c.op(in, out, FlatOut().number(0, 1).number(1, 2));
    TfliteWriter& m = c.model();
    const TfliteScale scale = scaleOf(kind);
    m.graph();
    const int counter = m.input("i", TfliteType::Int32, {1});
    m.input("x", kind.type, shape, scale);
    const int limit = c.integers({5});
    m.op("LESS", {counter, limit}, {m.output("goes_on", TfliteType::Bool, {1})});
    m.graph();
    const int i = m.input("i", TfliteType::Int32, {1}), x = m.input("x", kind.type, shape, scale);
    const int one = c.integers({1}), step = c.constant(kind.within(-0.5, 0.5), shape);
    const int next = m.output("next", TfliteType::Int32, {1}),
              sum = m.output("sum", kind.type, shape, scale);
    m.op("ADD", {i, one}, {next});
    m.op("ADD", {x, step}, {sum}, FlatOut().number(1, uint8_t{0}));
}

/// What a variable holds is read, added to and assigned again.
void addVariables(TfliteCases& all, const Numbers& kind)
{
    for (const char* op : {"CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}) {
        CaseBuilder c(all, op, kind.name, "read, add, assign, read");
        const Shape32 shape{2, 3};
        TfliteWriter& m = c.model();
        const auto options = [] { return FlatOut().string(0, "").string(1, "held"); };
        const int x = c.input(kind, shape);
        const int handle = m.tensor("handle", TfliteType::Resource, {1});
        const int before = c.between(kind, shape), sum = c.between(kind, shape);
        const int after = c.output(kind, shape);
        m.op("CALL_ONCE", {}, {}, FlatOut().number(0, 1));
        m.op("VAR_HANDLE", {}, {handle}, options());
        m.op("READ_VARIABLE", {handle}, {before});
        m.op("ADD", {before, x}, {sum}, FlatOut().number(1, uint8_t{0}));
        m.op("ASSIGN_VARIABLE", {handle, sum}, {});
        m.op("READ_VARIABLE", {handle}, {after});
        m.graph();
        const int inner = m.tensor("inner", TfliteType::Resource, {1});
        const int first = c.constant(kind, shape);
        m.op("VAR_HANDLE", {}, {inner}, options());
        m.op("ASSIGN_VARIABLE", {inner, first}, {});
    }
}

} // namespace

void addControlCases(TfliteCases& all)
{
    addBranches(all);
    for (const Numbers& kind : {kFloats, kBytes, kInts}) addLoop(all, kind);
    for (const Numbers& kind : {kFloats, kBytes}) addVariables(all, kind);
}

} // namespace tenon::test
