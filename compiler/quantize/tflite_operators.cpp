// SPDX-License-Identifier: Apache-2.0
// Finding operators, and what several of them share.
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

/// The schema's fused activations.
enum FusedActivation : int
{
    kNone = 0,
    kRelu = 1,
    kReluOne = 2,
    kRelu6 = 3,
    kTanh = 4
};

} // namespace

TfliteOperators::Handler TfliteOperators::handlerOf(const TfliteOperator& op)
{
    using Self = TfliteOperators;
    struct Row
    {
        std::string_view name;
        Handler handler;
    };
    static constexpr Row kRows[] = {
#define OPERATOR(name, handler) {name, &Self::handler},
#include "compiler/quantize/tflite_operators.def"
#undef OPERATOR
    };
    const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                    [&](const Row& row) { return row.name == op.name; });
    return found == std::end(kRows) ? nullptr : found->handler;
}

void TfliteOperators::finish(NodeProto& made, bool isPlanes, int activation)
{
    const std::string result = resultName(isPlanes);
    if (activation == kNone) {
        made.set_output(0, result);
        return;
    }
    const std::string inner = result + "/sum", name = made.name() + "/activation";
    made.set_output(0, inner);
    if (activation == kRelu)
        node("Relu", {inner}, result, name);
    else if (activation == kTanh)
        node("Tanh", {inner}, result, name);
    else if (activation == kRelu6)
        clip(inner, result, name, 0, 6);
    else if (activation == kReluOne)
        clip(inner, result, name, -1, 1);
    else
        fail("its fused activation is not known");
}

bool TfliteOperators::canBePlanes(int64_t index)
{
    if (!isConstant(index)) return rankOf(index) == 4;
    if (constantOf(index).dtype() != kFloat32) return false;
    if (rankOf(index) == 4) return true;
    const std::vector<int64_t>& shape = tensor(index).shape;
    return std::all_of(shape.begin(), shape.end() - (shape.empty() ? 0 : 1),
                       [](int64_t size) { return size == 1; });
}

std::string TfliteOperators::channels(int64_t index)
{
    const Tensor value = constantOf(index);
    const auto values = value.as<float>();
    const std::vector<int64_t> shape =
        value.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{value.size(), 1, 1};
    return add(Tensor::of<float>(kFloat32, shape, std::vector<float>(values.begin(), values.end())),
               nameOf(output()) + "/" + nameOf(index));
}

std::vector<int64_t> TfliteOperators::integersAt(size_t at)
{
    std::vector<int64_t> out;
    for (const double value : constantOf(input(at)).numbers())
        out.push_back(static_cast<int64_t>(value));
    return out;
}

void TfliteOperators::shaped(const std::string& from, int64_t result)
{
    node("Reshape", {from, integers(nameOf(result) + "/shape", tensor(result).shape)},
         given(result), nameOf(result));
}

bool TfliteOperators::needRank(int64_t index, size_t rank)
{
    if (index >= 0 && rankOf(index) == rank) return true;
    fail("a tensor of it is declared with another number of axes than " + std::to_string(rank));
    return false;
}

bool TfliteOperators::needAxis(int64_t axis, size_t rank)
{
    if (axis >= 0 && axis < static_cast<int64_t>(rank)) return true;
    fail("it has no axis " + std::to_string(axis) + " in " + std::to_string(rank) +
         " declared ones");
    return false;
}

int64_t TfliteOperators::axisOf(int64_t axis, size_t rank) const
{
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

} // namespace tenon::compiler
