// SPDX-License-Identifier: Apache-2.0
// Convolutions of films: [batch, depth, rows, columns, channels].
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

constexpr int kSame = 0;

/// The two channels in front of the three axes of the kernel, which the file has in front.
Tensor channelsInFront(const Tensor& weight)
{
    const std::vector<int64_t>& shape = weight.shape();
    const auto values = weight.as<float>();
    const int64_t places = shape[0] * shape[1] * shape[2], a = shape[3], b = shape[4];
    std::vector<float> out;
    out.reserve(values.size());
    for (int64_t to = 0; to < b; ++to)
        for (int64_t from = 0; from < a; ++from)
            for (int64_t place = 0; place < places; ++place)
                out.push_back(values[static_cast<size_t>((place * a + from) * b + to)]);
    return Tensor::of<float>(kFloat32, {b, a, shape[0], shape[1], shape[2]}, out);
}

} // namespace

void TfliteOperators::convolveFilm()
{
    const Tensor weight = constantOf(input(1));
    if (m_problem || !needRank(input(0), 5) || !needRank(output(), 5)) return;
    if (weight.shape().size() != 5 || weight.dtype() != kFloat32)
        return fail("its weight has no five axes");
    const std::vector<int64_t>& data = tensor(input(0)).shape;
    // The file names width before height.
    const std::vector<int64_t> strides{size(1), size(3), size(2)},
        dilations{size(5), size(7), size(6)},
        kernel(weight.shape().begin(), weight.shape().begin() + 3);
    std::vector<int64_t> pads(6, 0);
    for (size_t i = 0; i < 3 && option(0) == kSame; ++i) {
        const int64_t missing = samePadding({data[1 + i], kernel[i], strides[i], dilations[i]});
        pads[i] = missing / 2;
        pads[3 + i] = missing - missing / 2;
    }
    std::vector<std::string> inputs{asPlanes(input(0)),
                                    add(channelsInFront(weight), nameOf(output()) + "/weight")};
    if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
    NodeProto& made = node("Conv", inputs, {}, nameOf(output()));
    setInteger(made, "group", data[4] / std::max<int64_t>(weight.shape()[3], 1));
    setIntegers(made, "kernel_shape", kernel);
    setIntegers(made, "strides", strides);
    setIntegers(made, "dilations", dilations);
    setIntegers(made, "pads", pads);
    finish(made, true, option(4));
}

/// What lies outside of the declared result is cut off, and what lacks of it is added.
void TfliteOperators::convolveFilmTransposed()
{
    constexpr size_t kData = 2, kBias = 3;
    const Tensor weight = constantOf(input(1));
    if (m_problem || !needRank(input(kData), 5) || !needRank(output(), 5)) return;
    if (weight.shape().size() != 5 || weight.dtype() != kFloat32)
        return fail("its weight has no five axes");
    const std::vector<int64_t>&data = tensor(input(kData)).shape, &result = tensor(output()).shape;
    const std::vector<int64_t> strides{size(1), size(3), size(2)},
        dilations{size(5), size(7), size(6)};
    std::vector<int64_t> pads(6), added(3);
    for (size_t i = 0; i < 3; ++i) {
        const WindowAxis axis{result[1 + i], weight.shape()[i], strides[i], dilations[i]};
        if (axis.stride < 1 || axis.dilation < 1) return fail("its stride is not usable");
        const int64_t width =
            (data[1 + i] - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
        pads[i] = option(0) == kSame ? samePadding(axis) / 2 : 0;
        pads[3 + i] = std::max<int64_t>(width - pads[i] - result[1 + i], 0);
        added[i] = std::max<int64_t>(result[1 + i] + pads[i] - width, 0);
    }
    std::vector<std::string> inputs{asPlanes(input(kData)),
                                    add(channelsInFront(weight), nameOf(output()) + "/weight")};
    if (input(kBias) >= 0) inputs.push_back(asGiven(input(kBias)));
    NodeProto& made = node("ConvTranspose", inputs, {}, nameOf(output()));
    setIntegers(made, "strides", strides);
    setIntegers(made, "dilations", dilations);
    setIntegers(made, "pads", pads);
    setIntegers(made, "output_padding", added);
    finish(made, true, option(4));
}

} // namespace tenon::compiler
