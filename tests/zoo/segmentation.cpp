// SPDX-License-Identifier: Apache-2.0
// DeepLabV3 (dilated convolutions side by side) on MobileNetV3 and ResNet-50, and LR-ASPP.
#include "tests/zoo/backbones.h"
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

constexpr int64_t kClasses = 21;

/// Convolutions of rates 12, 24 and 36, one pixel's and the whole image's mean, together.
std::string atrousPyramid(ModelBuilder& b, const Features& x, int64_t width, int64_t size)
{
    const ConvSpec point = {.inputs = x.channels, .outputs = width, .kernel = {1, 1}};
    std::vector<std::string> parts = {convBn(b, "/aspp/0", x.tensor, point, Activation::Relu)};
    for (const int64_t rate : {12, 24, 36})
        parts.push_back(convBn(b, "/aspp/rate" + std::to_string(rate), x.tensor,
                               {.inputs = x.channels, .outputs = width, .dilation = rate},
                               Activation::Relu));
    std::string mean = b.node("GlobalAveragePool", "/aspp/pool", {x.tensor});
    mean = convBn(b, "/aspp/pool", mean, point, Activation::Relu);
    parts.push_back(upsample(b, "/aspp/pool", mean, static_cast<float>(size), "linear"));
    return convBn(b, "/aspp/project", concat(b, "/aspp", parts),
                  {.inputs = 5 * width, .outputs = width, .kernel = {1, 1}}, Activation::Relu);
}

std::string finished(ModelBuilder& b, const std::string& scores, int64_t stride, int64_t size,
                     int64_t batch)
{
    b.output(upsample(b, "/upsample", scores, static_cast<float>(stride), "linear"), "output",
             {batch, kClasses, size, size});
    return b.bytes();
}

std::string makeDeeplab(const char* name,
                        std::vector<Features> (*features)(ModelBuilder&, const std::string&,
                                                          Reduction),
                        const ZooOptions& options)
{
    ModelBuilder b(name, options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const Features last = features(b, image, Reduction::Dilated).back();
    const int64_t width = b.channels(256);
    std::string x = atrousPyramid(b, last, width, size / last.stride);
    x = convBn(b, "/head", x, {.inputs = width, .outputs = width}, Activation::Relu);
    x = b.conv("/classifier", x,
               {.inputs = width, .outputs = kClasses, .kernel = {1, 1}, .hasBias = true});
    return finished(b, x, last.stride, size, options.batch);
}

} // namespace

std::string makeDeeplabMobilenet(const ZooOptions& options)
{
    return makeDeeplab("deeplab_mobilenet_v3", mobilenetV3Features, options);
}

std::string makeDeeplabResnet50(const ZooOptions& options)
{
    return makeDeeplab("deeplab_resnet50", resnet50Features, options);
}

std::string makeLraspp(const ZooOptions& options)
{
    ModelBuilder b("lraspp_mobilenet_v3", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const std::vector<Features> features = mobilenetV3Features(b, image, Reduction::Dilated);
    const Features &low = features.front(), &high = features.back();
    const int64_t width = b.channels(128);
    const ConvSpec point = {.inputs = high.channels, .outputs = width, .kernel = {1, 1}};
    std::string x = convBn(b, "/cbr", high.tensor, point, Activation::Relu);
    std::string scale = b.node("GlobalAveragePool", "/scale", {high.tensor});
    scale = b.node("Sigmoid", "/scale", {b.conv("/scale", scale, point)});
    x = upsample(b, "/high", b.node("Mul", "/scale", {x, scale}), 2, "linear");
    const auto scores = [&](const char* scope, const std::string& from, int64_t channels) {
        return b.conv(scope, from,
                      {.inputs = channels, .outputs = kClasses, .kernel = {1, 1}, .hasBias = true});
    };
    x = b.node("Add", "/scores",
               {scores("/low_classifier", low.tensor, low.channels),
                scores("/high_classifier", x, width)});
    return finished(b, x, low.stride, size, options.batch);
}

} // namespace tenon::test
