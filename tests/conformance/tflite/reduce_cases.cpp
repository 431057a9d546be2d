// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, places of extremes and running sums.
#include "tests/conformance/tflite/case_builder.h"

#include <cmath>

namespace tenon::test {
namespace {

struct Reduction
{
    Shape32 data;
    std::vector<int32_t> axes;
    Shape32 kept; ///< the result with its axes kept
    Shape32 out;
};

const Reduction kReductions[] = {{{2, 5, 4, 3}, {1, 2}, {2, 1, 1, 3}, {2, 3}},
                                 {{2, 5, 4, 3}, {-1}, {2, 5, 4, 1}, {2, 5, 4}},
                                 {{3, 7}, {0}, {1, 7}, {7}},
                                 {{2, 5, 4, 3}, {3, 0}, {1, 5, 4, 1}, {5, 4}},
                                 {{4, 6, 5}, {0, 1, 2}, {1, 1, 1}, {}}};

/// `spread`: how far a quantized result reaches for each element that is added; 0: as the operand.
void addReduction(TfliteCases& all, const char* op, const Numbers& kind, double spread = 0)
{
    for (const Reduction& r : kReductions)
        for (const bool keeps : {false, true}) {
            CaseBuilder c(all, op, kind.name,
                          shapeText(r.data) + " to " + shapeText(keeps ? r.kept : r.out));
            const int x = c.input(kind, r.data), axes = c.integers(r.axes);
            const double most = spread * static_cast<double>(countOf(r.data) / countOf(r.kept)) + 3;
            const Numbers result = kind.isQuantized && spread > 0 ? kind.within(-most, most) : kind;
            c.op({x, axes}, {c.output(result, keeps ? r.kept : r.out)},
                 FlatOut().number(0, static_cast<uint8_t>(keeps)));
        }
}

/// Their scales must be equal, and sums that leave the range wrap around there.
void addWideSums(TfliteCases& all)
{
    for (const Reduction& r : kReductions) {
        CaseBuilder c(all, "SUM", "int16", shapeText(r.data) + " to " + shapeText(r.out));
        std::vector<double> values(static_cast<size_t>(countOf(r.data)));
        for (double& value : values) value = std::floor(c.draw(-270, 271));
        const int x = c.input(kWide, r.data, values), axes = c.integers(r.axes);
        c.op({x, axes}, {c.output(kWide, r.out)}, FlatOut().number(0, uint8_t{0}));
    }
}

/// Means of one scale and of two.
void addMeans(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kInts, kLongs}) addReduction(all, "MEAN", kind);
    for (const Numbers& kind : {kBytes, kUnsigned, kWide})
        for (const Reduction& r : kReductions)
            for (const bool isOneScale : {true, false})
                for (const bool keeps : {true, false}) {
                    CaseBuilder c(all, "MEAN", kind.name,
                                  shapeText(r.data) + " to " + shapeText(keeps ? r.kept : r.out) +
                                      (isOneScale ? " of one scale" : ""));
                    const int x = c.input(kind, r.data), axes = c.integers(r.axes);
                    c.op({x, axes},
                         {c.output(isOneScale ? kind : kind.within(-2, 1.5),
                                   keeps ? r.kept : r.out)},
                         FlatOut().number(0, static_cast<uint8_t>(keeps)));
                }
}

void addPlaces(TfliteCases& all)
{
    for (const char* op : {"ARG_MAX", "ARG_MIN"})
        for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kInts})
            for (const int32_t axis : {-1, 1, 0}) {
                const Shape32 out = axis == -1  ? Shape32{2, 5, 4}
                                    : axis == 1 ? Shape32{2, 4, 3}
                                                : Shape32{5, 4, 3};
                CaseBuilder c(all, op, kind.name, "axis " + std::to_string(axis));
                const int x = c.input(kind, {2, 5, 4, 3}), at = c.integers({axis});
                c.op({x, at}, {c.output(kInts, out)},
                     FlatOut().number(0, static_cast<int8_t>(TfliteType::Int32)));
            }
    CaseBuilder c(all, "ARG_MAX", "int8", "64 bits wide, ties");
    const int x = c.input(kBytes, {2, 6}, {3, 7, 7, 1, 7, 0, -5, -5, -9, -5, -6, -7});
    c.op({x, c.integers({-1})}, {c.output(kLongs, {2})},
         FlatOut().number(0, static_cast<int8_t>(TfliteType::Int64)));
}

void addRunningSums(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kInts, kLongs, kBytes})
        for (const uint8_t exclusive : kFlags)
            for (const uint8_t reverse : kFlags)
                for (const int32_t axis : {-1, 1}) {
                    CaseBuilder c(all, "CUMSUM", kind.name,
                                  "axis " + std::to_string(axis) + (exclusive ? " exclusive" : "") +
                                      (reverse ? " reverse" : ""));
                    const int x = c.input(kind, {2, 4, 5}), at = c.integers({axis}, {});
                    c.op({x, at},
                         {c.output(kind.isQuantized ? kind.within(-15, 15) : kind, {2, 4, 5})},
                         FlatOut().number(0, exclusive).number(1, reverse));
                }
}

} // namespace

void addReduceCases(TfliteCases& all)
{
    addMeans(all);
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kInts, kLongs})
        addReduction(all, "SUM", kind, 5);
    addWideSums(all);
    for (const char* op : {"REDUCE_MAX", "REDUCE_MIN"})
        for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide, kInts, kLongs})
            addReduction(all, op, kind);
    for (const Numbers& kind : {kFloats.within(0.7, 1.3), kInts.within(-2, 2)})
        addReduction(all, "REDUCE_PROD", kind);
    for (const char* op : {"REDUCE_ANY", "REDUCE_ALL"}) addReduction(all, op, kBools);
    addPlaces(all);
    addRunningSums(all);
}

} // namespace tenon::test
