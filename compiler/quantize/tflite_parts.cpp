// SPDX-License-Identifier: Apache-2.0
// Windows, activations, operands and moves of operators.
#include "compiler/quantize/tflite_parts.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

constexpr int kSame = 0;

} // namespace

void TfliteParts::setWindow(NodeProto& made, const std::vector<int64_t>& kernel,
                            const Fields& fields)
{
    const std::vector<int64_t> strides{size(fields.strideH), size(fields.strideW)};
    std::vector<int64_t> dilations{1, 1};
    if (fields.dilationH >= 0) dilations = {size(fields.dilationH), size(fields.dilationW)};
    std::vector<int64_t> pads(4, 0);
    const std::vector<int64_t>& shape = tensor(input(0)).shape;
    for (size_t axis = 0; axis < 2 && option(fields.padding) == kSame; ++axis) {
        const int64_t data = shape.at(axis + 1);
        const int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
        const int64_t count = (data + strides[axis] - 1) / strides[axis];
        const int64_t missing = std::max<int64_t>((count - 1) * strides[axis] + reach - data, 0);
        pads[axis] = missing / 2;
        pads[axis + 2] = missing - missing / 2;
    }
    setIntegers(made, "kernel_shape", kernel);
    setIntegers(made, "strides", strides);
    setIntegers(made, "pads", pads);
    if (fields.dilationH >= 0) setIntegers(made, "dilations", dilations);
}

void TfliteParts::finish(NodeProto& made, bool isPlanes, int activation)
{
    activate(made, resultName(isPlanes), activation);
}

void TfliteParts::activate(NodeProto& made, const std::string& result, int activation)
{
    if (activation == 0) {
        made.set_output(0, result);
        return;
    }
    const std::string inner = result + "/sum";
    made.set_output(0, inner);
    apply(inner, result, made.name() + "/activation", activation);
}

bool TfliteParts::canBePlanes(int64_t index)
{
    if (!isConstant(index)) return rankOf(index) == 4;
    if (constantOf(index).dtype() != kFloat32) return false;
    if (rankOf(index) == 4) return true;
    const std::vector<int64_t>& shape = tensor(index).shape;
    return std::all_of(shape.begin(), shape.end() - (shape.empty() ? 0 : 1),
                       [](int64_t size) { return size == 1; });
}

std::string TfliteParts::channels(int64_t index)
{
    const Tensor value = constantOf(index);
    const auto values = value.as<float>();
    const std::vector<int64_t> shape =
        value.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{value.size(), 1, 1};
    return add(Tensor::of<float>(kFloat32, shape, std::vector<float>(values.begin(), values.end())),
               nameOf(output()) + "/" + nameOf(index));
}

std::string TfliteParts::operand(size_t at, bool isPlanes)
{
    if (!isPlanes) return asGiven(input(at));
    return rankOf(input(at)) == 4 ? asPlanes(input(at)) : channels(input(at));
}

std::vector<int64_t> TfliteParts::integersAt(size_t at)
{
    std::vector<int64_t> out;
    for (const double value : constantOf(input(at)).numbers())
        out.push_back(static_cast<int64_t>(value));
    return out;
}

void TfliteParts::shaped(const std::string& from, int64_t result)
{
    node("Reshape", {from, integers(nameOf(result) + "/shape", tensor(result).shape)},
         given(result), nameOf(result));
}

bool TfliteParts::needRank(int64_t index, size_t rank)
{
    if (index >= 0 && rankOf(index) == rank) return true;
    fail("a tensor of it is declared with another number of axes than " + std::to_string(rank));
    return false;
}

bool TfliteParts::needAxis(int64_t axis, size_t rank)
{
    if (axis >= 0 && axis < static_cast<int64_t>(rank)) return true;
    fail("it has no axis " + std::to_string(axis) + " in " + std::to_string(rank) +
         " declared ones");
    return false;
}

int64_t TfliteParts::axisOf(int64_t axis, size_t rank) const
{
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

std::string TfliteParts::slice(const std::string& from, const std::vector<int64_t>& begin,
                               const std::vector<int64_t>& end, const std::vector<int64_t>& steps,
                               const std::string& name)
{
    std::vector<int64_t> axes;
    for (size_t i = 0; i < begin.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    node("Slice",
         {from, integers(name + "_begin", begin), integers(name + "_end", end),
          integers(name + "_axes", axes), integers(name + "_steps", steps)},
         nameOf(output()) + "/" + name, nameOf(output()) + "/" + name);
    return nameOf(output()) + "/" + name;
}

std::string TfliteParts::longs(size_t at)
{
    const std::string given = asGiven(input(at));
    if (tfliteDataType(tensor(input(at)).type) == kInt64) return given;
    const std::string name = nameOf(output()) + "/input" + std::to_string(at);
    setInteger(node("Cast", {given}, name, name), "to", onnxTypeOf(kInt64));
    return name;
}

} // namespace tenon::compiler
