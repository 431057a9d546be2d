// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors of a shape, or say it.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

namespace {

Tensor numbersAs(DataType dtype, const std::vector<double>& values, std::vector<int64_t> shape)
{
    return Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            storeNumber(dtype, out, static_cast<int64_t>(i), values[i]);
    });
}

} // namespace

Tensor TfliteOperators::zerosOf(DataType dtype, const std::vector<int64_t>& shape)
{
    return Tensor::make(dtype, shape, [](std::span<std::byte>) {});
}

void TfliteOperators::shapeOf()
{
    const auto dtype = tfliteDataType(tensor(output()).type);
    const std::vector<int64_t>& shape = tensor(input(0)).shape;
    const std::vector<double> sizes(shape.begin(), shape.end());
    define(numbersAs(dtype.value_or(kInt32), sizes, {static_cast<int64_t>(sizes.size())}));
}

void TfliteOperators::rank()
{
    define(numbersAs(kInt32, {static_cast<double>(rankOf(input(0)))}, {}));
}

void TfliteOperators::range()
{
    const std::vector<double> first = constantOf(input(0)).numbers(),
                              limit = constantOf(input(1)).numbers(),
                              step = constantOf(input(2)).numbers();
    const auto dtype = tfliteDataType(tensor(output()).type);
    if (first.size() != 1 || limit.size() != 1 || step.size() != 1 || step[0] == 0 || !dtype)
        return fail("its limits are not usable");
    const double count = std::max(0.0, std::ceil((limit[0] - first[0]) / step[0]));
    if (!(count <= static_cast<double>(kMaxMadeUp))) return fail("it is too long");
    std::vector<double> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = first[0] + static_cast<double>(i) * step[0];
    define(numbersAs(*dtype, values, {static_cast<int64_t>(values.size())}));
}

void TfliteOperators::expand(int64_t value)
{
    node("Expand", {asGiven(value), integers("shape", tensor(output()).shape)}, resultName(false),
         nameOf(output()));
}

void TfliteOperators::fill() { expand(input(1)); }

void TfliteOperators::broadcast() { expand(input(0)); }

/// The shape that two shapes broadcast to.
void TfliteOperators::broadcastShapes()
{
    const std::vector<int64_t> a = integersAt(0), b = integersAt(1);
    const auto dtype = tfliteDataType(tensor(output()).type);
    std::vector<double> out(std::max(a.size(), b.size()), 1);
    for (const std::vector<int64_t>* shape : {&a, &b})
        for (size_t i = 0; i < shape->size(); ++i)
            if ((*shape)[i] != 1)
                out[out.size() - shape->size() + i] = static_cast<double>((*shape)[i]);
    define(numbersAs(dtype.value_or(kInt32), out, {static_cast<int64_t>(out.size())}));
}

void TfliteOperators::zeros()
{
    const auto dtype = tfliteDataType(tensor(output()).type);
    if (!dtype) return fail("its type cannot be computed with");
    node("Expand",
         {add(zerosOf(*dtype, {}), nameOf(output()) + "/zero"),
          integers("shape", tensor(output()).shape)},
         resultName(false), nameOf(output()));
}

} // namespace tenon::compiler
