// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by indices and conditions.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

const std::vector<Numbers> kKinds{kFloats, kBytes, kUnsigned, kWide, kInts, kLongs, kBools};

void addGathers(TfliteCases& all, const Numbers& kind)
{
    for (const int32_t axis : {0, 1, -1}) {
        const Shape32 out = axis == 0   ? Shape32{2, 2, 5, 3}
                            : axis == 1 ? Shape32{4, 2, 2, 3}
                                        : Shape32{4, 5, 2, 2};
        CaseBuilder c(all, "GATHER", kind.name, "axis " + std::to_string(axis));
        const int x = c.input(kind, {4, 5, 3}), at = c.input(kInts, {2, 2}, {2, 0, 1, 2});
        c.op({x, at}, {c.output(kind, out)}, FlatOut().number(0, axis).number(1, 0));
    }
    {
        CaseBuilder c(all, "GATHER", kind.name, "one batch axis");
        const int x = c.input(kind, {2, 5, 3}),
                  at = c.input(kInts, {2, 4}, {4, 0, 1, 3, 2, 2, 0, 4});
        c.op({x, at}, {c.output(kind, {2, 4, 3})}, FlatOut().number(0, 1).number(1, 1));
    }
    {
        CaseBuilder c(all, "GATHER_ND", kind.name, "rows");
        const int x = c.input(kind, {4, 5, 3}), at = c.input(kInts, {3, 1}, {3, 0, 1});
        c.op({x, at}, {c.output(kind, {3, 5, 3})});
    }
    CaseBuilder c(all, "GATHER_ND", kind.name, "elements");
    const int x = c.input(kind, {4, 5, 3});
    const int at = c.input(kInts, {2, 2, 3}, {3, 4, 2, 0, 0, 0, 1, 2, 0, 2, 3, 1});
    c.op({x, at}, {c.output(kind, {2, 2})});
}

void addSelections(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "SELECT", kind.name, "rows by 4");
        const Shape32 inputs{c.input(kBools, {4}), c.input(kind, {4, 3}), c.input(kind, {4, 3})};
        c.op(inputs, {c.output(kind, {4, 3})});
    }
    {
        CaseBuilder c(all, "SELECT", kind.name, "elements");
        const Shape32 inputs{c.input(kBools, {4, 3}), c.input(kind, {4, 3}), c.input(kind, {4, 3})};
        c.op(inputs, {c.output(kind, {4, 3})});
    }
    CaseBuilder c(all, "SELECT_V2", kind.name, "broadcast");
    const Shape32 inputs{c.input(kBools, {2, 1, 3}), c.input(kind, {4, 3}), c.input(kind, {})};
    c.op(inputs, {c.output(kind, {2, 4, 3})});
}

void addSearches(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kInts, kLongs}) {
        CaseBuilder c(all, "TOPK_V2", kind.name, "3 of 4x9");
        const int x = c.input(kind, {4, 9}), k = c.integers({3}, {});
        c.op({x, k}, {c.output(kind, {4, 3}), c.output(kInts, {4, 3})});
    }
    for (const Numbers& kind : {kFloats, kInts, kBools, kBytes})
        for (const int32_t axis : {-1, 0}) {
            const Shape32 out = axis == 0 ? Shape32{6, 2, 3} : Shape32{2, 3, 6};
            CaseBuilder c(all, "ONE_HOT", kind.name, "axis " + std::to_string(axis));
            const int at = c.input(kInts, {2, 3}, {0, 5, 2, 6, -1, 3}), depth = c.integers({6}, {});
            const int on = c.constant(kind, {}, {1}), off = c.constant(kind, {}, {0});
            c.op({at, depth, on, off}, {c.output(kind, out)}, FlatOut().number(0, axis));
        }
    for (const Numbers& kind : {kFloats, kInts, kBools, kLongs}) {
        CaseBuilder c(all, "WHERE", kind.name, "3x4");
        const int x = c.input(kind, {3, 4}, {0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1});
        c.op({x}, {c.output(kLongs, {4, 2})});
    }
}

void addUpdates(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kWide, kInts, kLongs, kBools}) {
        CaseBuilder c(all, "DYNAMIC_UPDATE_SLICE", kind.name, "2x2 into 4x5");
        const int x = c.input(kind, {4, 5}), part = c.input(kind, {2, 2}),
                  at = c.input(kInts, {2}, {1, 4});
        c.op({x, part, at}, {c.output(kind, {4, 5})});
    }
    for (const Numbers& kind : {kFloats, kInts, kPlainBytes, kLongs}) {
        CaseBuilder c(all, "SCATTER_ND", kind.name, "rows, one twice");
        const int at = c.input(kInts, {3, 1}, {3, 0, 3}),
                  rows = c.input(kind.within(-9, 9), {3, 2}), shape = c.integers({5, 2});
        c.op({at, rows, shape}, {c.output(kind, {5, 2})});
    }
    for (const auto& [table, name] :
         {std::pair{kFloats, "float32"}, {kBytes, "int8"}, {kBytes, "hybrid"}}) {
        const bool isHybrid = std::string(name) == "hybrid";
        CaseBuilder c(all, "EMBEDDING_LOOKUP", name, "3 of 7 rows");
        const int ids = c.input(kInts, {3}, {6, 0, 3});
        const int rows =
            isHybrid ? c.weight(TfliteType::Int8, {7, 4}, -1) : c.constant(table, {7, 4});
        c.op({ids, rows}, {c.output(isHybrid ? kFloats : table, {3, 4})});
    }
    for (const Numbers& kind : {kFloats, kInts, kLongs}) {
        CaseBuilder c(all, "RANGE", kind.name, "from 2 to 11 by 3");
        const int a = c.constant(kind, {}, {2}), b = c.constant(kind, {}, {11}),
                  d = c.constant(kind, {}, {3});
        c.op({a, b, d}, {c.output(kind, {3})});
    }
}

void addSuppressions(TfliteCases& all)
{
    std::vector<double> boxes;
    for (int i = 0; i < 8; ++i) {
        const double at = 0.3 * (i % 3) + 0.02 * i;
        boxes.insert(boxes.end(), {at, 0.5 * at, at + 0.4, 0.5 * at + 0.3});
    }
    const std::vector<double> scores{0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.8, 0.2};
    for (const char* op : {"NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"}) {
        const bool hasScores = std::string(op).back() == '5';
        CaseBuilder c(all, op, "float32", "6 of 8 boxes");
        Shape32 inputs{c.input(kFloats, {8, 4}, boxes), c.input(kFloats, {8}, scores),
                       c.integers({6}, {}), c.constant(kFloats, {}, {0.5}),
                       c.constant(kFloats, {}, {0.25})};
        if (hasScores) inputs.push_back(c.constant(kFloats, {}, {0}));
        Shape32 outputs{c.output(kInts, {6})};
        if (hasScores) outputs.push_back(c.output(kFloats, {6}));
        outputs.push_back(c.output(kInts, {}));
        c.op(inputs, outputs);
    }
}

} // namespace

void addIndexCases(TfliteCases& all)
{
    for (const Numbers& kind : kKinds) {
        addGathers(all, kind);
        addSelections(all, kind);
    }
    addSearches(all);
    addUpdates(all);
    addSuppressions(all);
}

} // namespace tenon::test
