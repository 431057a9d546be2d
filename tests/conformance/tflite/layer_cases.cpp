// SPDX-License-Identifier: Apache-2.0
// Convolutions, dense layers and products of matrices.
#include "tests/conformance/tflite/case_builder.h"

#include <cmath>

namespace tenon::test {
namespace {

/// Data and weights of a layer.
struct LayerKind
{
    const char* name;
    Numbers data;
    TfliteType weight;
    bool isPerAxis;
};

const LayerKind kLayers[] = {{"float32", kFloats, TfliteType::Float32, false},
                             {"int8", kBytes, TfliteType::Int8, true},
                             {"int8, one scale", kBytes, TfliteType::Int8, false},
                             {"uint8", kUnsigned, TfliteType::UInt8, false},
                             {"int16x8", kWide, TfliteType::Int8, true},
                             {"hybrid", kFloats, TfliteType::Int8, true}};

/// A result that most sums of `taps` products fit in, and some do not.
Numbers sumsOf(const Numbers& data, int64_t taps)
{
    if (data.isFloat()) return data;
    const double most = 2.2 * std::sqrt(static_cast<double>(taps)) + 1;
    return data.within(-most, 0.8 * most);
}

struct Conv
{
    Shape32 data, kernel, out; ///< kernel as in the file
    int32_t strideH = 1, strideW = 1, dilationH = 1, dilationW = 1;
    int8_t padding = 0;
    Activation activation = kNoActivation;
    bool hasBias = true;
};

std::string textOf(const Conv& k)
{
    std::string text = shapeText(k.data) + " by " + shapeText(k.kernel);
    text += k.padding ? " VALID" : " SAME";
    if (k.strideH * k.strideW > 1)
        text += " strides " + std::to_string(k.strideH) + "x" + std::to_string(k.strideW);
    if (k.dilationH * k.dilationW > 1)
        text += " dilations " + std::to_string(k.dilationH) + "x" + std::to_string(k.dilationW);
    return text + k.activation.name + (k.hasBias ? "" : " without bias");
}

const Conv kConvs[] = {
    {{1, 7, 9, 3}, {5, 3, 3, 3}, {1, 7, 9, 5}},
    {{1, 8, 7, 4}, {8, 1, 1, 4}, {1, 8, 7, 8}, 1, 1, 1, 1, 1, kRelu},
    {{2, 9, 8, 3}, {6, 3, 3, 3}, {2, 5, 4, 6}, 2, 2, 1, 1, 0, kRelu6},
    {{1, 9, 9, 5}, {4, 3, 2, 5}, {1, 5, 7, 4}, 1, 1, 2, 2, 1},
    {{1, 10, 10, 8}, {16, 3, 3, 8}, {1, 10, 10, 16}, 1, 1, 2, 2, 0, kNoActivation, false},
    {{1, 11, 6, 1}, {3, 10, 4, 1}, {1, 6, 3, 3}, 2, 2, 1, 1, 0, kRelu},
    {{1, 5, 5, 2}, {3, 5, 5, 2}, {1, 1, 1, 3}, 1, 1, 1, 1, 1, kReluN1},
    {{1, 6, 6, 32}, {33, 3, 3, 32}, {1, 3, 6, 33}, 2, 1, 1, 1, 0}};

/// Groups: the kernel's depth divides the data's.
const Conv kGroupedConvs[] = {{{1, 6, 6, 8}, {12, 3, 3, 4}, {1, 6, 6, 12}},
                              {{1, 6, 6, 8}, {8, 1, 1, 2}, {1, 3, 3, 8}, 2, 2, 1, 1, 1, kRelu}};

const Conv kDepthwise[] = {
    {{1, 7, 9, 3}, {1, 3, 3, 3}, {1, 7, 9, 3}},
    {{1, 8, 8, 5}, {1, 3, 3, 5}, {1, 4, 4, 5}, 2, 2, 1, 1, 0, kRelu6},
    {{2, 7, 6, 4}, {1, 3, 3, 8}, {2, 5, 4, 8}, 1, 1, 1, 1, 1, kRelu},
    {{1, 9, 9, 8}, {1, 3, 3, 8}, {1, 9, 9, 8}, 1, 1, 2, 2, 0, kNoActivation, false},
    {{1, 12, 5, 1}, {1, 10, 4, 8}, {1, 6, 3, 8}, 2, 2, 1, 1, 0, kRelu},
    {{1, 5, 5, 16}, {1, 5, 5, 16}, {1, 1, 1, 16}, 1, 1, 1, 1, 1},
    {{1, 6, 6, 3}, {1, 2, 2, 9}, {1, 3, 3, 9}, 2, 2, 1, 1, 0, kReluN1}};

FlatOut convOptions(const Conv& k, bool isDepthwise)
{
    FlatOut out;
    out.number(0, k.padding).number(1, k.strideW).number(2, k.strideH);
    int field = 3;
    if (isDepthwise) out.number(field++, k.kernel[3] / k.data[3]);
    return out.number(field, k.activation.code)
        .number(field + 1, k.dilationW)
        .number(field + 2, k.dilationH);
}

void addConv(TfliteCases& all, const LayerKind& kind, const Conv& k, bool isDepthwise)
{
    CaseBuilder c(all, isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", kind.name, textOf(k));
    const int32_t channels = k.kernel[isDepthwise ? 3 : 0];
    const int64_t taps = countOf(k.kernel) / channels;
    const int x = c.input(kind.data, k.data);
    const int w = c.weight(kind.weight, k.kernel, kind.isPerAxis ? (isDepthwise ? 3 : 0) : -1);
    Shape32 inputs{x, w};
    if (k.hasBias) inputs.push_back(c.bias(kind.data, w, channels));
    c.op(inputs, {c.output(sumsOf(kind.data, taps), k.out)}, convOptions(k, isDepthwise));
}

struct Dense
{
    Shape32 data;
    int32_t units;
    bool keepsDims = false;
    Activation activation = kNoActivation;
    bool hasBias = true;
};

const Dense kDense[] = {{{1, 12}, 5},
                        {{4, 33}, 17, false, kRelu},
                        {{3, 2, 8}, 6, true, kRelu6},
                        {{2, 2, 2, 16}, 3, false, kNoActivation, false},
                        {{1, 100}, 64, false, kReluN1}};

void addDense(TfliteCases& all, const LayerKind& kind, const Dense& k)
{
    const int32_t depth =
        k.keepsDims ? k.data.back() : static_cast<int32_t>(countOf(k.data) / k.data[0]);
    Shape32 out{k.data[0], k.units};
    if (k.keepsDims) {
        out = k.data;
        out.back() = k.units;
    }
    CaseBuilder c(all, "FULLY_CONNECTED", kind.name,
                  shapeText(k.data) + " to " + shapeText(out) + k.activation.name +
                      (k.hasBias ? "" : " without bias"));
    const int x = c.input(kind.data, k.data);
    // The reference takes one scale where floats meet bytes.
    const bool isPerAxis = kind.isPerAxis && !kind.data.isFloat();
    const int w = c.weight(kind.weight, {k.units, depth}, isPerAxis ? 0 : -1);
    const int b = k.hasBias ? c.bias(kind.data, w, k.units) : -1;
    c.op({x, w, b}, {c.output(sumsOf(kind.data, depth), out)},
         FlatOut().number(0, k.activation.code).number(2, static_cast<uint8_t>(k.keepsDims)));
}

struct Transposed
{
    Shape32 data, kernel, out;
    int32_t strideH, strideW;
    int8_t padding;
    bool hasBias = true;
};

const Transposed kTransposed[] = {{{1, 4, 5, 3}, {4, 3, 3, 3}, {1, 8, 10, 4}, 2, 2, 0},
                                  {{1, 4, 5, 3}, {4, 3, 3, 3}, {1, 9, 11, 4}, 2, 2, 1},
                                  {{2, 3, 3, 8}, {5, 2, 2, 8}, {2, 6, 6, 5}, 2, 2, 0, false},
                                  {{1, 6, 6, 2}, {2, 5, 5, 2}, {1, 6, 6, 2}, 1, 1, 0},
                                  {{1, 1, 7, 4}, {6, 1, 4, 4}, {1, 1, 14, 6}, 1, 2, 0}};

void addTransposed(TfliteCases& all, const LayerKind& kind, const Transposed& k)
{
    CaseBuilder c(all, "TRANSPOSE_CONV", kind.name,
                  shapeText(k.data) + " by " + shapeText(k.kernel) + " to " + shapeText(k.out) +
                      (k.hasBias ? "" : " without bias"));
    const int shape = c.integers(k.out);
    const int w = c.weight(kind.weight, k.kernel, kind.isPerAxis ? 0 : -1);
    const int x = c.input(kind.data, k.data);
    Shape32 inputs{shape, w, x};
    if (k.hasBias) inputs.push_back(c.bias(kind.data, w, k.kernel[0]));
    const int64_t taps = countOf(k.kernel) / k.kernel[0] / (k.strideH * k.strideW);
    c.op(inputs, {c.output(sumsOf(kind.data, taps), k.out)},
         FlatOut().number(0, k.padding).number(1, k.strideW).number(2, k.strideH));
}

struct Product
{
    Shape32 a, b, out;
    uint8_t isATransposed = 0, isBTransposed = 0;
};

const Product kProducts[] = {{{3, 5}, {5, 4}, {3, 4}},
                             {{2, 3, 5}, {2, 5, 4}, {2, 3, 4}},
                             {{2, 5, 3}, {2, 5, 4}, {2, 3, 4}, 1, 0},
                             {{2, 3, 5}, {2, 4, 5}, {2, 3, 4}, 0, 1},
                             {{2, 1, 3, 8}, {1, 4, 8, 5}, {2, 4, 3, 5}}};

void addProducts(TfliteCases& all, const Numbers& kind, bool isConstant)
{
    for (const Product& p : kProducts) {
        CaseBuilder c(all, "BATCH_MATMUL", kind.name,
                      shapeText(p.a) + " by " + shapeText(p.b) +
                          (p.isATransposed ? " first transposed" : "") +
                          (p.isBTransposed ? " second transposed" : "") +
                          (isConstant ? " constant" : ""));
        const Numbers other =
            kind.isQuantized && kind.type != TfliteType::Int16 ? kind.within(-1.5, 1) : kind;
        const int a = c.input(kind, p.a),
                  b = isConstant ? c.constant(other, p.b) : c.input(other, p.b);
        c.op({a, b}, {c.output(kind.isQuantized ? kind.within(-18, 16) : kind, p.out)},
             FlatOut().number(0, p.isATransposed).number(1, p.isBTransposed));
    }
}

void addConv3d(TfliteCases& all, int8_t padding, const Activation& activation)
{
    const Shape32 out = padding ? Shape32{1, 3, 4, 5, 6} : Shape32{1, 4, 5, 6, 6};
    CaseBuilder c(all, "CONV_3D", "float32",
                  std::string(padding ? "VALID" : "SAME") + activation.name);
    const int x = c.input(kFloats, {1, 4, 5, 6, 3}), w = c.constant(kFloats, {2, 2, 2, 3, 6});
    const int b = c.constant(kFloats, {6});
    c.op({x, w, b}, {c.output(kFloats, out)},
         FlatOut()
             .number(0, padding)
             .number(1, 1)
             .number(2, 1)
             .number(3, 1)
             .number(4, activation.code));
}

} // namespace

void addLayerCases(TfliteCases& all)
{
    for (const LayerKind& kind : kLayers) {
        for (const Conv& k : kConvs) addConv(all, kind, k, false);
        for (const Conv& k : kDepthwise) addConv(all, kind, k, true);
        for (const Dense& k : kDense) addDense(all, kind, k);
        for (const Transposed& k : kTransposed) addTransposed(all, kind, k);
    }
    for (const LayerKind& kind : {kLayers[0], kLayers[1]})
        for (const Conv& k : kGroupedConvs) addConv(all, kind, k, false);
    for (const Numbers& kind : {kFloats, kBytes, kWide})
        for (const bool isConstant : {false, true}) addProducts(all, kind, isConstant);
    addConv3d(all, 0, kNoActivation);
    addConv3d(all, 1, kRelu);
}

} // namespace tenon::test
