// SPDX-License-Identifier: Apache-2.0
// Operators that give their input another shape, or say it.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The wanted shape: an input, an option, or as the file declares the result.
std::vector<int64_t> wantedShape(TfliteNode& node)
{
    if (node.has(1) && node.constant(1)) return node.staticIntegers(1);
    const std::vector<int64_t> option = node.integers(0);
    if (!option.empty()) return option;
    const TfliteTensor* out = node.outputTensor(0);
    if (out && out->hasRank) return out->shape;
    return node.staticIntegers(1);
}

} // namespace

void convertReshape(TfliteNode& node)
{
    std::vector<int64_t> shape = wantedShape(node);
    const ValueRef value = node.input(0);
    if (node.hasFailed()) return;
    if (shape == std::vector<int64_t>{0}) shape.clear(); // an old way to say: a scalar
    if (node.isComplex(0)) shape.push_back(2);
    const auto data = constantShape(node.type(0).shape);
    int64_t known = 1;
    for (const int64_t dim : shape)
        if (dim < -1 || (dim >= 0 && __builtin_mul_overflow(known, dim, &known))) {
            node.fail(DiagnosticCode::BadAttribute,
                      "the shape (" + join(shape, ", ") + ") is not usable");
            return;
        }
    const auto open = std::find(shape.begin(), shape.end(), -1);
    if (open != shape.end() && data && known > 0) *open = elementCount(*data) / known;
    node.output(0, node.emit("reshape", {value}, {{"newshape", shape}}));
}

void convertSqueeze(TfliteNode& node)
{
    const std::vector<int64_t> axes = node.axesOf(node.integers(0), node.fileRank(0));
    const ValueRef value = node.input(0);
    if (!node.hasFailed()) node.output(0, node.emit("squeeze", {value}, {{"axis", axes}}));
}

void convertExpandDims(TfliteNode& node)
{
    const std::vector<int64_t> axes = node.staticIntegers(1);
    const ValueRef value = node.input(0);
    if (node.hasFailed()) return;
    if (axes.size() != 1) {
        node.fail(DiagnosticCode::BadAttribute, "one axis is needed");
        return;
    }
    node.output(0, Formula(node).expand(value, node.axisOf(axes[0], node.fileRank(0) + 1)));
}

void convertShape(TfliteNode& node)
{
    const Shape shape = node.type(0).shape;
    if (node.hasFailed()) return;
    node.outputDims(0, shape, false, node.outputType(0).value_or(kInt32));
}

void convertRank(TfliteNode& node)
{
    const int64_t rank = node.rank(0);
    if (!node.hasFailed())
        node.outputConstant(0, Tensor::of<int32_t>(kInt32, {}, {static_cast<int32_t>(rank)}));
}

void convertTranspose(TfliteNode& node)
{
    std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), node.fileRank(0));
    if (node.hasFailed()) return;
    if (node.isComplex(0)) axes.push_back(node.fileRank(0));
    if (axes == std::vector<int64_t>{0, 2, 3, 1}) // what the file holds channels first
        return node.outputChannelsFirst(0, node.input(0));
    if (axes == std::vector<int64_t>{0, 3, 1, 2} && node.isChannelsFirst(0))
        return node.output(0, node.channelsFirst(0));
    node.output(0, Formula(node).transpose(node.input(0), axes));
}

void convertPack(TfliteNode& node)
{
    const int64_t axis = node.axisOf(node.integer(1), node.rank(0) + 1);
    Formula f(node);
    std::vector<ValueRef> parts;
    for (size_t i = 0; i < node.inputCount() && !node.hasFailed(); ++i)
        parts.push_back(f.expand(node.input(i), axis));
    if (!node.hasFailed()) node.output(0, f.concat(parts, axis));
}

void convertUnpack(TfliteNode& node)
{
    const int64_t axis = node.axisOf(node.integer(1), node.rank(0));
    const ValueRef value = node.input(0);
    if (node.hasFailed()) return;
    Formula f(node);
    for (size_t i = 0; i < node.outputCount(); ++i) {
        const auto at = static_cast<int64_t>(i);
        node.output(i, f.squeeze(f.slice(value, axis, at, at + 1), {axis}));
    }
}

void convertBroadcastTo(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.staticIntegers(1);
    const ValueRef value = node.input(0);
    if (!node.hasFailed()) node.output(0, Formula(node).broadcast(value, shape));
}

/// The shape that two shapes broadcast to.
void convertBroadcastArgs(TfliteNode& node)
{
    const std::vector<int64_t> a = node.staticIntegers(0), b = node.staticIntegers(1);
    if (node.hasFailed()) return;
    std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
    for (const std::vector<int64_t>* shape : {&a, &b})
        for (size_t i = 0; i < shape->size(); ++i) {
            int64_t& dim = out[out.size() - shape->size() + i];
            const int64_t given = (*shape)[i];
            if (dim != 1 && given != 1 && dim != given)
                node.fail(DiagnosticCode::ShapeMismatch, "the shapes (" + join(a, ", ") +
                                                             ") and (" + join(b, ", ") +
                                                             ") do not broadcast");
            if (given != 1) dim = given;
        }
    const DataType dtype = node.type(0).dtype;
    const auto rank = static_cast<int64_t>(out.size());
    node.outputConstant(0, Tensor::make(dtype, {rank}, [&](std::span<std::byte> bytes) {
                            for (size_t i = 0; i < out.size(); ++i)
                                storeInteger(dtype, bytes, static_cast<int64_t>(i), out[i]);
                        }));
}

void convertFill(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.staticIntegers(0);
    const ValueRef value = node.input(1);
    if (!node.hasFailed()) node.output(0, Formula(node).broadcast(value, shape));
}

void convertZerosLike(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0);
    const DataType dtype = node.type(0).dtype;
    if (node.hasFailed()) return;
    const TfliteTensor* out = node.outputTensor(0);
    const double zero = dtype.isInt() && node.isOutputQuantized(0)
                            ? static_cast<double>(out->quantization.zeros[0])
                            : 0;
    node.output(0, Formula(node).broadcast(node.scalar(zero, dtype), shape));
}

} // namespace tenon::compiler
