// SPDX-License-Identifier: Apache-2.0
// The table of operators, and what several of them share.
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

/// The schema's fused activations.
enum FusedActivation : int
{
    kNone = 0,
    kRelu = 1,
    kReluOne = 2,
    kRelu6 = 3,
    kTanh = 4
};

} // namespace

TfliteOperators::Handler TfliteOperators::handlerOf(const TfliteOperator& op)
{
    using Self = TfliteOperators;
    struct Row
    {
        std::string_view name;
        Handler handler;
    };
    static constexpr Row kRows[] = {{"ABS", &Self::unary},
                                    {"ADD", &Self::binary},
                                    {"ADD_N", &Self::sumOfAll},
                                    {"ARG_MAX", &Self::argument},
                                    {"ARG_MIN", &Self::argument},
                                    {"AVERAGE_POOL_2D", &Self::pool},
                                    {"BATCH_MATMUL", &Self::multiplyMatrices},
                                    {"CAST", &Self::castTo},
                                    {"CEIL", &Self::unary},
                                    {"CONCATENATION", &Self::concatenate},
                                    {"CONV_2D", &Self::convolve},
                                    {"COS", &Self::unary},
                                    {"Convolution2DTransposeBias", &Self::convolveTransposedBias},
                                    {"DENSIFY", &Self::spread},
                                    {"DEPTHWISE_CONV_2D", &Self::convolveDepthwise},
                                    {"DEPTH_TO_SPACE", &Self::blocksToSpace},
                                    {"DEQUANTIZE", &Self::spread},
                                    {"DIV", &Self::binary},
                                    {"ELU", &Self::unary},
                                    {"EMBEDDING_LOOKUP", &Self::lookUp},
                                    {"EXP", &Self::unary},
                                    {"EXPAND_DIMS", &Self::reshape},
                                    {"FLOOR", &Self::unary},
                                    {"FULLY_CONNECTED", &Self::connect},
                                    {"GATHER", &Self::look},
                                    {"GELU", &Self::gelu},
                                    {"HARD_SWISH", &Self::hardSwish},
                                    {"L2_NORMALIZATION", &Self::normalize},
                                    {"LEAKY_RELU", &Self::unary},
                                    {"LOG", &Self::unary},
                                    {"LOGISTIC", &Self::unary},
                                    {"LOG_SOFTMAX", &Self::softmax},
                                    {"MAXIMUM", &Self::binary},
                                    {"MAX_POOL_2D", &Self::pool},
                                    {"MEAN", &Self::reduce},
                                    {"MINIMUM", &Self::binary},
                                    {"MIRROR_PAD", &Self::pad},
                                    {"MUL", &Self::binary},
                                    {"NEG", &Self::unary},
                                    {"PACK", &Self::stack},
                                    {"PAD", &Self::pad},
                                    {"PADV2", &Self::pad},
                                    {"POW", &Self::binary},
                                    {"PRELU", &Self::parametricRelu},
                                    {"REDUCE_MAX", &Self::reduce},
                                    {"REDUCE_MIN", &Self::reduce},
                                    {"REDUCE_PROD", &Self::reduce},
                                    {"RELU", &Self::unary},
                                    {"RELU6", &Self::limit},
                                    {"RELU_0_TO_1", &Self::limit},
                                    {"RELU_N1_TO_1", &Self::limit},
                                    {"RESHAPE", &Self::reshape},
                                    {"RESIZE_BILINEAR", &Self::resizeBilinear},
                                    {"RESIZE_NEAREST_NEIGHBOR", &Self::resizeNearest},
                                    {"ROUND", &Self::unary},
                                    {"RSQRT", &Self::unary},
                                    {"SIGN", &Self::unary},
                                    {"SIN", &Self::unary},
                                    {"SLICE", &Self::cut},
                                    {"SOFTMAX", &Self::softmax},
                                    {"SPACE_TO_DEPTH", &Self::blocksToSpace},
                                    {"SPLIT", &Self::split},
                                    {"SPLIT_V", &Self::splitBySizes},
                                    {"SQRT", &Self::unary},
                                    {"SQUARE", &Self::square},
                                    {"SQUARED_DIFFERENCE", &Self::binary},
                                    {"SQUEEZE", &Self::reshape},
                                    {"STRIDED_SLICE", &Self::cutByMasks},
                                    {"SUB", &Self::binary},
                                    {"SUM", &Self::reduce},
                                    {"TANH", &Self::unary},
                                    {"TILE", &Self::repeat},
                                    {"TRANSPOSE", &Self::transpose},
                                    {"TRANSPOSE_CONV", &Self::convolveTransposed},
                                    {"UNPACK", &Self::unstack}};
    const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                    [&](const Row& row) { return row.name == op.name; });
    return found == std::end(kRows) ? nullptr : found->handler;
}

void TfliteOperators::finish(NodeProto& made, bool isPlanes, int activation)
{
    const std::string result = resultName(isPlanes);
    if (activation == kNone) {
        made.set_output(0, result);
        return;
    }
    const std::string inner = result + "/sum", name = made.name() + "/activation";
    made.set_output(0, inner);
    if (activation == kRelu)
        node("Relu", {inner}, result, name);
    else if (activation == kTanh)
        node("Tanh", {inner}, result, name);
    else if (activation == kRelu6)
        clip(inner, result, name, 0, 6);
    else if (activation == kReluOne)
        clip(inner, result, name, -1, 1);
    else
        fail("its fused activation is not known");
}

bool TfliteOperators::canBePlanes(int64_t index)
{
    if (!isConstant(index)) return rankOf(index) == 4;
    if (constantOf(index).dtype() != kFloat32) return false;
    if (rankOf(index) == 4) return true;
    const std::vector<int64_t>& shape = tensor(index).shape;
    return std::all_of(shape.begin(), shape.end() - (shape.empty() ? 0 : 1),
                       [](int64_t size) { return size == 1; });
}

std::string TfliteOperators::channels(int64_t index)
{
    const Tensor value = constantOf(index);
    const auto values = value.as<float>();
    const std::vector<int64_t> shape =
        value.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{value.size(), 1, 1};
    return add(Tensor::of<float>(kFloat32, shape, std::vector<float>(values.begin(), values.end())),
               nameOf(output()) + "/" + nameOf(index));
}

std::vector<int64_t> TfliteOperators::integersAt(size_t at)
{
    std::vector<int64_t> out;
    for (const double value : constantOf(input(at)).numbers())
        out.push_back(static_cast<int64_t>(value));
    return out;
}

void TfliteOperators::shaped(const std::string& from, int64_t result)
{
    node("Reshape", {from, integers(nameOf(result) + "/shape", tensor(result).shape)},
         given(result), nameOf(result));
}

int64_t TfliteOperators::axisOf(int64_t axis, size_t rank) const
{
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

} // namespace tenon::compiler
