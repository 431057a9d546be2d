// SPDX-License-Identifier: Apache-2.0
// Parts of tensors, and what is put around them.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

const std::vector<Numbers> kSliceKinds{kFloats, kBytes, kUnsigned, kWide, kInts, kLongs, kBools};

void addSlices(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "SLICE", kind.name, "2x5x6x3");
        c.op({c.input(kind, {2, 5, 6, 3}), c.integers({0, 1, 2, 1}), c.integers({2, 3, -1, 2})},
             {c.output(kind, {2, 3, 4, 2})});
    }
    CaseBuilder c(all, "SLICE", kind.name, "7x4");
    c.op({c.input(kind, {7, 4}), c.integers({3, 0}), c.integers({-1, 4})},
         {c.output(kind, {4, 4})});
}

struct Strided
{
    const char* what;
    Shape32 begin, end, strides, out;
    std::vector<int32_t> masks; ///< begin, end, ellipsis, new, shrink
};

const Strided kStrided[] = {
    {"plain", {0, 1, 2, 0}, {2, 4, 6, 3}, {1, 1, 1, 1}, {2, 3, 4, 3}, {0, 0, 0, 0, 0}},
    {"strides", {0, 0, 1, 0}, {2, 5, 6, 3}, {1, 2, 3, 2}, {2, 3, 2, 2}, {0, 0, 0, 0, 0}},
    {"backwards", {0, -1, 5, 2}, {2, 0, -7, 0}, {1, -2, -1, -1}, {2, 2, 6, 2}, {0, 0, 0, 0, 0}},
    {"masks", {9, 1, 9, 1}, {9, 9, 4, 9}, {1, 1, 1, 1}, {2, 4, 4, 2}, {5, 11, 0, 0, 0}},
    {"shrunk axes", {1, 0, -1, 0}, {2, 5, 0, 3}, {1, 1, 1, 1}, {5, 3}, {0, 0, 0, 0, 5}},
    {"fewer axes", {0, 2}, {1, 5}, {1, 1}, {1, 3, 6, 3}, {0, 0, 0, 0, 0}},
    {"ellipsis", {0, 1}, {0, 3}, {1, 1}, {2, 5, 6, 2}, {0, 0, 1, 0, 0}},
    {"new axis", {0, 0}, {0, 1}, {1, 1}, {1, 1, 5, 6, 3}, {0, 0, 0, 1, 0}}};

void addStridedSlices(TfliteCases& all, const Numbers& kind)
{
    for (const Strided& k : kStrided) {
        CaseBuilder c(all, "STRIDED_SLICE", kind.name, k.what);
        FlatOut options;
        for (size_t i = 0; i < k.masks.size(); ++i) options.number(static_cast<int>(i), k.masks[i]);
        c.op({c.input(kind, {2, 5, 6, 3}), c.integers(k.begin), c.integers(k.end),
              c.integers(k.strides)},
             {c.output(kind, k.out)}, options);
    }
    CaseBuilder c(all, "STRIDED_SLICE", kind.name, "one element");
    c.op({c.input(kind, {5}), c.integers({3}), c.integers({4}), c.integers({1})},
         {c.output(kind, {})}, FlatOut().number(4, int32_t{1}));
}

void addSplits(TfliteCases& all, const Numbers& kind)
{
    for (const int32_t axis : {3, 1, -1}) {
        const Shape32 shape{1, 6, 2, 6};
        Shape32 part = shape, first = shape, second = shape;
        const size_t at = axis < 0 ? 3 : static_cast<size_t>(axis);
        part[at] = 2;
        first[at] = 1;
        second[at] = 3;
        CaseBuilder c(all, "SPLIT", kind.name, "axis " + std::to_string(axis));
        const int way = c.integers({axis}, {}), x = c.input(kind, shape);
        c.op({way, x}, {c.output(kind, part), c.output(kind, part), c.output(kind, part)},
             FlatOut().number(0, 3));
        CaseBuilder v(all, "SPLIT_V", kind.name, "axis " + std::to_string(axis));
        const int data = v.input(kind, shape), sizes = v.integers({1, -1, 2}),
                  along = v.integers({axis}, {});
        v.op({data, sizes, along},
             {v.output(kind, first), v.output(kind, second), v.output(kind, part)},
             FlatOut().number(0, 3));
    }
}

void addPads(TfliteCases& all, const Numbers& kind)
{
    const Shape32 around{0, 0, 1, 2, 2, 0, 0, 1};
    {
        CaseBuilder c(all, "PAD", kind.name, "1x4x5x3");
        c.op({c.input(kind, {1, 4, 5, 3}), c.integers(around, {4, 2})},
             {c.output(kind, {1, 7, 7, 4})});
    }
    {
        CaseBuilder c(all, "PAD", kind.name, "5x3");
        c.op({c.input(kind, {5, 3}), c.integers({1, 0, 2, 3}, {2, 2})}, {c.output(kind, {6, 8})});
    }
    {
        CaseBuilder c(all, "PADV2", kind.name, "1x4x5x3");
        c.op({c.input(kind, {1, 4, 5, 3}), c.integers(around, {4, 2}), c.constant(kind, {}, {1})},
             {c.output(kind, {1, 7, 7, 4})});
    }
    for (const int8_t mode : {int8_t{0}, int8_t{1}}) {
        CaseBuilder c(all, "MIRROR_PAD", kind.name, mode ? "SYMMETRIC" : "REFLECT");
        c.op({c.input(kind, {2, 4, 5, 3}), c.integers({0, 0, 1, 3, 2, 0, 0, 1}, {4, 2})},
             {c.output(kind, {2, 8, 7, 4})}, FlatOut().number(0, mode));
    }
}

void addReversals(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "REVERSE_V2", kind.name, "axis 1");
        c.op({c.input(kind, {2, 5, 3}), c.integers({1})}, {c.output(kind, {2, 5, 3})});
    }
    {
        CaseBuilder c(all, "REVERSE_V2", kind.name, "axis -1");
        c.op({c.input(kind, {2, 5, 3}), c.integers({-1})}, {c.output(kind, {2, 5, 3})});
    }
    CaseBuilder c(all, "REVERSE_SEQUENCE", kind.name, "along axis 1");
    const int x = c.input(kind, {3, 6, 2}), lengths = c.integers({6, 1, 4});
    c.op({x, lengths}, {c.output(kind, {3, 6, 2})}, FlatOut().number(0, 1).number(1, 0));
}

} // namespace

void addSliceCases(TfliteCases& all)
{
    for (const Numbers& kind : kSliceKinds) {
        addSlices(all, kind);
        addStridedSlices(all, kind);
        addSplits(all, kind);
        addReversals(all, kind);
        if (kind.type != TfliteType::Bool) addPads(all, kind);
    }
}

} // namespace tenon::test
