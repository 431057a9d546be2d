// SPDX-License-Identifier: Apache-2.0
// Sums of squares of weights and of constants, channel by channel.
#include "compiler/passes/error/layer_weights.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// How many of the positions along an axis find the element of the window inside the image.
double insideShare(int64_t extent, int64_t positions, int64_t step, int64_t first)
{
    int64_t inside = 0;
    for (int64_t p = 0; p < positions; ++p) {
        const int64_t at = p * step + first;
        inside += at >= 0 && at < extent;
    }
    return positions == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(positions);
}

/// By element of the window of a convolution of an image; all 1 for others.
std::vector<double> windowShares(const Module& module, const NodeRecord& node, size_t elements)
{
    std::vector<double> out(elements, 1);
    const Shape& data = module.type(node.operands[0]).shape;
    const Shape& result = node.types[0].shape;
    if (!isOp(node, conv2dOp) || data.size() != 4 || result.size() != 4) return out;
    for (const size_t axis : {2, 3})
        if (!data[axis].isConst() || !result[axis].isConst()) return out;
    const Shape& weight = module.type(node.operands[1]).shape;
    const std::vector<int64_t> steps = node.attrs.integers("strides", {1, 1});
    const std::vector<int64_t> gaps = node.attrs.integers("dilation", {1, 1});
    const std::vector<int64_t> pads = node.attrs.integers("padding", {0, 0, 0, 0});
    const auto share = [&](size_t axis, int64_t element) {
        return insideShare(data[axis + 2].value(), result[axis + 2].value(), steps[axis],
                           element * gaps[axis] - pads[axis]);
    };
    const int64_t width = weight[3].value();
    for (size_t i = 0; i < elements; ++i)
        out[i] =
            share(0, static_cast<int64_t>(i) / width) * share(1, static_cast<int64_t>(i) % width);
    return out;
}

/// Of a transposed convolution, whose results each meet a part of the window.
double stepShare(const NodeRecord& node)
{
    double share = 1;
    for (const int64_t step : node.attrs.integers("strides", {}))
        share /= static_cast<double>(step);
    return share;
}

bool isPlain(const NodeRecord& node)
{
    return node.attrs.string("data_layout", "NCHW") == "NCHW" &&
           node.attrs.string("kernel_layout", "OIHW") == "OIHW";
}

} // namespace

std::vector<double> LayerWeights::weighted(const std::vector<double>& operandSquares) const
{
    std::vector<double> out(groups * results, 0);
    for (size_t o = 0; o < out.size(); ++o)
        for (size_t i = 0; i < operands; ++i)
            out[o] += squares[o * operands + i] * operandSquares[firstOperand(o) + i];
    return out;
}

std::optional<LayerWeights> layerWeights(const Module& module, const NodeRecord& node)
{
    const bool isTransposed = isOp(node, conv2dTransposeOp), isDense = isOp(node, denseOp);
    if (!isOp(node, conv2dOp) && !isTransposed && !isDense) return std::nullopt;
    const Tensor* weight = constantOf(module, node.operands[1]);
    if (!weight || weight->dtype() != kFloat32 || weight->size() == 0 || !isPlain(node))
        return std::nullopt;
    const auto first = static_cast<size_t>(weight->shape()[0]);
    const auto second = static_cast<size_t>(weight->shape()[1]);
    const size_t window = static_cast<size_t>(weight->size()) / first / second;
    LayerWeights out{static_cast<size_t>(node.attrs.integer("groups", 1)), second, first, {}, 0};
    if (!isTransposed) std::swap(out.results, out.operands);
    (isTransposed ? out.operands : out.results) /= out.groups;
    out.squares.assign(first * second, 0);
    const double step = isTransposed ? stepShare(node) : 1;
    const std::vector<double> shares = windowShares(module, node, window);
    const std::span<const float> values = weight->as<float>();
    for (size_t i = 0; i < first * second; ++i) {
        const size_t a = i / second, b = i % second;
        const size_t row = isTransposed ? a / out.operands * out.results + b : a;
        double sum = 0;
        for (size_t k = 0; k < window; ++k) {
            const auto value = static_cast<double>(values[i * window + k]);
            sum += shares[k] * value * value;
        }
        out.squares[row * out.operands + (isTransposed ? a % out.operands : b)] = sum * step;
    }
    out.terms =
        std::max<int64_t>(1, std::lround(step * static_cast<double>(out.operands * window)));
    return out;
}

std::vector<double> squaresByChannel(const Tensor& value)
{
    const std::vector<int64_t>& shape = value.shape();
    const auto channels =
        static_cast<size_t>(shape.size() < 2 ? 1 : std::max<int64_t>(1, shape[1]));
    int64_t inner = 1;
    for (size_t i = 2; i < shape.size(); ++i) inner *= shape[i];
    std::vector<double> out(channels, 0);
    const double share = static_cast<double>(channels) / static_cast<double>(value.size());
    for (int64_t i = 0; i < value.size(); ++i) {
        const double item = value.number(i);
        if (std::isfinite(item))
            out[static_cast<size_t>(i / inner) % channels] += item * item * share;
    }
    return out;
}

} // namespace tenon::compiler
