// SPDX-License-Identifier: Apache-2.0
// Operators that need no computation: constants, shapes, and those that pass their input on.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

#include <cmath>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxMaterialized = 4096;

Tensor filled(const Tensor& value, std::vector<int64_t> shape)
{
    const std::span<const std::byte> one = value.bytes();
    return Tensor::make(value.dtype(), std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < out.size(); ++i) out[i] = one[i % one.size()];
    });
}

} // namespace

void convertConstant(OnnxNode& node)
{
    if (node.hasAttr("value")) {
        if (const auto tensor = node.tensorAttr("value")) {
            node.markResultsNarrow(node.narrowAttr("value"));
            node.outputConstant(0, *tensor);
        }
    } else if (node.hasAttr("value_float")) {
        const auto value = static_cast<float>(node.number("value_float", 0));
        node.outputConstant(0, Tensor::of<float>(kFloat32, {}, {value}));
    } else if (node.hasAttr("value_int")) {
        node.outputConstant(0, Tensor::of<int64_t>(kInt64, {}, {node.integer("value_int", 0)}));
    } else if (node.hasAttr("value_ints")) {
        const std::vector<int64_t> values = node.integers("value_ints", {});
        node.outputConstant(
            0, Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(values.size())}, values));
    } else if (node.hasAttr("value_floats")) {
        const std::vector<double> values = node.numbers("value_floats", {});
        const std::vector<float> singles(values.begin(), values.end());
        node.outputConstant(
            0, Tensor::of<float>(kFloat32, {static_cast<int64_t>(values.size())}, singles));
    } else if (node.hasAttr("sparse_value")) {
        if (const auto tensor = node.sparseAttr("sparse_value")) node.outputConstant(0, *tensor);
    } else {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "the constant is of strings or has no value; strings belong before the model");
    }
}

void convertConstantOfShape(OnnxNode& node)
{
    if (!node.constant(0)) return fillAtRunTime(node);
    const std::vector<int64_t> shape = node.staticIntegers(0);
    const Tensor zero = Tensor::of<float>(kFloat32, {1}, {0.0f});
    const auto given =
        node.hasAttr("value") ? node.tensorAttr("value") : std::make_shared<const Tensor>(zero);
    if (node.hasFailed()) return;
    int64_t count = 1;
    for (const int64_t dim : shape)
        if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
            node.fail(DiagnosticCode::ShapeMismatch,
                      "the shape (" + join(shape, ", ") + ") is not possible");
            return;
        }
    if (given->size() != 1) {
        node.fail(DiagnosticCode::BadAttribute, "value must have one element", "value");
        return;
    }
    if (count <= kMaxMaterialized) {
        node.outputConstant(0, filled(*given, shape));
        return;
    }
    // Large constants stay an expression: a small file must not fill the memory.
    const ValueRef scalar = node.constantNode(given->reshaped({}));
    node.output(0, node.emit("broadcast_to", {scalar}, {{"shape", shape}}));
}

namespace {

/// i * delta as the type holds it: a run rounds the product, then the sum.
double roundedTo(DataType dtype, int64_t i, double delta)
{
    const double product = static_cast<double>(i) * delta;
    return dtype == kFloat32 ? static_cast<double>(static_cast<float>(product)) : product;
}

} // namespace

void convertRange(OnnxNode& node)
{
    if (!node.constant(0) || !node.constant(1) || !node.constant(2)) return rangeAtRunTime(node);
    const std::vector<double> start = node.staticNumbers(0), limit = node.staticNumbers(1);
    const std::vector<double> delta = node.staticNumbers(2);
    if (node.hasFailed()) return;
    const DataType dtype = node.type(0).dtype;
    constexpr double kMaxCount = 1 << 23;
    const bool isScalar = start.size() == 1 && limit.size() == 1 && delta.size() == 1;
    const double count = isScalar ? std::ceil((limit[0] - start[0]) / delta[0]) : -1;
    if (!isScalar || delta[0] == 0 || !(count <= kMaxCount)) {
        node.fail(DiagnosticCode::BadModel,
                  "start, limit and delta must be scalars that make at most 2^23 steps");
        return;
    }
    const auto size = std::max<int64_t>(0, static_cast<int64_t>(count));
    const Tensor& first = *node.constant(0);
    const Tensor& step = *node.constant(2);
    node.outputConstant(
        0, Tensor::make(dtype, {size}, [&](std::span<std::byte> out) {
            for (int64_t i = 0; i < size; ++i) {
                if (dtype.isInt())
                    storeInteger(dtype, out, i, first.integer(0) + i * step.integer(0));
                else
                    storeNumber(dtype, out, i, start[0] + roundedTo(dtype, i, delta[0]));
            }
        }));
}

void convertShape(OnnxNode& node)
{
    const Shape dims = node.type(0).shape;
    const auto rank = static_cast<int64_t>(dims.size());
    const auto clamp = [&](int64_t at) {
        if (at < 0) at += rank;
        return at < 0 ? 0 : at > rank ? rank : at;
    };
    const int64_t start = clamp(node.integer("start", 0));
    const int64_t end = clamp(node.integer("end", rank));
    std::vector<Dim> out;
    for (int64_t i = start; i < end; ++i) out.push_back(dims[static_cast<size_t>(i)]);
    node.outputDims(0, out, false);
}

void convertSize(OnnxNode& node) { node.outputDims(0, {product(node.type(0).shape)}, true); }

void convertIdentity(OnnxNode& node) { node.forward(0, 0); }

void convertDropout(OnnxNode& node)
{
    const Tensor* training = node.constant(2);
    const Tensor* ratio = node.constant(1);
    node.has(1); // the ratio means nothing for inference
    const bool keepsAll = ratio && ratio->size() == 1 && ratio->number(0) == 0;
    if (node.has(2) && (!training || training->integer(0) != 0) && !keepsAll) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "training mode draws random numbers, which a compiled model must not; export the "
                  "model for inference");
        return;
    }
    node.forward(0, 0);
    if (!node.isRead(1)) return;
    // Nothing is dropped; before opset 10 the mask has the type of the data.
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const DataType dtype = node.opset() >= 10 ? kBool : node.type(0).dtype;
    node.output(1, node.emit("broadcast_to", {node.scalar(1, dtype)}, {{"shape", shape}}));
}

void convertOptionalHasElement(OnnxNode& node)
{
    node.outputConstant(0, Tensor::of<uint8_t>(kBool, {}, {uint8_t{node.has(0)}}));
}

} // namespace tenon::compiler
