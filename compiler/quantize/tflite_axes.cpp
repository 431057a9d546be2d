// SPDX-License-Identifier: Apache-2.0
// Operators that reduce, cut, join and move along axes.
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/tflite_operators.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteOperators::reshape() { shaped(asGiven(input(0)), output()); }

void TfliteOperators::reduce()
{
    static const std::map<std::string, std::string> kOps{{"MEAN", "ReduceMean"},
                                                         {"REDUCE_MAX", "ReduceMax"},
                                                         {"REDUCE_MIN", "ReduceMin"},
                                                         {"REDUCE_PROD", "ReduceProd"},
                                                         {"SUM", "ReduceSum"}};
    std::vector<int64_t> axes;
    for (const int64_t axis : integersAt(1)) axes.push_back(axisOf(axis, rankOf(input(0))));
    std::sort(axes.begin(), axes.end());
    const bool keeps = option(0) != 0;
    const bool isPicture =
        hasPlanes(input(0)) && rankOf(input(0)) == 4 && axes == std::vector<int64_t>{1, 2};
    if (isPicture) axes = {2, 3};
    const bool isSum = m_op->name == "SUM"; // whose axes became an input
    std::vector<std::string> inputs{elements(isPicture)};
    if (isSum) inputs.push_back(integers("axes", axes));
    NodeProto& made = node(kOps.at(m_op->name), inputs, {}, nameOf(output()));
    if (!isSum) setIntegers(made, "axes", axes);
    setInteger(made, "keepdims", keeps ? 1 : 0);
    finish(made, isPicture && keeps, 0);
}

/// Mirrored with the border itself, which Pad leaves out: by places, axis by axis.
void TfliteOperators::mirrorBorders()
{
    const std::vector<int64_t> pads = integersAt(1), &shape = tensor(input(0)).shape;
    if (pads.size() != shape.size() * 2) return fail("its borders do not fit the declared shape");
    std::string data = asGiven(input(0));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t before = pads[2 * axis], behind = pads[2 * axis + 1], extent = shape[axis];
        if (before == 0 && behind == 0) continue;
        if (before < 0 || behind < 0 || std::max(before, behind) > extent)
            return fail("its borders do not fit the declared shape");
        std::vector<int64_t> places;
        for (int64_t i = before; i > 0; --i) places.push_back(i - 1);
        for (int64_t i = 0; i < extent; ++i) places.push_back(i);
        for (int64_t i = 1; i <= behind; ++i) places.push_back(extent - i);
        const std::string leaf = "axis" + std::to_string(axis),
                          name = nameOf(output()) + "/" + leaf;
        setInteger(node("Gather", {data, integers(leaf + "_places", places)}, name, name), "axis",
                   static_cast<int64_t>(axis));
        data = name;
    }
    node("Identity", {data}, resultName(false), nameOf(output()));
}

void TfliteOperators::pad()
{
    const bool isMirror = m_op->name == "MIRROR_PAD";
    if (isMirror && option(0) != 0) return mirrorBorders();
    const std::vector<double> given = constantOf(input(1)).numbers();
    const size_t rank = rankOf(input(0));
    const bool isPlanes = hasPlanes(input(0)) && rank == 4;
    const std::array<size_t, 4> order{0, 3, 1, 2};
    std::vector<int64_t> pads(rank * 2);
    for (size_t i = 0; i < rank && given.size() == rank * 2; ++i) {
        const size_t from = isPlanes ? order.at(i) : i;
        pads[i] = static_cast<int64_t>(given[from * 2]);
        pads[i + rank] = static_cast<int64_t>(given[from * 2 + 1]);
    }
    std::vector<std::string> inputs{elements(isPlanes), integers("pads", pads)};
    if (m_op->name == "PADV2") inputs.push_back(asGiven(input(2)));
    NodeProto& made = node("Pad", inputs, resultName(isPlanes), nameOf(output()));
    if (isMirror) setString(made, "mode", "reflect");
}

void TfliteOperators::concatenate()
{
    const auto rank = static_cast<int64_t>(rankOf(output()));
    const int64_t axis = axisOf(size(0, 0), rankOf(output()));
    if (!needAxis(axis, rankOf(output()))) return;
    const bool isPlanes = rank == 4 && std::all_of(m_op->inputs.begin(), m_op->inputs.end(),
                                                   [&](int64_t index) { return hasPlanes(index); });
    std::vector<std::string> inputs;
    for (const int64_t index : m_op->inputs)
        inputs.push_back(isPlanes ? asPlanes(index) : asGiven(index));
    NodeProto& made = node("Concat", inputs, {}, nameOf(output()));
    constexpr std::array<int64_t, 4> kPlace{0, 2, 3, 1};
    setInteger(made, "axis", isPlanes ? kPlace.at(static_cast<size_t>(axis)) : axis);
    finish(made, isPlanes, option(1));
}

/// The zeros of a sparse constant are there already, and 16 bits become 32.
void TfliteOperators::spread()
{
    const Tensor value = constantOf(input(0));
    if (m_problem) return;
    std::vector<float> numbers;
    for (const double number : value.numbers()) numbers.push_back(static_cast<float>(number));
    define(Tensor::of<float>(kFloat32, value.shape(), numbers));
}

void TfliteOperators::argument()
{
    const std::string data = asGiven(input(0)), base = nameOf(output());
    const auto dtype = tfliteDataType(tensor(output()).type);
    const std::vector<int64_t> axis = integersAt(1);
    if (axis.size() != 1 || !dtype) return fail("it needs one axis");
    NodeProto& made = node(m_op->name == "ARG_MAX" ? "ArgMax" : "ArgMin", {data}, base + "/place",
                           base + "/place");
    setInteger(made, "axis", axis[0]);
    setInteger(made, "keepdims", 0);
    setInteger(node("Cast", {base + "/place"}, resultName(false), base), "to", onnxTypeOf(*dtype));
}

void TfliteOperators::transpose()
{
    setIntegers(node("Transpose", {asGiven(input(0))}, resultName(false), nameOf(output())), "perm",
                integersAt(1));
}

void TfliteOperators::stack()
{
    const int64_t axis = axisOf(size(1, 0), rankOf(output()));
    if (!needAxis(axis, rankOf(output()))) return;
    std::vector<int64_t> shape = tensor(output()).shape;
    shape.at(static_cast<size_t>(axis)) = 1;
    std::vector<std::string> parts;
    for (size_t i = 0; i < m_op->inputs.size(); ++i) {
        parts.push_back(nameOf(output()) + "/part" + std::to_string(i));
        node("Reshape", {asGiven(m_op->inputs[i]), integers("shape" + std::to_string(i), shape)},
             parts.back(), parts.back());
    }
    setInteger(node("Concat", parts, resultName(false), nameOf(output())), "axis", axis);
}

void TfliteOperators::splitInto(int64_t data, int64_t axis)
{
    if (!needAxis(axis, rankOf(data))) return;
    std::vector<int64_t> sizes;
    for (const int64_t result : m_op->outputs) {
        if (!needRank(result, rankOf(data))) return;
        sizes.push_back(tensor(result).shape.at(static_cast<size_t>(axis)));
    }
    NodeProto& made =
        node("Split", {asGiven(data), integers("sizes", sizes)}, given(output()), nameOf(output()));
    for (size_t i = 1; i < m_op->outputs.size(); ++i) made.add_output(given(m_op->outputs[i]));
    setInteger(made, "axis", axis);
}

void TfliteOperators::split()
{
    const std::vector<int64_t> axis = integersAt(0);
    if (axis.size() != 1) return fail("it needs one axis");
    splitInto(input(1), axisOf(axis[0], rankOf(input(1))));
}

void TfliteOperators::splitBySizes()
{
    const std::vector<int64_t> axis = integersAt(2);
    if (axis.size() != 1) return fail("it needs one axis");
    splitInto(input(0), axisOf(axis[0], rankOf(input(0))));
}

void TfliteOperators::unstack()
{
    const std::string data = asGiven(input(0));
    const int64_t along = axisOf(size(1, 0), rankOf(input(0)));
    if (!needAxis(along, rankOf(input(0)))) return;
    const auto axis = static_cast<size_t>(along);
    std::vector<int64_t> begin(rankOf(input(0)), 0), end = tensor(input(0)).shape;
    const std::vector<int64_t> steps(begin.size(), 1);
    for (size_t i = 0; i < m_op->outputs.size(); ++i) {
        begin.at(axis) = static_cast<int64_t>(i);
        end.at(axis) = begin.at(axis) + 1;
        shaped(slice(data, begin, end, steps, "part" + std::to_string(i)), m_op->outputs[i]);
    }
}

void TfliteOperators::cut()
{
    const std::vector<int64_t> begin = integersAt(1), sizes = integersAt(2);
    if (begin.size() != rankOf(input(0)) || sizes.size() != begin.size())
        return fail("its beginnings and sizes do not fit");
    std::vector<int64_t> end = tensor(input(0)).shape;
    for (size_t i = 0; i < begin.size(); ++i)
        if (sizes[i] >= 0) end[i] = begin[i] + sizes[i];
    const std::vector<int64_t> steps(begin.size(), 1);
    shaped(slice(asGiven(input(0)), begin, end, steps, "cut"), output());
}

void TfliteOperators::cutByMasks()
{
    constexpr int kBegin = 0, kEnd = 1, kEllipsis = 2, kNewAxis = 3, kShrink = 4, kOffset = 5;
    constexpr int64_t kFar = int64_t{1} << 40;
    const std::vector<int64_t> from = integersAt(1), to = integersAt(2), by = integersAt(3);
    const size_t rank = rankOf(input(0));
    const auto has = [&](int field, size_t i) { return ((size(field, 0) >> i) & 1) != 0; };
    size_t given = 0; // entries that stand for an axis of the data
    for (size_t i = 0; i < from.size(); ++i) given += !has(kEllipsis, i) && !has(kNewAxis, i);
    if (to.size() != from.size() || by.size() != from.size() || given > rank || from.size() > 32)
        return fail("its begins, ends and steps do not fit");
    std::vector<int64_t> begin, end, steps;
    const auto add = [&](int64_t first, int64_t last, int64_t step) {
        begin.push_back(first);
        end.push_back(last);
        steps.push_back(step);
    };
    for (size_t i = 0; i < from.size(); ++i) {
        const bool isBack = by[i] < 0;
        const int64_t last = option(kOffset) != 0 ? from[i] + to[i] : to[i];
        if (has(kEllipsis, i))
            for (; given < rank; ++given) add(0, kFar, 1);
        else if (has(kNewAxis, i))
            continue;
        else if (has(kShrink, i))
            add(from[i], from[i] == -1 ? kFar : from[i] + 1, 1);
        else
            add(has(kBegin, i) ? (isBack ? kFar : 0) : from[i],
                has(kEnd, i) ? (isBack ? -kFar : kFar) : last, by[i]);
    }
    shaped(slice(asGiven(input(0)), begin, end, steps, "cut"), output());
}

void TfliteOperators::look()
{
    if (size(1, 0) != 0) return lookInEach();
    setInteger(
        node("Gather", {asGiven(input(0)), asGiven(input(1))}, resultName(false), nameOf(output())),
        "axis", axisOf(size(0, 0), rankOf(input(0))));
}

/// A table for each of the first axes, which the places have, too.
void TfliteOperators::lookInEach()
{
    const int64_t shared = axisOf(size(1, 0), rankOf(input(1)));
    if (shared != axisOf(size(0, 0), rankOf(input(0))))
        return fail("it looks things up along another axis than the first of each table");
    const std::string last = integers("last", {-1});
    setInteger(node("GatherND", {asGiven(input(0)), inner("Unsqueeze", {longs(1), last}, "places")},
                    resultName(false), nameOf(output())),
               "batch_dims", shared);
}

void TfliteOperators::lookUp()
{
    node("Gather", {asGiven(input(1)), asGiven(input(0))}, resultName(false), nameOf(output()));
}

void TfliteOperators::repeat()
{
    node("Tile", {asGiven(input(0)), integers("times", integersAt(1))}, resultName(false),
         nameOf(output()));
}

} // namespace tenon::compiler
