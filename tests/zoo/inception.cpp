// SPDX-License-Identifier: Apache-2.0
// Inception v3: 94 convolutions, each with batch normalization, in modules of parallel branches.
#include "tests/zoo/model_builder.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

const Dims kNoPads = {0, 0, 0, 0};

/// A value and its channels.
struct Maps
{
    std::string name;
    int64_t channels;
};

/// Writes the modules; names follow the torchvision scopes.
class Inception
{
public:
    explicit Inception(ModelBuilder& builder)
        : m_builder(builder)
    {
    }

    Maps conv(const std::string& scope, const Maps& x, int64_t published, Dims kernel,
              int64_t stride = 1, bool isPadded = true)
    {
        const int64_t outputs = m_builder.channels(published);
        const ConvSpec spec{.inputs = x.channels,
                            .outputs = outputs,
                            .kernel = std::move(kernel),
                            .stride = stride,
                            .pads = isPadded ? Dims{} : kNoPads};
        return {m_builder.convBnRelu(scope, x.name, spec), outputs};
    }

    Maps reducingPool(const std::string& scope, const Maps& x)
    {
        return {m_builder.node("MaxPool", scope, {x.name},
                               {{"kernel_shape", Dims{3, 3}}, {"strides", Dims{2, 2}}}),
                x.channels};
    }

    Maps pooledBranch(const std::string& scope, const Maps& x, int64_t published)
    {
        const std::string pooled = m_builder.node("AveragePool", scope + "/pool", {x.name},
                                                  {{"count_include_pad", int64_t{1}},
                                                   {"kernel_shape", Dims{3, 3}},
                                                   {"pads", Dims{1, 1, 1, 1}},
                                                   {"strides", Dims{1, 1}}});
        return conv(scope + "/branch_pool", {pooled, x.channels}, published, {1, 1});
    }

    Maps concat(const std::string& scope, const std::vector<Maps>& parts)
    {
        std::vector<std::string> names;
        int64_t channels = 0;
        for (const Maps& part : parts) {
            names.push_back(part.name);
            channels += part.channels;
        }
        return {m_builder.node("Concat", scope, names, {{"axis", int64_t{1}}}), channels};
    }

    Maps stem(const Maps& image)
    {
        Maps x = conv("/Conv2d_1a_3x3", image, 32, {3, 3}, 2, false);
        x = conv("/Conv2d_2a_3x3", x, 32, {3, 3}, 1, false);
        x = conv("/Conv2d_2b_3x3", x, 64, {3, 3});
        x = reducingPool("/maxpool1", x);
        x = conv("/Conv2d_3b_1x1", x, 80, {1, 1});
        x = conv("/Conv2d_4a_3x3", x, 192, {3, 3}, 1, false);
        return reducingPool("/maxpool2", x);
    }

    Maps moduleA(const std::string& s, const Maps& x, int64_t pooled)
    {
        const Maps five = conv(s + "/branch5x5_1", x, 48, {1, 1});
        Maps twice = conv(s + "/branch3x3dbl_1", x, 64, {1, 1});
        twice = conv(s + "/branch3x3dbl_2", twice, 96, {3, 3});
        return concat(
            s, {conv(s + "/branch1x1", x, 64, {1, 1}), conv(s + "/branch5x5_2", five, 64, {5, 5}),
                conv(s + "/branch3x3dbl_3", twice, 96, {3, 3}), pooledBranch(s, x, pooled)});
    }

    Maps moduleB(const std::string& s, const Maps& x)
    {
        Maps twice = conv(s + "/branch3x3dbl_1", x, 64, {1, 1});
        twice = conv(s + "/branch3x3dbl_2", twice, 96, {3, 3});
        return concat(s, {conv(s + "/branch3x3", x, 384, {3, 3}, 2, false),
                          conv(s + "/branch3x3dbl_3", twice, 96, {3, 3}, 2, false),
                          reducingPool(s + "/pool", x)});
    }

    Maps moduleC(const std::string& s, const Maps& x, int64_t inside)
    {
        Maps seven = conv(s + "/branch7x7_1", x, inside, {1, 1});
        seven = conv(s + "/branch7x7_2", seven, inside, {1, 7});
        Maps twice = conv(s + "/branch7x7dbl_1", x, inside, {1, 1});
        twice = conv(s + "/branch7x7dbl_2", twice, inside, {7, 1});
        twice = conv(s + "/branch7x7dbl_3", twice, inside, {1, 7});
        twice = conv(s + "/branch7x7dbl_4", twice, inside, {7, 1});
        return concat(s,
                      {conv(s + "/branch1x1", x, 192, {1, 1}),
                       conv(s + "/branch7x7_3", seven, 192, {7, 1}),
                       conv(s + "/branch7x7dbl_5", twice, 192, {1, 7}), pooledBranch(s, x, 192)});
    }

    Maps moduleD(const std::string& s, const Maps& x)
    {
        const Maps three = conv(s + "/branch3x3_1", x, 192, {1, 1});
        Maps seven = conv(s + "/branch7x7x3_1", x, 192, {1, 1});
        seven = conv(s + "/branch7x7x3_2", seven, 192, {1, 7});
        seven = conv(s + "/branch7x7x3_3", seven, 192, {7, 1});
        return concat(s, {conv(s + "/branch3x3_2", three, 320, {3, 3}, 2, false),
                          conv(s + "/branch7x7x3_4", seven, 192, {3, 3}, 2, false),
                          reducingPool(s + "/pool", x)});
    }

    Maps moduleE(const std::string& s, const Maps& x)
    {
        const Maps three = conv(s + "/branch3x3_1", x, 384, {1, 1});
        Maps twice = conv(s + "/branch3x3dbl_1", x, 448, {1, 1});
        twice = conv(s + "/branch3x3dbl_2", twice, 384, {3, 3});
        return concat(s,
                      {conv(s + "/branch1x1", x, 320, {1, 1}),
                       conv(s + "/branch3x3_2a", three, 384, {1, 3}),
                       conv(s + "/branch3x3_2b", three, 384, {3, 1}),
                       conv(s + "/branch3x3dbl_3a", twice, 384, {1, 3}),
                       conv(s + "/branch3x3dbl_3b", twice, 384, {3, 1}), pooledBranch(s, x, 192)});
    }

private:
    ModelBuilder& m_builder;
};

} // namespace

std::string makeInceptionV3(const ZooOptions& options)
{
    ModelBuilder b("inception_v3", options);
    Inception inception(b);
    const int64_t size = options.imageSize ? options.imageSize : 299;
    Maps x =
        inception.stem({b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size}), 3});
    x = inception.moduleA("/Mixed_5b", x, 32);
    x = inception.moduleA("/Mixed_5c", x, 64);
    x = inception.moduleA("/Mixed_5d", x, 64);
    x = inception.moduleB("/Mixed_6a", x);
    x = inception.moduleC("/Mixed_6b", x, 128);
    x = inception.moduleC("/Mixed_6c", x, 160);
    x = inception.moduleC("/Mixed_6d", x, 160);
    x = inception.moduleC("/Mixed_6e", x, 192);
    x = inception.moduleD("/Mixed_7a", x);
    x = inception.moduleE("/Mixed_7b", x);
    x = inception.moduleE("/Mixed_7c", x);
    b.output(b.classifier(x.name, x.channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
