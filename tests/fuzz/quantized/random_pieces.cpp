// SPDX-License-Identifier: Apache-2.0
// What stands between quantized tensors besides layers: sums, joins, pools, functions, movements.
#include "tests/fuzz/quantized/quantized_builder.h"

#include <algorithm>

namespace tenon::test {

using tenon_onnx::NodeProto;

namespace {

using Piece = void (*)(QuantizedBuilder&);

std::string clipped(QuantizedBuilder& b, const std::string& real, double low, double high)
{
    return b.apply("Clip", {real, b.scalar(low), b.scalar(high)});
}

std::string activated(QuantizedBuilder& b, const std::string& real)
{
    switch (b.pick(0, 9)) {
    case 0:
    case 1:
    case 2: return b.apply("Relu", {real});
    case 3: return clipped(b, real, 0, 6);
    case 4: return clipped(b, real, b.between(-1.5, 0), b.between(0.1, 2));
    case 5:
        return b.apply("LeakyRelu", {real},
                       [&](NodeProto& node) { setFloat(node, "alpha", b.between(0.01, 0.4)); });
    case 6: return b.apply(b.opset() >= 14 ? "HardSwish" : "HardSigmoid", {real});
    case 7: return b.apply("Sigmoid", {real});
    case 8: return b.apply("Tanh", {real});
    default: return b.apply("Mul", {real, b.apply("Sigmoid", {real})}); // SiLU
    }
}

std::string maxPooled(QuantizedBuilder& b, const std::string& real)
{
    const Dims shape = b.shape(real);
    const Dims kernel{std::min<int64_t>(shape[2], b.pick(2, 3)),
                      std::min<int64_t>(shape[3], b.pick(2, 3))};
    const bool isPadded = b.chance(30) && kernel[0] > 1 && kernel[1] > 1;
    const int64_t stride = b.pick(1, 2);
    return b.apply("MaxPool", {real}, [&](NodeProto& node) {
        setInts(node, "kernel_shape", kernel);
        setInts(node, "strides", {stride, stride});
        if (isPadded) setInts(node, "pads", {1, 1, 1, 1});
    });
}

std::string transposed(QuantizedBuilder& b, const std::string& real)
{
    Dims order;
    for (size_t i = 0; i < b.shape(real).size(); ++i) order.push_back(static_cast<int64_t>(i));
    std::swap(order[1], order[order.size() - 1]);
    return b.apply("Transpose", {real}, [&](NodeProto& node) { setInts(node, "perm", order); });
}

std::string padded(QuantizedBuilder& b, const std::string& real)
{
    Dims pads(2 * b.shape(real).size(), 0);
    pads[pads.size() / 2 - 1] = b.pick(0, 1);
    pads[pads.size() - 1] = b.pick(0, 2);
    const bool isReflected = b.shape(real).back() > 2 && b.chance(30);
    std::vector<std::string> operands{real, b.integers(pads)};
    if (!isReflected) operands.push_back(b.scalar(b.chance(70) ? 0 : b.between(-1, 1)));
    return b.apply("Pad", operands, [&](NodeProto& node) {
        setText(node, "mode", isReflected ? "reflect" : "constant");
    });
}

std::string sliced(QuantizedBuilder& b, const std::string& real)
{
    const Dims shape = b.shape(real);
    const int64_t axis = b.pick(1, static_cast<int64_t>(shape.size()) - 1);
    const int64_t size = shape[static_cast<size_t>(axis)];
    const int64_t start = b.pick(0, size - 1);
    return b.apply("Slice", {real, b.integers({start}), b.integers({b.pick(start + 1, size)}),
                             b.integers({axis}), b.integers({b.pick(1, 2)})});
}

std::string reshaped(QuantizedBuilder& b, const std::string& real)
{
    const Dims shape = b.shape(real);
    Dims to{shape[0], -1};
    if (shape.size() == 2 || b.chance(50)) to = {shape[0], shape[1], -1};
    return b.apply("Reshape", {real, b.integers(to)});
}

std::string moved(QuantizedBuilder& b, const std::string& real)
{
    const bool isImage = b.shape(real).size() == 4;
    switch (b.pick(0, 5)) {
    case 0: return isImage ? maxPooled(b, real) : sliced(b, real);
    case 1: return transposed(b, real);
    case 2: return padded(b, real);
    case 3: return sliced(b, real);
    case 4: return reshaped(b, real);
    default: return b.apply("Relu", {real});
    }
}

void binary(QuantizedBuilder& b)
{
    const std::string left = b.tensorOfRank(static_cast<size_t>(b.pick(2, 4)));
    const Dims shape = b.shape(left);
    std::string right;
    if (const auto other = b.another(shape, left); other && b.chance(70))
        right = *other;
    else if (Dims narrow = shape; b.chance(40)) {
        for (size_t i = 2; i < narrow.size(); ++i) narrow[i] = 1;
        narrow[0] = 1;
        right = b.addInput(narrow);
    } else {
        right = b.addInput(shape);
    }
    const std::string op = b.oneOf<std::string>({"Add", "Add", "Add", "Sub", "Mul", "Max"});
    finishPiece(b, b.apply(op, {b.dequantized(left), b.dequantized(right)}));
}

void withConstant(QuantizedBuilder& b)
{
    const std::string real = b.dequantized(b.tensorOfRank(4));
    std::vector<double> values;
    const int64_t channels = b.chance(50) ? 1 : b.shape(real)[1];
    for (int64_t i = 0; i < channels; ++i) values.push_back(b.between(-1, 1));
    const std::string constant = b.constant(core::kFloat32, {channels, 1, 1}, values);
    finishPiece(
        b, b.apply(b.oneOf<std::string>({"Add", "Mul", "Sub", "Max", "Min"}), {real, constant}));
}

void quotient(QuantizedBuilder& b)
{
    const std::string real = b.dequantized(b.tensorOfRank(static_cast<size_t>(b.pick(2, 4))));
    finishPiece(b, b.apply("Div", {real, b.scalar(b.between(0.3, 3))}));
}

void layerNorm(QuantizedBuilder& b)
{
    const std::string real = b.dequantized(b.tensorOfRank(3));
    if (b.opset() < 17) return finishPiece(b, real);
    const int64_t width = b.shape(real).back();
    std::vector<double> scale, bias;
    for (int64_t i = 0; i < width; ++i) {
        scale.push_back(b.between(0.5, 2));
        bias.push_back(b.between(-0.5, 0.5));
    }
    finishPiece(b, b.apply("LayerNormalization",
                           {real, b.constant(core::kFloat32, {width}, scale),
                            b.constant(core::kFloat32, {width}, bias)},
                           [](NodeProto& node) { setFloat(node, "epsilon", 1e-3); }));
}

void concatenation(QuantizedBuilder& b)
{
    const std::string first = b.tensorOfRank(b.chance(75) ? 4 : 2);
    std::vector<std::string> parts{b.dequantized(first)};
    for (int64_t count = b.pick(1, 3); count > 0; --count) {
        const auto other = b.another(b.shape(first), first);
        Dims shape = b.shape(first);
        if (!other) shape[1] = b.pick(1, 8);
        parts.push_back(b.dequantized(other && b.chance(70) ? *other : b.addInput(shape)));
    }
    const std::string out =
        b.apply("Concat", parts, [](NodeProto& node) { setInt(node, "axis", 1); });
    // Exporters like to give the parts' scale to the whole.
    if (b.chance(30))
        b.quantized(out, &b.grid(first));
    else
        finishPiece(b, out);
}

void meanPool(QuantizedBuilder& b)
{
    const std::string real = readReal(b, b.tensorOfRank(4));
    const Dims shape = b.shape(real);
    if (shape.size() == 4 && b.chance(40)) {
        finishPiece(b, b.apply("GlobalAveragePool", {real}));
        return;
    }
    if (shape.size() != 4 || b.chance(35)) {
        const auto last = static_cast<int64_t>(shape.size()) - 1;
        const Dims axes = shape.size() == 4 ? Dims{2, 3} : Dims{b.pick(1, last)};
        std::vector<std::string> operands{real};
        if (b.opset() >= 18) operands.push_back(b.integers(axes));
        const int64_t keeps = b.pick(0, 1);
        finishPiece(b, b.apply("ReduceMean", operands, [&](NodeProto& node) {
            if (b.opset() < 18) setInts(node, "axes", axes);
            setInt(node, "keepdims", keeps);
        }));
        return;
    }
    const Dims kernel{std::min<int64_t>(shape[2], b.pick(1, 4)),
                      std::min<int64_t>(shape[3], b.pick(1, 4))};
    const bool isPadded = kernel[0] > 1 && kernel[1] > 1 && b.chance(40);
    const int64_t stride = b.pick(1, 2), counts = b.pick(0, 1);
    finishPiece(b, b.apply("AveragePool", {real}, [&](NodeProto& node) {
        setInts(node, "kernel_shape", kernel);
        setInts(node, "strides", {stride, stride});
        if (isPadded) setInts(node, "pads", {1, 1, 1, 1});
        setInt(node, "count_include_pad", counts);
    }));
}

void resize(QuantizedBuilder& b)
{
    const std::string real = b.dequantized(b.tensorOfRank(4));
    const bool isNearest = b.chance(65);
    const auto factor = static_cast<double>(b.pick(1, 3));
    const std::string scales = b.constant(core::kFloat32, {4}, {1, 1, factor, 2});
    finishPiece(b, b.apply("Resize", {real, "", scales}, [&](NodeProto& node) {
        setText(node, "mode", isNearest ? "nearest" : "linear");
        setText(node, "coordinate_transformation_mode", isNearest ? "asymmetric" : "half_pixel");
        if (isNearest) setText(node, "nearest_mode", "floor");
    }));
}

/// One or two functions in front of a quantization.
void function(QuantizedBuilder& b)
{
    std::string real = b.dequantized(b.tensorOfRank(static_cast<size_t>(b.pick(2, 4))));
    if (b.chance(15)) {
        real = b.apply("Softmax", {real}, [](NodeProto& node) { setInt(node, "axis", -1); });
    } else if (b.chance(15)) { // GELU
        const std::string half = b.apply("Mul", {real, b.scalar(0.5)});
        const std::string erf = b.apply("Erf", {b.apply("Mul", {real, b.scalar(0.70710678)})});
        real = b.apply("Mul", {half, b.apply("Add", {erf, b.scalar(1)})});
    } else {
        real = activated(b, real);
    }
    finishPiece(b, real);
}

/// Nothing but scales changes, or values move.
void movement(QuantizedBuilder& b)
{
    const std::string from = b.tensorOfRank(static_cast<size_t>(b.pick(2, 4)));
    std::string real = b.dequantized(from);
    for (int64_t count = b.pick(0, 2); count > 0; --count) real = moved(b, real);
    if (b.chance(45))
        b.quantized(real, &b.grid(from));
    else
        finishPiece(b, real);
}

void maxPool(QuantizedBuilder& b)
{
    const std::string from = b.tensorOfRank(4);
    const std::string real = b.dequantized(from);
    b.quantized(b.chance(25) ? b.apply("GlobalMaxPool", {real}) : maxPooled(b, real),
                b.chance(60) ? &b.grid(from) : nullptr);
}

void flattened(QuantizedBuilder& b)
{
    const std::string from = b.tensorOfRank(4);
    b.quantized(b.apply("Flatten", {b.dequantized(from)}), &b.grid(from));
}

} // namespace

std::string readReal(QuantizedBuilder& b, const std::string& quantized)
{
    const std::string real = b.dequantized(quantized);
    if (!b.chance(12) || b.shape(real).size() != 4) return real;
    switch (b.pick(0, 3)) {
    case 0: return b.apply("Relu", {real});
    case 1: return padded(b, real);
    case 2: return transposed(b, real);
    default: return maxPooled(b, real);
    }
}

void finishPiece(QuantizedBuilder& b, const std::string& real)
{
    std::string out = real;
    if (b.chance(45)) out = activated(b, out);
    if (b.chance(8)) out = activated(b, out);
    if (b.chance(10)) out = moved(b, out);
    b.quantized(out);
}

void addRandomPiece(QuantizedBuilder& builder)
{
    static constexpr Piece kPieces[] = {
        addLayer, addLayer, addLayer,      addLayer,     addLayer, addLayer,  binary,
        binary,   function, concatenation, meanPool,     meanPool, resize,    movement,
        movement, maxPool,  flattened,     withConstant, quotient, layerNorm, addQuantizedLayer};
    kPieces[builder.pick(0, std::size(kPieces) - 1)](builder);
}

QuantizedGraph makeQuantizedGraph(uint64_t seed)
{
    QuantizedBuilder builder(seed);
    builder.tensorOfRank(4);
    for (int64_t count = builder.pick(2, 12); count > 0; --count) addRandomPiece(builder);
    return builder.finish();
}

} // namespace tenon::test
