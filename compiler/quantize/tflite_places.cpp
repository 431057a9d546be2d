// SPDX-License-Identifier: Apache-2.0
// Operators that write elements at places: of a tensor, of segments, of a diagonal.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

/// Every place of a box that begins at `first`, one row each.
std::vector<int64_t> placesOf(const std::vector<int64_t>& extents,
                              const std::vector<int64_t>& first)
{
    std::vector<int64_t> out, at(extents.size(), 0);
    for (int64_t left = limitedCount(extents); left > 0; --left) {
        for (size_t i = 0; i < at.size(); ++i) out.push_back(first[i] + at[i]);
        for (size_t i = at.size(); i-- > 0;) {
            if (++at[i] < extents[i]) break;
            at[i] = 0;
        }
    }
    return out;
}

/// What a segment without rows holds: what is larger or smaller than anything, or changes nothing.
Tensor emptySegment(DataType dtype, const std::string& reduction)
{
    const bool isMax = reduction == "ReduceMax", isEnd = isMax || reduction == "ReduceMin";
    const int64_t neutral = reduction == "ReduceProd" ? 1 : 0;
    return Tensor::make(dtype, {}, [&](std::span<std::byte> out) {
        if (dtype == kFloat32) {
            const double most = std::numeric_limits<float>::max();
            storeNumber(dtype, out, 0, isMax ? -most : isEnd ? most : static_cast<double>(neutral));
            return;
        }
        const int64_t least = int64_t{-1} << (dtype.bits - 1);
        storeInteger(dtype, out, 0, isMax ? least : isEnd ? -(least + 1) : neutral);
    });
}

} // namespace

/// Axes behind the last one of which a part is written need no places.
void TfliteOperators::update()
{
    const std::vector<int64_t>&shape = tensor(input(0)).shape, &part = tensor(input(1)).shape;
    if (!needRank(input(1), shape.size())) return;
    size_t axes = shape.size();
    while (axes > 0 && part[axes - 1] == shape[axes - 1]) --axes;
    if (axes == 0) {
        node("Identity", {asGiven(input(1))}, resultName(false), nameOf(output()));
        return;
    }
    std::vector<int64_t> extents(part.begin(), part.begin() + static_cast<ptrdiff_t>(axes)),
        room(axes), first(axes, 0);
    for (size_t i = 0; i < axes; ++i) room[i] = shape[i] - part[i];
    const auto width = static_cast<int64_t>(axes);
    if (*std::min_element(room.begin(), room.end()) < 0 ||
        limitedCount(extents) > kMaxMadeUp / width)
        return fail("its part does not fit, or is too large");
    const bool isKnown = isConstant(input(2));
    if (isKnown) {
        const std::vector<int64_t> given = integersAt(2);
        if (given.size() != shape.size()) return fail("its place does not fit the declared shape");
        for (size_t i = 0; i < axes; ++i) first[i] = std::clamp<int64_t>(given[i], 0, room[i]);
    }
    std::vector<int64_t> grid = extents;
    grid.push_back(width);
    std::string places = add(Tensor::of<int64_t>(kInt64, grid, placesOf(extents, first)),
                             nameOf(output()) + "/places");
    if (!isKnown) {
        const std::string start =
            inner("Slice", {longs(2), integers("zero", {0}), integers("axes", {width})}, "start");
        const std::string least =
            inner("Max", {start, integers("least", std::vector<int64_t>(axes, 0))}, "raised");
        places = inner("Add", {places, inner("Min", {least, integers("room", room)}, "clamped")},
                       "moved");
    }
    node("ScatterND", {asGiven(input(0)), places, asGiven(input(1))}, resultName(false),
         nameOf(output()));
}

void TfliteOperators::spreadOut()
{
    const std::vector<int64_t> shape = integersAt(1);
    std::vector<int64_t> at = tensor(input(0)).shape;
    if (at.size() < 2) at = {at.empty() ? 1 : at[0], 1}; // one axis, or one element of it
    const std::string empty =
                          inner("Expand", {asGiven(input(3)), integers("shape", shape)}, "empty"),
                      places = inner("Reshape", {longs(0), integers("places_shape", at)}, "places"),
                      values = inner("Expand", {asGiven(input(2)), integers("count", {at[0]})},
                                     "values");
    node("ScatterND", {empty, places, values}, resultName(false), nameOf(output()));
}

/// Every segment takes its rows out of all: what has a number outside of them is in none.
void TfliteOperators::joinSegments()
{
    static const std::map<std::string, std::string> kReductions{
        {"SEGMENT_SUM", "ReduceSum"},
        {"UNSORTED_SEGMENT_MAX", "ReduceMax"},
        {"UNSORTED_SEGMENT_MIN", "ReduceMin"},
        {"UNSORTED_SEGMENT_PROD", "ReduceProd"},
        {"UNSORTED_SEGMENT_SUM", "ReduceSum"}};
    const bool isSorted = m_op->name == "SEGMENT_SUM";
    const std::vector<int64_t>&data = tensor(input(0)).shape, &numbers = tensor(input(1)).shape;
    const std::vector<int64_t> known = integersAt(isSorted ? 1 : 2);
    const auto dtype = tfliteDataType(tensor(input(0)).type);
    if (m_problem || known.empty() || !dtype || numbers.size() > data.size())
        return fail("its segments do not fit the declared shape");
    const int64_t count = known.back() + (isSorted ? 1 : 0), rows = limitedCount(numbers);
    std::vector<int64_t> result(data.begin() + static_cast<ptrdiff_t>(numbers.size()), data.end());
    const int64_t width = limitedCount(result);
    if (count < 1 || rows < 1 || width < 1 || limitedCount({count, rows, width}) > kMaxMadeUp)
        return fail("it has too many segments");
    std::vector<int64_t> places(static_cast<size_t>(count));
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    const std::string base = nameOf(output()),
                      flat =
                          inner("Reshape",
                                {asGiven(input(0)), integers("row_shape", {rows, width})}, "rows"),
                      of = inner("Reshape", {longs(1), integers("number_shape", {rows, 1})},
                                 "numbers"),
                      each = add(Tensor::of<int64_t>(kInt64, {count, 1, 1}, places),
                                 base + "/segments");
    const std::string& reduction = kReductions.at(m_op->name);
    std::vector<std::string> inputs{inner("Where",
                                          {inner("Equal", {of, each}, "is_in"), flat,
                                           add(emptySegment(*dtype, reduction), base + "/empty")},
                                          "parts")};
    const bool isSum = reduction == "ReduceSum"; // whose axes became an input
    if (isSum) inputs.push_back(integers("axes", {1}));
    NodeProto& made = node(reduction, inputs, base + "/joined", base + "/joined");
    if (!isSum) setIntegers(made, "axes", {1});
    setInteger(made, "keepdims", 0);
    result.insert(result.begin(), count);
    node("Reshape", {base + "/joined", integers("result_shape", result)}, resultName(false), base);
}

void TfliteOperators::diagonal()
{
    const bool isSet = m_op->name == "MATRIX_SET_DIAG";
    std::vector<int64_t> shape = tensor(input(0)).shape;
    const auto dtype = tfliteDataType(tensor(input(0)).type);
    if (!isSet && !shape.empty()) shape.push_back(shape.back());
    if (shape.size() < 2 || !dtype) return fail("its matrices do not fit the declared shape");
    const int64_t columns = shape.back(), rows = shape[shape.size() - 2];
    if (limitedCount({rows, columns}) > kMaxMadeUp) return fail("its matrices are too large");
    std::vector<uint8_t> isOn(static_cast<size_t>(rows * columns), 0);
    for (int64_t i = 0; i < std::min(rows, columns); ++i)
        isOn[static_cast<size_t>(i * columns + i)] = 1;
    const std::string base = nameOf(output()),
                      mask = add(Tensor::of<uint8_t>(kBool, {rows, columns}, isOn),
                                 base + "/is_diagonal");
    const int64_t axis = isSet && columns < rows ? -2 : -1;
    const std::string spread =
        inner("Unsqueeze", {asGiven(input(isSet ? 1 : 0)), integers("axis", {axis})}, "spread");
    const std::string rest = isSet ? asGiven(input(0)) : add(zerosOf(*dtype, {}), base + "/zero");
    node("Where", {mask, spread, rest}, resultName(false), base);
}

} // namespace tenon::compiler
