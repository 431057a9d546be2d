// SPDX-License-Identifier: Apache-2.0
// Convolutions and dense layers of quantized graphs, as exporters write them.
#include "tests/fuzz/quantized/quantized_builder.h"

#include <algorithm>
#include <utility>

namespace tenon::test {

namespace {

/// Attributes of a convolution of rank-3 or rank-4 data, and what it gives.
struct Window
{
    int64_t groups = 1, filters;
    Dims kernel, strides, dilation, pads;

    void set(tenon_onnx::NodeProto& node) const
    {
        if (groups > 1) setInt(node, "group", groups);
        setInts(node, "kernel_shape", kernel);
        setInts(node, "strides", strides);
        setInts(node, "dilations", dilation);
        setInts(node, "pads", pads);
    }
};

Window randomWindow(QuantizedBuilder& b, const Dims& data)
{
    const size_t axes = data.size() - 2;
    const int64_t channels = data[1];
    Window out;
    out.filters = b.oneOf<int64_t>({1, 3, 4, 5, 8, 16, 16, 24, 32, 32, 40});
    if (b.chance(25) && channels > 1) {
        const bool isDepthwise = b.chance(70);
        out.groups = isDepthwise ? channels : channels % 2 == 0 ? 2 : 1;
        if (isDepthwise) out.filters = channels;
        out.filters = (out.filters + out.groups - 1) / out.groups * out.groups;
    }
    out.pads.resize(2 * axes);
    const int64_t size = b.oneOf<int64_t>({1, 1, 3, 3, 3, 2, 5});
    for (size_t i = 0; i < axes; ++i) {
        int64_t kernel = std::min(size, data[2 + i]);
        const int64_t dilation = kernel * 2 - 1 <= data[2 + i] && b.chance(10) ? 2 : 1;
        const bool isPadded = b.chance(60);
        out.kernel.push_back(kernel);
        out.strides.push_back(b.chance(25) ? 2 : 1);
        out.dilation.push_back(dilation);
        out.pads[i] = isPadded ? kernel / 2 : 0;
        out.pads[i + axes] =
            isPadded ? std::max<int64_t>(0, kernel / 2 - (b.chance(15) ? 1 : 0)) : 0;
    }
    return out;
}

/// What a layer adds: nothing, integers of the scale of its sums, or real numbers.
std::string randomBias(QuantizedBuilder& b, int64_t channels, const QuantizedBuilder::Weight& w,
                       const Grid& data, const Dims& shape)
{
    if (b.chance(30)) return "";
    std::vector<double> values, scales;
    for (int64_t i = 0; i < channels; ++i) values.push_back(0.4 * b.normal());
    if (b.chance(35)) return b.constant(core::kFloat32, shape, values);
    for (const double scale : w.scales) scales.push_back(static_cast<float>(data.scale * scale));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(
            static_cast<int32_t>(values[i] / scales[scales.size() == 1 ? 0 : i]));
    const Dims one = scales.size() == 1 ? Dims{} : Dims{channels};
    const std::string whole = b.constant(core::kInt32, {channels}, values);
    const std::string real =
        b.apply("DequantizeLinear", {whole, b.constant(core::kFloat32, one, scales)},
                [&](tenon_onnx::NodeProto& node) {
                    if (!one.empty()) setInt(node, "axis", 0);
                });
    if (shape.size() == 1) return real;
    return b.apply("Reshape", {real, b.integers(shape)});
}

std::string normalized(QuantizedBuilder& b, const std::string& real)
{
    const int64_t channels = b.shape(real)[1];
    std::vector<std::string> operands{real};
    for (const auto& [low, high] : {std::pair(0.5, 2.0), {-0.5, 0.5}, {-0.5, 0.5}, {0.3, 3.0}}) {
        std::vector<double> values;
        for (int64_t i = 0; i < channels; ++i) values.push_back(b.between(low, high));
        operands.push_back(b.constant(core::kFloat32, {channels}, values));
    }
    return b.apply("BatchNormalization", operands);
}

void convolution(QuantizedBuilder& b)
{
    const std::string data = b.tensorOfRank(b.chance(90) ? 4 : 3);
    const std::string real = readReal(b, data);
    const Dims shape = b.shape(real);
    const Window window = randomWindow(b, shape);
    Dims weightShape{window.filters, shape[1] / window.groups};
    weightShape.insert(weightShape.end(), window.kernel.begin(), window.kernel.end());
    const auto weight = b.weight(weightShape, countOf(weightShape) / window.filters, 0);
    std::vector<std::string> operands{real, b.dequantized(weight, 0)};
    const bool isAdded = b.chance(15);
    Dims biasShape{window.filters};
    if (isAdded) biasShape.insert(biasShape.end(), window.kernel.size(), 1);
    const std::string bias = randomBias(b, window.filters, weight, b.grid(data), biasShape);
    if (!bias.empty() && !isAdded) operands.push_back(bias);
    std::string out =
        b.apply("Conv", operands, [&](tenon_onnx::NodeProto& node) { window.set(node); });
    if (!bias.empty() && isAdded) out = b.apply("Add", {out, bias});
    if (b.chance(12)) out = normalized(b, out);
    // Residual connections that are added before anything is rounded.
    if (const auto other = b.another(b.shape(out), data); other && b.chance(25))
        out = b.apply("Add", {out, b.dequantized(*other)});
    finishPiece(b, out);
}

/// Large enough for other algorithms than the direct one.
void largeConvolution(QuantizedBuilder& b)
{
    if (b.chance(70)) return convolution(b);
    const int64_t channels = b.oneOf<int64_t>({32, 64}), size = b.pick(12, 16);
    const std::string data = b.addInput({1, channels, size, size});
    const Dims weightShape{32, channels, 3, 3};
    const auto weight = b.weight(weightShape, channels * 9, 0);
    finishPiece(b, b.apply("Conv", {b.dequantized(data), b.dequantized(weight, 0)},
                           [](tenon_onnx::NodeProto& node) {
                               setInts(node, "pads", {1, 1, 1, 1});
                           }));
}

void transposedConvolution(QuantizedBuilder& b)
{
    const std::string data = b.tensorOfRank(4);
    const Dims shape = b.shape(data);
    const int64_t filters = b.pick(1, 8), kernel = b.pick(2, 3);
    const Dims weightShape{shape[1], filters, kernel, kernel};
    const auto weight = b.weight(weightShape, shape[1] * kernel, 1);
    finishPiece(b, b.apply("ConvTranspose", {b.dequantized(data), b.dequantized(weight, 1)},
                           [](tenon_onnx::NodeProto& node) {
                               setInts(node, "strides", {2, 2});
                           }));
}

void dense(QuantizedBuilder& b)
{
    const std::string data = b.tensorOfRank(b.chance(75) ? 2 : 3);
    const std::string real = b.dequantized(data);
    const int64_t depth = b.shape(data).back();
    const int64_t columns = b.oneOf<int64_t>({1, 3, 8, 10, 16, 32, 64});
    const bool isGemm = b.shape(data).size() == 2 && b.chance(50);
    const bool isTurned = isGemm && b.chance(60);
    const size_t axis = isTurned ? 0 : 1;
    const Dims weightShape = isTurned ? Dims{columns, depth} : Dims{depth, columns};
    const auto weight = b.weight(weightShape, depth, axis);
    const std::string bias = randomBias(b, columns, weight, b.grid(data), {columns});
    std::vector<std::string> operands{real, b.dequantized(weight, axis)};
    if (isGemm && !bias.empty()) operands.push_back(bias);
    std::string out =
        b.apply(isGemm ? "Gemm" : "MatMul", operands, [&](tenon_onnx::NodeProto& node) {
            if (isTurned) setInt(node, "transB", 1);
        });
    if (!isGemm && !bias.empty())
        out = b.chance(50) ? b.apply("Add", {out, bias}) : b.apply("Add", {bias, out});
    finishPiece(b, out);
}

/// Both operands depend on the input, as in attention.
void product(QuantizedBuilder& b)
{
    const std::string data = b.tensorOfRank(3);
    const std::string real = b.dequantized(data);
    const std::string turned =
        b.apply("Transpose", {b.dequantized(data)}, [](tenon_onnx::NodeProto& node) {
            setInts(node, "perm", {0, 2, 1});
        });
    std::string out = b.apply("MatMul", {real, turned});
    if (b.chance(50)) out = b.apply("Mul", {out, b.scalar(b.between(0.1, 0.5))});
    if (b.chance(50))
        out = b.apply("Softmax", {out},
                      [](tenon_onnx::NodeProto& node) { setInt(node, "axis", -1); });
    finishPiece(b, out);
}

using Layer = void (*)(QuantizedBuilder&);

} // namespace

void addLayer(QuantizedBuilder& builder)
{
    static constexpr Layer kLayers[] = {
        convolution, convolution, convolution, largeConvolution,
        dense,       dense,       product,     transposedConvolution};
    kLayers[builder.pick(0, std::size(kLayers) - 1)](builder);
}

void addQuantizedLayer(QuantizedBuilder& b)
{
    const bool isConv = b.chance(65);
    std::string data = b.tensorOfRank(isConv ? 4 : 2);
    if (b.grid(data).dtype.bits > 8) data = b.addInput(b.shape(data));
    const Grid& grid = b.grid(data);
    if (grid.dtype.bits > 8) return;
    const Dims shape = b.shape(data);
    const Window window = isConv ? randomWindow(b, shape) : Window{};
    const int64_t columns = b.pick(1, 20);
    Dims weightShape =
        isConv ? Dims{window.filters, shape[1] / window.groups, window.kernel[0], window.kernel[1]}
               : Dims{shape[1], columns};
    const int64_t fanIn = isConv ? countOf(weightShape) / window.filters : shape[1];
    const auto weight = b.weight(weightShape, fanIn, isConv ? 0 : 1);
    std::string bias;
    if (isConv && b.chance(60)) {
        std::vector<double> values;
        for (int64_t i = 0; i < window.filters; ++i)
            values.push_back(static_cast<double>(b.pick(-5000, 5000)));
        bias = b.constant(core::kInt32, {window.filters}, values);
    }
    b.quantizedLayer(
        isConv ? "QLinearConv" : "QLinearMatMul",
        {data, grid.scaleName, grid.zeroName, weight.integers, weight.scale, weight.zero},
        [&](tenon_onnx::NodeProto& node) {
            if (isConv) window.set(node);
        },
        bias);
}

} // namespace tenon::test
