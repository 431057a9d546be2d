// SPDX-License-Identifier: Apache-2.0
// Operators that move elements to another shape or order.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

const std::vector<Numbers> kKinds{kFloats, kBytes, kUnsigned, kWide, kInts, kLongs, kBools};
const std::vector<Numbers> kPictures{kFloats, kBytes, kUnsigned, kWide};

void addReshapes(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "RESHAPE", kind.name, "2x3x4 to 6x4 by an input");
        c.op({c.input(kind, {2, 3, 4}), c.integers({6, -1})}, {c.output(kind, {6, 4})});
    }
    {
        CaseBuilder c(all, "RESHAPE", kind.name, "2x3x4 to 8x3 by an option");
        c.op({c.input(kind, {2, 3, 4})}, {c.output(kind, {8, 3})},
             FlatOut().numbers(0, Shape32{8, 3}));
    }
    {
        CaseBuilder c(all, "SQUEEZE", kind.name, "all axes of 1x3x1x4");
        c.op({c.input(kind, {1, 3, 1, 4})}, {c.output(kind, {3, 4})});
    }
    {
        CaseBuilder c(all, "SQUEEZE", kind.name, "axis -2 of 1x3x1x4");
        c.op({c.input(kind, {1, 3, 1, 4})}, {c.output(kind, {1, 3, 4})},
             FlatOut().numbers(0, Shape32{-2}));
    }
    for (const int32_t axis : {0, -1, 1}) {
        const Shape32 out = axis == 0   ? Shape32{1, 3, 4}
                            : axis == 1 ? Shape32{3, 1, 4}
                                        : Shape32{3, 4, 1};
        CaseBuilder c(all, "EXPAND_DIMS", kind.name, "axis " + std::to_string(axis));
        c.op({c.input(kind, {3, 4}), c.integers({axis}, {})}, {c.output(kind, out)});
    }
}

void addTransposes(TfliteCases& all, const Numbers& kind)
{
    for (const auto& [shape, order] : {std::pair<Shape32, Shape32>{{2, 3, 4, 5}, {0, 3, 1, 2}},
                                       {{2, 3, 4, 5}, {0, 2, 3, 1}},
                                       {{6, 7}, {1, 0}},
                                       {{2, 3, 4}, {2, 0, 1}},
                                       {{2, 3, 2, 4, 3}, {4, 1, 0, 3, 2}}}) {
        Shape32 out;
        for (const int32_t axis : order) out.push_back(shape[static_cast<size_t>(axis)]);
        CaseBuilder c(all, "TRANSPOSE", kind.name, shapeText(shape) + " to " + shapeText(out));
        c.op({c.input(kind, shape), c.integers(order)}, {c.output(kind, out)});
    }
}

void addPacks(TfliteCases& all, const Numbers& kind)
{
    for (const int32_t axis : {0, -1, 1}) {
        const Shape32 out = axis == 0   ? Shape32{3, 2, 5}
                            : axis == 1 ? Shape32{2, 3, 5}
                                        : Shape32{2, 5, 3};
        CaseBuilder c(all, "PACK", kind.name, "axis " + std::to_string(axis));
        const Shape32 inputs{c.input(kind, {2, 5}), c.input(kind, {2, 5}), c.input(kind, {2, 5})};
        c.op(inputs, {c.output(kind, out)}, FlatOut().number(0, 3).number(1, axis));
        CaseBuilder u(all, "UNPACK", kind.name, "axis " + std::to_string(axis));
        const int x = u.input(kind, out);
        const Shape32 outputs{u.output(kind, {2, 5}), u.output(kind, {2, 5}),
                              u.output(kind, {2, 5})};
        u.op({x}, outputs, FlatOut().number(0, 3).number(1, axis));
    }
}

void addBroadcasts(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "BROADCAST_TO", kind.name, "3x1 to 2x3x4");
        c.op({c.input(kind, {3, 1}), c.integers({2, 3, 4})}, {c.output(kind, {2, 3, 4})});
    }
    {
        CaseBuilder c(all, "FILL", kind.name, "2x3x4");
        c.op({c.integers({2, 3, 4}), c.input(kind, {})}, {c.output(kind, {2, 3, 4})});
    }
    {
        CaseBuilder c(all, "TILE", kind.name, "2x3 by 2 and 3");
        c.op({c.input(kind, {2, 3}), c.integers({2, 3})}, {c.output(kind, {4, 9})});
    }
    CaseBuilder c(all, "SHAPE", kind.name, "2x3x4");
    c.op({c.input(kind, {2, 3, 4})}, {c.output(kInts, {3})},
         FlatOut().number(0, static_cast<int8_t>(TfliteType::Int32)));
}

void addConcatenations(TfliteCases& all, const Numbers& kind)
{
    for (const int32_t axis : {3, 1, -1, 0}) {
        Shape32 a{2, 3, 4, 5}, b = a, out = a;
        const size_t at = axis < 0 ? 3 : static_cast<size_t>(axis);
        b[at] = 2;
        out[at] = a[at] + b[at];
        CaseBuilder c(all, "CONCATENATION", kind.name, "axis " + std::to_string(axis));
        const Shape32 inputs{c.input(kind, a), c.input(kind, b)};
        c.op(inputs, {c.output(kind, out)}, FlatOut().number(0, axis).number(1, int8_t{0}));
    }
}

void addBlocks(TfliteCases& all, const Numbers& kind)
{
    const FlatOut two = FlatOut().number(0, int32_t{2});
    {
        CaseBuilder c(all, "SPACE_TO_DEPTH", kind.name, "1x4x6x3");
        c.op({c.input(kind, {1, 4, 6, 3})}, {c.output(kind, {1, 2, 3, 12})}, two);
    }
    {
        CaseBuilder c(all, "DEPTH_TO_SPACE", kind.name, "1x2x3x12");
        c.op({c.input(kind, {1, 2, 3, 12})}, {c.output(kind, {1, 4, 6, 3})}, two);
    }
    {
        CaseBuilder c(all, "SPACE_TO_BATCH_ND", kind.name, "1x5x7x3");
        c.op({c.input(kind, {1, 5, 7, 3}), c.integers({2, 3}), c.integers({1, 0, 0, 2}, {2, 2})},
             {c.output(kind, {6, 3, 3, 3})});
    }
    {
        CaseBuilder c(all, "BATCH_TO_SPACE_ND", kind.name, "6x3x3x3");
        c.op({c.input(kind, {6, 3, 3, 3}), c.integers({2, 3}), c.integers({1, 0, 0, 2}, {2, 2})},
             {c.output(kind, {1, 5, 7, 3})});
    }
    CaseBuilder c(all, "SPACE_TO_BATCH_ND", kind.name, "2x6x4");
    c.op({c.input(kind, {2, 6, 4}), c.integers({3}), c.integers({0, 0}, {1, 2})},
         {c.output(kind, {6, 2, 4})});
}

void addBroadcastArguments(TfliteCases& all)
{
    for (const Numbers& kind : {kInts, kLongs}) {
        CaseBuilder c(all, "BROADCAST_ARGS", kind.name, "[3, 1] and [2, 1, 4]");
        const int a = c.constant(kind, {2}, {3, 1}), b = c.constant(kind, {3}, {2, 1, 4});
        c.op({a, b}, {c.output(kind, {3})});
    }
    CaseBuilder c(all, "RANK", "float32", "2x3x4");
    c.op({c.input(kFloats, {2, 3, 4})}, {c.output(kInts, {})});
}

} // namespace

void addShapeCases(TfliteCases& all)
{
    for (const Numbers& kind : kKinds) {
        addReshapes(all, kind);
        addTransposes(all, kind);
        addPacks(all, kind);
        addBroadcasts(all, kind);
        addConcatenations(all, kind);
    }
    // Parts of several scales.
    for (const Numbers& kind : {kUnsigned, kBytes}) {
        CaseBuilder c(all, "CONCATENATION", kind.name, "three scales");
        if (kind.type == TfliteType::UInt8)
            c.mistrust("it copies bytes of another scale as they are");
        const Shape32 inputs{c.input(kind, {2, 3}), c.input(kind.within(-2, 1), {2, 4})};
        c.op(inputs, {c.output(kind.within(-5, 4), {2, 7})},
             FlatOut().number(0, 1).number(1, int8_t{0}));
    }
    for (const Numbers& kind : kPictures) addBlocks(all, kind);
    addBroadcastArguments(all);
}

} // namespace tenon::test
