// SPDX-License-Identifier: Apache-2.0
// MobileNetV3, large and small: inverted residuals with hard swish, some of them with weighed
// channels.
#include "tests/zoo/backbones.h"
#include "tests/zoo/layers.h"

#include <algorithm>
#include <span>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Row
{
    int64_t kernel;
    int64_t inside; ///< published, as all widths here
    int64_t outputs;
    bool isWeighed;
    Activation kind;
    int64_t stride;
};

constexpr Activation kRelu = Activation::Relu, kSwish = Activation::HardSwish;

constexpr Row kLarge[] = {
    {3, 16, 16, false, kRelu, 1},   {3, 64, 24, false, kRelu, 2},   {3, 72, 24, false, kRelu, 1},
    {5, 72, 40, true, kRelu, 2},    {5, 120, 40, true, kRelu, 1},   {5, 120, 40, true, kRelu, 1},
    {3, 240, 80, false, kSwish, 2}, {3, 200, 80, false, kSwish, 1}, {3, 184, 80, false, kSwish, 1},
    {3, 184, 80, false, kSwish, 1}, {3, 480, 112, true, kSwish, 1}, {3, 672, 112, true, kSwish, 1},
    {5, 672, 160, true, kSwish, 2}, {5, 960, 160, true, kSwish, 1}, {5, 960, 160, true, kSwish, 1},
};

constexpr Row kSmall[] = {
    {3, 16, 16, true, kRelu, 2},   {3, 72, 24, false, kRelu, 2},  {3, 88, 24, false, kRelu, 1},
    {5, 96, 40, true, kSwish, 2},  {5, 240, 40, true, kSwish, 1}, {5, 240, 40, true, kSwish, 1},
    {5, 120, 48, true, kSwish, 1}, {5, 144, 48, true, kSwish, 1}, {5, 288, 96, true, kSwish, 2},
    {5, 576, 96, true, kSwish, 1}, {5, 576, 96, true, kSwish, 1},
};

/// The nearest multiple of 8 that is not below nine tenths, as widths are rounded.
int64_t roundedTo8(int64_t width)
{
    const int64_t nearest = std::max<int64_t>(8, (width + 4) / 8 * 8);
    return 10 * nearest < 9 * width ? nearest + 8 : nearest;
}

std::string block(ModelBuilder& b, const std::string& scope, const Features& x, const Row& row,
                  int64_t dilation)
{
    const int64_t inside = b.channels(row.inside), outputs = b.channels(row.outputs);
    std::string y = x.tensor;
    if (inside != x.channels)
        y = convBn(b, scope + "/expand", y,
                   {.inputs = x.channels, .outputs = inside, .kernel = {1, 1}}, row.kind);
    y = convBn(b, scope + "/depthwise", y, depthwiseSpec(inside, row.kernel, row.stride, dilation),
               row.kind);
    if (row.isWeighed)
        y = squeezeExcite(b, scope + "/se", y,
                          {.channels = inside,
                           .squeezed = b.channels(roundedTo8(row.inside / 4)),
                           .isHard = true});
    y = convBn(b, scope + "/project", y, {.inputs = inside, .outputs = outputs, .kernel = {1, 1}});
    return x.channels == outputs && row.stride == 1 ? b.node("Add", scope, {x.tensor, y}) : y;
}

/// The result before each reduction of the image from stride 8 on, and the last.
std::vector<Features> featuresOf(ModelBuilder& b, const std::string& image,
                                 std::span<const Row> rows, Reduction reduction)
{
    std::vector<Features> features;
    const int64_t first = b.channels(16);
    Features now = {
        convBn(b, "/features/0", image, {.inputs = 3, .outputs = first, .stride = 2}, kSwish),
        first, 2};
    int64_t dilation = 1, index = 1;
    for (Row row : rows) {
        if (row.stride == 2 && now.stride >= 8) features.push_back(now);
        if (row.stride == 2 && now.stride == 16 && reduction == Reduction::Dilated) {
            row.stride = 1;
            dilation = 2;
        }
        now.tensor = block(b, "/features/" + std::to_string(index++), now, row, dilation);
        now.channels = b.channels(row.outputs);
        now.stride *= row.stride;
    }
    const int64_t last = b.channels(6 * rows.back().outputs);
    now.tensor = convBn(b, "/features/last", now.tensor,
                        {.inputs = now.channels, .outputs = last, .kernel = {1, 1}}, kSwish);
    now.channels = last;
    features.push_back(now);
    return features;
}

std::string makeMobilenetV3(const char* name, std::span<const Row> rows, int64_t hidden,
                            const ZooOptions& options)
{
    ModelBuilder b(name, options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const Features last = featuresOf(b, image, rows, Reduction::Strided).back();
    std::string x = b.node("GlobalAveragePool", "/avgpool", {last.tensor});
    x = b.node("Flatten", "/flatten", {x}, {{"axis", int64_t{1}}});
    x = activation(b, "/classifier/1",
                   b.dense("/classifier/0", x, last.channels, b.channels(hidden)), kSwish);
    x = b.dense("/classifier/3", x, b.channels(hidden), 1000);
    b.output(x, "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace

std::vector<Features> mobilenetV3Features(ModelBuilder& b, const std::string& x,
                                          Reduction reduction)
{
    return featuresOf(b, x, kLarge, reduction);
}

std::string makeMobilenetV3Large(const ZooOptions& options)
{
    return makeMobilenetV3("mobilenet_v3_large", kLarge, 1280, options);
}

std::string makeMobilenetV3Small(const ZooOptions& options)
{
    return makeMobilenetV3("mobilenet_v3_small", kSmall, 1024, options);
}

} // namespace tenon::test
