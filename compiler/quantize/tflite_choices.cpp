// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by conditions, numbers or their size.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/tflite_operators.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteOperators::select()
{
    bool isPlanes = rankOf(output()) == 4, isAny = false;
    for (const size_t at : {0, 1, 2}) {
        isPlanes = isPlanes && canBePlanes(input(at));
        isAny = isAny || hasPlanes(input(at));
    }
    isPlanes = isPlanes && isAny;
    std::vector<std::string> inputs;
    for (const size_t at : {0, 1, 2}) inputs.push_back(operand(at, isPlanes));
    node("Where", inputs, resultName(isPlanes), nameOf(output()));
}

/// A condition of one axis is one for each row.
void TfliteOperators::selectRows()
{
    std::string condition = asGiven(input(0));
    if (rankOf(input(0)) == 1 && rankOf(input(1)) > 1) {
        std::vector<int64_t> shape(rankOf(input(1)), 1);
        shape[0] = tensor(input(0)).shape[0];
        condition = inner("Reshape", {condition, integers("rows", shape)}, "condition");
    }
    node("Where", {condition, asGiven(input(1)), asGiven(input(2))}, resultName(false),
         nameOf(output()));
}

/// One row for each element that is not zero.
void TfliteOperators::places()
{
    turn(inner("NonZero", {asGiven(input(0))}, "places"), resultName(false), {1, 0});
}

void TfliteOperators::chooseAt()
{
    node("GatherND", {asGiven(input(0)), longs(1)}, resultName(false), nameOf(output()));
}

/// What falls on the same place is added up.
void TfliteOperators::scatter()
{
    constexpr int64_t kAddingOpset = 16;
    const auto dtype = tfliteDataType(tensor(input(1)).type);
    if (!dtype) return fail("its type cannot be computed with");
    const std::string start = add(zerosOf(*dtype, {}), nameOf(output()) + "/zero"),
                      empty = inner("Expand", {start, integers("shape", integersAt(2))}, "empty");
    setString(node("ScatterND", {empty, longs(0), asGiven(input(1))}, resultName(false),
                   nameOf(output())),
              "reduction", "add");
    setOpset(m_out, kAddingOpset);
}

/// OneHot of ONNX counts negative numbers from the end; here they are nowhere.
void TfliteOperators::oneHot()
{
    const std::vector<int64_t> depth = integersAt(1);
    const auto rank = static_cast<int64_t>(rankOf(input(0))) + 1;
    const int64_t axis = axisOf(size(0, -1), static_cast<size_t>(rank));
    if (m_problem || depth.size() != 1 || depth[0] < 0 || depth[0] > kMaxMadeUp)
        return fail("it needs one depth");
    if (!needAxis(axis, static_cast<size_t>(rank))) return;
    std::vector<int64_t> numbers, shape(static_cast<size_t>(rank), 1);
    for (int64_t i = 0; i < depth[0]; ++i) numbers.push_back(i);
    shape[static_cast<size_t>(axis)] = depth[0];
    const std::string wide = inner("Unsqueeze", {longs(0), integers("axis", {axis})}, "wide");
    const std::string places =
        add(Tensor::of<int64_t>(kInt64, shape, numbers), nameOf(output()) + "/numbers");
    node("Where", {inner("Equal", {wide, places}, "is_it"), asGiven(input(2)), asGiven(input(3))},
         resultName(false), nameOf(output()));
}

void TfliteOperators::largest()
{
    const std::vector<int64_t> count = integersAt(1);
    if (count.size() != 1) return fail("it needs one count");
    const std::string data = asGiven(input(0)), places = nameOf(output()) + "/places";
    NodeProto& made =
        node("TopK", {data, integers("count", count)}, given(output()), nameOf(output()));
    made.add_output(places);
    if (m_op->outputs.size() < 2) return;
    const auto dtype = tfliteDataType(tensor(m_op->outputs[1]).type);
    setInteger(node("Cast", {places}, given(m_op->outputs[1]), places + "/type"), "to",
               onnxTypeOf(dtype.value_or(kInt32)));
}

/// As the largest or least of zeros and ones.
void TfliteOperators::allOrAny()
{
    std::vector<int64_t> axes;
    for (const int64_t axis : integersAt(1)) axes.push_back(axisOf(axis, rankOf(input(0))));
    std::sort(axes.begin(), axes.end());
    const std::string data = asGiven(input(0)), base = nameOf(output());
    setInteger(node("Cast", {data}, base + "/numbers", base + "/numbers"), "to",
               onnxTypeOf(kInt32));
    NodeProto& made = node(m_op->name == "REDUCE_ANY" ? "ReduceMax" : "ReduceMin",
                           {base + "/numbers"}, base + "/reduced", base + "/reduced");
    setIntegers(made, "axes", axes);
    setInteger(made, "keepdims", option(0) != 0 ? 1 : 0);
    setInteger(node("Cast", {base + "/reduced"}, resultName(false), base), "to", onnxTypeOf(kBool));
}

} // namespace tenon::compiler
