// SPDX-License-Identifier: Apache-2.0
// Quantization: linear quantizers and the operators on quantized tensors.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/convert_narrow.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"
#include "compiler/frontend/onnx/file/element_types.h"
#include "compiler/ops/shape_attrs.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

std::optional<DataType> typeAttr(OnnxNode& node, std::string_view name)
{
    const int64_t code = node.integer(name, 0);
    if (code == 0) return std::nullopt;
    const auto dtype = dataTypeOf(static_cast<int32_t>(code));
    if (!dtype)
        node.fail(DiagnosticCode::UnsupportedDtype,
                  std::string(name) + " is the ONNX type " + std::to_string(code) +
                      ", which is not computed",
                  std::string(name));
    return dtype;
}

/// A tensor of one element as a scalar.
ValueRef asScalar(OnnxNode& node, ValueRef value)
{
    const Shape& shape = node.typeOf(value).shape;
    if (node.hasFailed() || shape.size() != 1) return value;
    return node.emit("reshape", {value}, {{"newshape", std::vector<int64_t>{}}});
}

bool isOne(const Shape& shape)
{
    return shape.empty() || (shape.size() == 1 && shape[0] == Dim(1));
}

/// The product of two scales over a third; `channelAxis` from the end is where [C] scales stand.
ValueRef ratioOf(OnnxNode& node, ValueRef a, ValueRef b, ValueRef out)
{
    return node.emit("divide", {node.emit("multiply", {a, b}), out});
}

ValueRef asFloat32(OnnxNode& node, ValueRef value)
{
    if (node.typeOf(value).dtype == kFloat32) return value;
    return node.emit("cast", {value}, {{"dtype", kFloat32}});
}

/// Input as [C, 1, 1] when it has one element per channel.
ValueRef perChannel(OnnxNode& node, ValueRef value)
{
    const Shape shape = node.typeOf(value).shape;
    if (node.hasFailed() || isOne(shape)) return asScalar(node, value);
    return node.emit("reshape", {value},
                     {{"newshape", std::vector<int64_t>{shape[0].value(), 1, 1}}});
}

struct ConvOperands
{
    size_t weight, dataZero, weightZero;
};

/// The 32-bit sums of a convolution of one or two spatial axes, still with the lifted axis.
ValueRef integerConv(OnnxNode& node, const ConvOperands& at)
{
    if (!hasSpatialAxis(node)) return {};
    if (node.rank(0) > 4) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "quantized convolutions of " + std::to_string(node.rank(0) - 2) +
                      " spatial axes are not supported; 1 and 2 are");
        return {};
    }
    const std::vector<int64_t> weight = node.shape(at.weight);
    if (node.hasFailed()) return {};
    if (weight.size() != static_cast<size_t>(node.rank(0))) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the weight has the shape " + shapeText(node.type(at.weight).shape) +
                      " but the input has " + shapeText(node.type(0).shape));
        return {};
    }
    KernelWindow window = readKernelWindow(node, {weight.begin() + 2, weight.end()});
    (void)node.integers("kernel_shape", {});
    const int64_t groups = node.integer("group", 1);
    ValueRef data = node.input(0), filters = node.input(at.weight);
    if (node.rank(0) == 3) {
        data = liftTo2d(node, data);
        filters = liftTo2d(node, filters);
        window.lift();
    }
    const auto zero = [&](size_t input) {
        return node.has(input) ? node.input(input) : ValueRef{};
    };
    return node.emit("qnn.conv2d", {data, filters, zero(at.dataZero), zero(at.weightZero)},
                     {{"strides", window.strides},
                      {"padding", window.padding()},
                      {"dilation", window.dilations},
                      {"groups", groups}});
}

/// int32 values minus their zero point, which stands along `axis` from the end when it is several.
ValueRef centred(OnnxNode& node, size_t input, size_t zeroInput, bool isRow)
{
    const auto wide = [&](ValueRef value) {
        return node.emit("cast", {value}, {{"dtype", kInt32}});
    };
    const ValueRef value = wide(node.input(input));
    if (!node.has(zeroInput)) return value;
    ValueRef zero = wide(node.input(zeroInput));
    const Shape shape = node.typeOf(zero).shape;
    if (shape.size() == 1 && !isOne(shape) && isRow)
        zero =
            node.emit("expand_dims", {zero}, {{"axis", int64_t{1}}, {"num_newaxis", int64_t{1}}});
    return node.emit("subtract", {value, isOne(shape) ? asScalar(node, zero) : zero});
}

ValueRef integerMatMul(OnnxNode& node, size_t b, size_t aZero, size_t bZero)
{
    const int64_t rankA = node.rank(0), rankB = node.rank(b);
    if (node.hasFailed()) return {};
    // Rows of more than one matrix have one zero point in common, or else are centred below.
    const bool areRows = rankA == 2 || (rankA > 2 && canBeRows(node.type(0).shape) &&
                                        (!node.has(aZero) || isOne(node.type(aZero).shape)));
    const bool isPlain = areRows && rankB == 2 && (!node.has(aZero) || node.rank(aZero) <= 1) &&
                         (!node.has(bZero) || node.rank(bZero) <= 1);
    const auto zero = [&](size_t input) {
        return node.has(input) ? node.input(input) : ValueRef{};
    };
    if (isPlain) {
        const ValueRef weight =
            node.emit("transpose", {node.input(b)}, {{"axes", std::vector<int64_t>{1, 0}}});
        if (rankA == 2)
            return node.emit("qnn.dense", {node.input(0), weight, zero(aZero), zero(bZero)});
        Shape shape = node.type(0).shape;
        const ValueRef rows = node.emit("reshape", {node.input(0)}, shapeAttrs(rowsOf(shape)));
        const ValueRef sums = node.emit("qnn.dense", {rows, weight, zero(aZero), zero(bZero)});
        shape.back() = node.type(b).shape[1];
        return node.emit("reshape", {sums}, shapeAttrs(shape));
    }
    if (rankA == 0 || rankB == 0) {
        node.fail(DiagnosticCode::ShapeMismatch, "a factor is a scalar; use Mul");
        return {};
    }
    const ValueRef left = centred(node, 0, aZero, true);
    return Formula(node).matmul(left, centred(node, b, bZero, false));
}

/// Zero point of the type that out should have; QLinear operators name it nowhere else.
DataType typeOfInput(OnnxNode& node, size_t input)
{
    return node.hasFailed() ? kInt8 : node.type(input).dtype;
}

} // namespace

namespace {

/// The scale of a small float shaped to broadcast along its axis.
ValueRef narrowScale(OnnxNode& node)
{
    Formula f(node);
    const ValueRef scale = node.input(1);
    const Shape& shape = node.typeOf(scale).shape;
    if (node.hasFailed() || isOne(shape)) return asScalar(node, scale);
    const int64_t axis = node.axisOf(node.integer("axis", 1), node.rank(0));
    if (shape.size() != 1 || node.integer("block_size", 0) != 0) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "scales per block are not supported for 8-bit floats", "block_size");
        return {};
    }
    return axis + 1 < node.rank(0) ? f.expand(scale, 1, node.rank(0) - axis - 1) : scale;
}

void quantizeToFloat(OnnxNode& node, const NarrowType& type)
{
    Formula f(node);
    // The zero point of floats is 0; adding it makes 0 of -0.
    const ValueRef quotient = f.divide(node.input(0), narrowScale(node));
    const ValueRef scaled = f.add(quotient, f.number(0, quotient));
    node.has(2);
    node.markResultsNarrow(&type);
    node.output(0, encodedNarrow(node, scaled, type));
}

void dequantizeFromFloat(OnnxNode& node, const NarrowType& type)
{
    Formula f(node);
    const ValueRef scale = narrowScale(node);
    const DataType dtype = f.dtype(scale);
    ValueRef value = decodedNarrow(node, node.input(0), type, dtype);
    if (node.has(2))
        value = f.subtract(value, decodedNarrow(node, asScalar(node, node.input(2)), type, dtype));
    node.output(0, f.multiply(value, scale));
}

} // namespace

void convertQuantizeLinear(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const int64_t block = node.integer("block_size", 0);
    int64_t axis = node.integer("axis", 1);
    const auto asked = static_cast<int32_t>(node.integer("output_dtype", 0));
    const NarrowType* narrow = node.has(2) ? node.narrowType(2) : narrowTypeOf(asked);
    if (narrow && narrow->isFloat()) {
        quantizeToFloat(node, *narrow);
        return;
    }
    std::optional<DataType> out = narrow ? narrow->held : typeAttr(node, "output_dtype");
    (void)node.integer("saturate", 1);
    (void)node.integer("precision", 0);
    if (node.hasFailed()) return;
    if (node.has(2)) out = node.type(2).dtype;
    const ValueRef data = node.input(0);
    const ValueRef scale = node.input(1);
    if (!isOne(node.typeOf(scale).shape)) axis = node.axisOf(axis, rank);
    if (node.hasFailed()) return;
    ValueRef result = node.emit("qnn.quantize", {data, scale, node.optionalInput(2)},
                                {{"axis", isOne(node.typeOf(scale).shape) ? int64_t{0} : axis},
                                 {"block_size", block},
                                 {"out_dtype", out.value_or(kUInt8)}});
    if (narrow) { // held in 8 bits, limited to fewer
        const double low = narrow->held == kInt8 ? -(1 << (narrow->bits - 1)) : 0;
        result = Formula(node).clip(result, low, low + (1 << narrow->bits) - 1);
        node.markResultsNarrow(narrow);
    }
    node.output(0, result);
}

void convertDequantizeLinear(OnnxNode& node)
{
    const NarrowType* narrow = node.narrowType(0);
    if (narrow && narrow->isFloat()) {
        dequantizeFromFloat(node, *narrow);
        return;
    }
    const int64_t rank = node.rank(0);
    const int64_t block = node.integer("block_size", 0);
    int64_t axis = node.integer("axis", 1);
    const std::optional<DataType> out = typeAttr(node, "output_dtype");
    if (node.hasFailed()) return;
    const ValueRef data = node.input(0);
    const ValueRef scale = node.input(1);
    if (!isOne(node.typeOf(scale).shape)) axis = node.axisOf(axis, rank);
    if (node.hasFailed()) return;
    node.output(0, node.emit("qnn.dequantize", {data, scale, node.optionalInput(2)},
                             {{"axis", isOne(node.typeOf(scale).shape) ? int64_t{0} : axis},
                              {"block_size", block},
                              {"out_dtype", out.value_or(node.typeOf(scale).dtype)}}));
}

void convertDynamicQuantizeLinear(OnnxNode& node)
{
    const ValueRef x = node.input(0);
    if (node.hasFailed()) return;
    const ValueRef zero = node.scalar(0, kFloat32);
    const auto extreme = [&](const char* reduce, const char* with) {
        return node.emit(with, {node.emit(reduce, {x}), zero});
    };
    const ValueRef low = extreme("min", "minimum");
    const ValueRef range = node.emit("subtract", {extreme("max", "maximum"), low});
    // A tensor of zeros has no range; any scale serves it.
    const ValueRef scale =
        node.emit("where", {node.emit("equal", {range, zero}), node.scalar(1, kFloat32),
                            node.emit("divide", {range, node.scalar(255, kFloat32)})});
    const ValueRef lift = node.emit("divide", {node.emit("negative", {low}), scale});
    const ValueRef point = node.emit(
        "cast",
        {node.emit("clip", {node.emit("round", {lift})}, {{"a_min", 0.0}, {"a_max", 255.0}})},
        {{"dtype", kUInt8}});
    node.output(0, node.emit("qnn.quantize", {x, scale, point}, {{"out_dtype", kUInt8}}));
    node.output(1, scale);
    node.output(2, point);
}

void convertConvInteger(OnnxNode& node)
{
    ValueRef out = integerConv(node, {.weight = 1, .dataZero = 2, .weightZero = 3});
    if (!node.hasFailed() && node.rank(0) == 3) out = dropFrom2d(node, out);
    node.output(0, out);
}

void convertMatMulInteger(OnnxNode& node) { node.output(0, integerMatMul(node, 1, 2, 3)); }

void convertQLinearConv(OnnxNode& node)
{
    ValueRef sums = integerConv(node, {.weight = 3, .dataZero = 2, .weightZero = 5});
    if (node.has(8)) sums = node.emit("nn.bias_add", {sums, node.input(8)}, {{"axis", int64_t{1}}});
    const ValueRef scale = ratioOf(node, asScalar(node, node.input(1)),
                                   perChannel(node, node.input(4)), asScalar(node, node.input(6)));
    ValueRef out = node.emit("qnn.requantize", {sums, scale, asScalar(node, node.input(7))},
                             {{"out_dtype", typeOfInput(node, 7)}});
    if (!node.hasFailed() && node.rank(0) == 3) out = dropFrom2d(node, out);
    node.output(0, out);
}

void convertQLinearMatMul(OnnxNode& node)
{
    const ValueRef sums = integerMatMul(node, 3, 2, 5);
    const auto scaleOf = [&](size_t input, bool isRow) {
        ValueRef scale = node.input(input);
        const Shape shape = node.typeOf(scale).shape;
        if (isOne(shape)) return asScalar(node, scale);
        if (isRow && shape.size() == 1)
            scale = node.emit("expand_dims", {scale},
                              {{"axis", int64_t{1}}, {"num_newaxis", int64_t{1}}});
        return scale;
    };
    const ValueRef scale = ratioOf(node, scaleOf(1, true), scaleOf(4, false), scaleOf(6, true));
    node.output(0, node.emit("qnn.requantize",
                             {sums, asFloat32(node, scale), asScalar(node, node.input(7))},
                             {{"out_dtype", typeOfInput(node, 7)}}));
}

} // namespace tenon::compiler
