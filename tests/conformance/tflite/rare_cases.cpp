// SPDX-License-Identifier: Apache-2.0
// Operators that few models hold: bits, angles, diagonals, segments, lookups, films made larger.
#include "tests/conformance/tflite/case_builder.h"

#include <limits>

namespace tenon::test {
namespace {

void addAngles(TfliteCases& all)
{
    {
        CaseBuilder c(all, "ATAN2", "float32", "3x7");
        c.op({c.input(kFloats, {3, 7}), c.input(kFloats, {3, 7})}, {c.output(kFloats, {3, 7})});
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::vector<double> ends{0, -0.0, 1, -1, kInfinity, -kInfinity};
    std::vector<double> y, x;
    for (const double a : ends)
        for (const double b : ends) {
            y.push_back(a);
            x.push_back(b);
        }
    CaseBuilder c(all, "ATAN2", "float32", "zeros and infinities");
    c.op({c.input(kFloats, {36}, y), c.input(kFloats, {36}, x)}, {c.output(kFloats, {36})});
}

void addBits(TfliteCases& all)
{
    for (const Numbers& kind : {kInts, kPlainBytes, kPlainWide, kPlainUnsigned}) {
        CaseBuilder c(all, "RIGHT_SHIFT", kind.name, "counts outside of the word too");
        const int x = c.input(kind, {2, 6}),
                  n = c.input(kind, {2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 100});
        c.op({x, n}, {c.output(kind, {2, 6})});
    }
    for (const Numbers& kind : {kInts, kPlainBytes, kPlainWide}) {
        CaseBuilder c(all, "BITWISE_XOR", kind.name, "broadcast");
        c.op({c.input(kind, {3, 4}), c.input(kind, {4})}, {c.output(kind, {3, 4})});
    }
    const struct
    {
        Numbers from, to;
        Shape32 in, out;
    } kReadings[] = {{kFloats, kInts, {3, 4}, {3, 4}},       {kInts, kFloats, {3, 4}, {3, 4}},
                     {kFloats, kPlainUnsigned, {3}, {3, 4}}, {kInts, kPlainWide, {2, 3}, {2, 3, 2}},
                     {kPlainWide, kInts, {5, 2}, {5}},       {kPlainBytes, kInts, {2, 4}, {2}}};
    for (const auto& [from, to, in, out] : kReadings) {
        CaseBuilder c(all, "BITCAST", from.name, "as " + std::string(to.name));
        c.op({c.input(from, in)}, {c.output(to, out)});
    }
}

void addDiagonals(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "MATRIX_DIAG", kind.name, "2x3");
        c.op({c.input(kind, {2, 3})}, {c.output(kind, {2, 3, 3})});
    }
    for (const Shape32& shape : {Shape32{3, 4}, Shape32{2, 4, 3}, Shape32{2, 2, 2}}) {
        Shape32 diagonal(shape.begin(), shape.end() - 1);
        diagonal.back() = std::min(shape[shape.size() - 2], shape.back());
        CaseBuilder c(all, "MATRIX_SET_DIAG", kind.name, shapeText(shape));
        c.op({c.input(kind, shape), c.input(kind, diagonal)}, {c.output(kind, shape)});
    }
}

void addSegments(TfliteCases& all, const Numbers& kind)
{
    {
        CaseBuilder c(all, "SEGMENT_SUM", kind.name, "known numbers");
        c.op({c.input(kind, {6, 3}), c.integers({0, 0, 1, 2, 3, 3})}, {c.output(kind, {4, 3})});
    }
    {
        CaseBuilder c(all, "SEGMENT_SUM", kind.name, "numbers of the run");
        const int x = c.input(kind, {5, 2, 2}), ids = c.input(kInts, {5}, {0, 1, 1, 2, 3});
        c.op({x, ids}, {c.output(kind, {4, 2, 2})});
    }
    for (const char* op : {"UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD",
                           "UNSORTED_SEGMENT_SUM"}) {
        {
            CaseBuilder c(all, op, kind.name, "rows, some dropped");
            const int x = c.input(kind.within(-3, 3), {6, 3}),
                      ids = c.input(kInts, {6}, {2, 0, -1, 2, 4, 0});
            c.op({x, ids, c.integers({5}, {})}, {c.output(kind, {5, 3})});
        }
        CaseBuilder c(all, op, kind.name, "elements");
        const int x = c.input(kind.within(-3, 3), {2, 3}),
                  ids = c.input(kInts, {2, 3}, {1, 0, 1, 1, 0, 2});
        c.op({x, ids, c.integers({3}, {})}, {c.output(kind, {3})});
    }
}

void addLookups(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kInts}) {
        CaseBuilder c(all, "BUCKETIZE", kind.name, "4 boundaries");
        const std::vector<double> values{-100, -4, -2.5, 0, 1, 1.5, 9, 99};
        c.op({c.input(kind, {2, 4}, values)}, {c.output(kInts, {2, 4})},
             FlatOut().numbers(0, std::vector<float>{-4, 0, 1.5F, 9}));
    }
    for (const Numbers& kind : {kFloats, kInts}) {
        CaseBuilder c(all, "HASHTABLE_LOOKUP", kind.name, "3 of 4 keys, one not there");
        const int lookup = c.input(kInts, {4}, {7, -3, 5, 1}),
                  key = c.input(kInts, {4}, {-3, 1, 4, 7}), value = c.input(kind, {4, 2});
        c.op({lookup, key, value}, {c.output(kind, {4, 2}), c.output(kPlainUnsigned, {4})});
    }
    for (const Numbers& kind : {kFloats, kInts, kPlainBytes, kPlainUnsigned, kPlainWide}) {
        CaseBuilder c(all, "UNIQUE", kind.name, "4 of 8");
        const int x = c.input(kind, {8}, {3, 1, 3, 9, 1, 0, 9, 9});
        c.op({x}, {c.output(kind, {4}), c.output(kInts, {8})},
             FlatOut().number(0, static_cast<int8_t>(TfliteType::Int32)));
    }
    for (const Numbers& kind : {kFloats, kInts, kLongs, kPlainBytes, kPlainUnsigned}) {
        {
            CaseBuilder c(all, "SPARSE_TO_DENSE", kind.name, "elements of 3x4");
            const int at = c.input(kInts, {3, 2}, {0, 1, 1, 3, 2, 0}), shape = c.integers({3, 4}),
                      values = c.input(kind, {3}), rest = c.constant(kind, {}, {7});
            c.op({at, shape, values, rest}, {c.output(kind, {3, 4})});
        }
        CaseBuilder c(all, "SPARSE_TO_DENSE", kind.name, "one value in a row");
        const int at = c.input(kInts, {2}, {1, 4}), shape = c.integers({6}),
                  value = c.input(kind, {}), rest = c.constant(kind, {}, {0});
        c.op({at, shape, value, rest}, {c.output(kind, {6})});
    }
}

struct Film
{
    const char* what;
    Shape32 in, out, kernel; ///< [D, H, W, O, I]
    int8_t padding;          ///< 0: SAME
    int32_t stride;
    Activation activation = kNoActivation;
    bool hasBias = true;
};

const Film kFilms[] = {
    {"SAME, stride 2", {1, 2, 3, 2, 3}, {1, 4, 6, 4, 2}, {3, 3, 3, 2, 3}, 0, 2},
    {"SAME, stride 2, odd result", {2, 2, 2, 3, 1}, {2, 3, 3, 5, 4}, {2, 3, 2, 4, 1}, 0, 2, kRelu},
    {"VALID, stride 1",
     {1, 2, 3, 4, 2},
     {1, 4, 4, 6, 3},
     {3, 2, 3, 3, 2},
     1,
     1,
     kNoActivation,
     false},
    {"VALID, stride 3", {1, 2, 2, 2, 2}, {1, 5, 5, 5, 2}, {2, 2, 2, 2, 2}, 1, 3, kRelu6}};

void addFilms(TfliteCases& all)
{
    for (const Film& k : kFilms) {
        CaseBuilder c(all, "CONV_3D_TRANSPOSE", "float32", k.what);
        Shape32 inputs{c.integers(k.out), c.weight(TfliteType::Float32, k.kernel, -1),
                       c.input(kFloats, k.in)};
        if (k.hasBias) inputs.push_back(c.constant(kFloats, {k.out[4]}));
        c.op(inputs, {c.output(kFloats, k.out)},
             FlatOut()
                 .number(0, k.padding)
                 .number(1, k.stride)
                 .number(2, k.stride)
                 .number(3, k.stride)
                 .number(4, k.activation.code)
                 .number(5, 1)
                 .number(6, 1)
                 .number(7, 1));
    }
}

} // namespace

void addRareCases(TfliteCases& all)
{
    addAngles(all);
    addBits(all);
    for (const Numbers& kind : {kFloats, kInts, kLongs, kPlainBytes, kPlainUnsigned, kPlainWide})
        addDiagonals(all, kind);
    for (const Numbers& kind : {kFloats, kInts}) addSegments(all, kind);
    addLookups(all);
    addFilms(all);
}

} // namespace tenon::test
