// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED and BATCH_MATMUL.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/layer.h"

namespace tenon::compiler {
namespace {

constexpr size_t kData = 0, kWeight = 1, kBias = 2;
constexpr int kAsymmetricInputs = 3;

/// The data as a matrix, and the shape of the result.
struct DenseShape
{
    std::vector<int64_t> rows;   ///< shape of the matrix
    std::vector<int64_t> result; ///< as the file has it
};

DenseShape denseShape(TfliteNode& node)
{
    const std::vector<int64_t> data = node.shape(kData), weight = node.shape(kWeight);
    if (node.hasFailed()) return {};
    const int64_t count = elementCount(data);
    if (weight.size() != 2 || weight[1] < 1 || count % weight[1] != 0) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the weight has the shape " + shapeText(node.type(kWeight).shape) +
                      " but the input has " + shapeText(node.type(kData).shape));
        return {};
    }
    DenseShape out{.rows = {count / weight[1], weight[1]},
                   .result = {count / weight[1], weight[0]}};
    constexpr int kKeepsDims = 2;
    if (node.flag(kKeepsDims) && !data.empty() && data.back() == weight[1]) {
        out.result = data;
        out.result.back() = weight[0];
    }
    return out;
}

} // namespace

void convertFullyConnected(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 0);
    if (node.byte(1) != 0)
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "shuffled weights are not supported; convert the model without them");
    const DenseShape shape = denseShape(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const Layer layer{.forms = {.real = "nn.dense", .integer = "qnn.dense", .attrs = {}},
                      .operands = {.data = kData, .weight = kWeight, .bias = kBias},
                      .dataValue = f.reshape(node.input(kData), shape.rows),
                      .weightValue = node.input(kWeight),
                      .channels = shape.result.back(),
                      .weightAxis = 0,
                      .axis = 1,
                      .fileAxis = 0,
                      .quantizesRows = !node.flag(kAsymmetricInputs)};
    node.output(0, f.reshape(layerResult(node, layer, activation), shape.result));
}

namespace {

/// Integers minus their zero point.
ValueRef centred(TfliteNode& node, size_t input, DataType dtype)
{
    Formula f(node);
    const TensorScale from = oneScale(node, node.inputTensor(input));
    return f.subtract(f.cast(node.input(input), dtype), static_cast<double>(from.zero));
}

} // namespace

void convertBatchMatmul(TfliteNode& node)
{
    const Attrs attrs{{"transpose_a", int64_t{node.flag(0)}},
                      {"transpose_b", int64_t{node.flag(1)}}};
    Formula f(node);
    if (!node.isQuantized(0) || !node.isQuantized(1) || !node.isOutputQuantized(0)) {
        const ValueRef product =
            f.call("nn.matmul", {realInput(node, 0), realInput(node, 1)}, attrs);
        return outputReal(node, 0, product);
    }
    const TensorScale a = oneScale(node, node.inputTensor(0)),
                      b = oneScale(node, node.inputTensor(1)),
                      out = oneScale(node, node.outputTensor(0));
    if (node.hasFailed()) return;
    const bool isWide = node.type(0).dtype.bits > 8;
    const DataType dtype = isWide ? kInt64 : kInt32;
    const ValueRef sums =
        f.call("nn.matmul", {centred(node, 0, dtype), centred(node, 1, dtype)}, attrs);
    const float step = static_cast<float>(a.scale) * static_cast<float>(b.scale);
    const std::vector<double> ratios{
        isWide ? a.scale * b.scale / out.scale
               : static_cast<double>(step / static_cast<float>(out.scale))};
    node.output(0, isWide ? requantizedWide(node, sums, ratios, 0, FusedActivation::None)
                          : requantizedSums(node, sums, ratios, 0, FusedActivation::None));
}

} // namespace tenon::compiler
