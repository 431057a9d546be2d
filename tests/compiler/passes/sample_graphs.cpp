// SPDX-License-Identifier: Apache-2.0
// Writes networks as graph text.
#include "tests/compiler/passes/sample_graphs.h"

#include "core/ir/graph_text.h"

#include <cmath>
#include <string>

namespace tenon::compiler {
namespace {

using core::Module;

class TextBuilder
{
public:
    TextBuilder(int channels, int size)
    {
        m_text = "def @main(%data: " + tensor({1, channels, size, size}) + ") {\n";
    }

    std::string convolution(const std::string& x, int in, int out, int kernel, int stride,
                            int groups = 1)
    {
        const int each = in / groups;
        const std::string weight =
            random({out, each, kernel, kernel}, std::sqrt(3.0 / (each * kernel * kernel)));
        std::string attrs;
        const std::string padding = std::to_string(kernel / 2);
        const std::string step = std::to_string(stride);
        if (groups > 1) attrs += ", groups=" + std::to_string(groups);
        attrs += ", padding=[" + padding + ", " + padding + ", " + padding + ", " + padding + "]";
        return op("nn.conv2d",
                  x + ", " + weight + attrs + ", strides=[" + step + ", " + step + "]");
    }

    std::string batchNorm(const std::string& x, int channels)
    {
        const std::string gamma = random({channels}, 0.5, 1.5);
        const std::string beta = random({channels}, -0.2, 0.2);
        const std::string mean = random({channels}, -0.2, 0.2);
        const std::string variance = random({channels}, 0.5, 1.5);
        return op("nn.batch_norm", x + ", " + gamma + ", " + beta + ", " + mean + ", " + variance +
                                       ", axis=1, epsilon=1e-05f");
    }

    std::string relu6(const std::string& x) { return op("clip", x + ", a_max=6f, a_min=0f"); }

    std::string random(const std::vector<int>& shape, double low, double high)
    {
        const std::string name = "%w" + std::to_string(m_next);
        m_text += "  " + name + " = rand(" + std::to_string(m_next++) + ", " + std::to_string(low) +
                  ", " + std::to_string(high) + ") : " + tensor(shape) + "\n";
        return name;
    }
    std::string random(const std::vector<int>& shape, double scale)
    {
        return random(shape, -scale, scale);
    }

    std::string op(const std::string& name, const std::string& arguments)
    {
        std::string hint = name.substr(name.find('.') + 1);
        const std::string value = "%" + hint + "_" + std::to_string(m_next++);
        m_text += "  " + value + " = " + name + "(" + arguments + ")\n";
        return value;
    }

    Module finish(const std::string& result)
    {
        return std::move(*core::parseModule(m_text + "  return " + result + "\n}\n"));
    }

private:
    static std::string tensor(const std::vector<int>& shape)
    {
        std::string text;
        for (const int dim : shape) text += (text.empty() ? "" : ", ") + std::to_string(dim);
        return "Tensor[(" + text + (shape.size() == 1 ? ",)" : ")") + ", float32]";
    }

    std::string m_text;
    int m_next = 1;
};

std::string classifier(TextBuilder& b, const std::string& x, int channels, int classes)
{
    const std::string pooled = b.op("nn.global_avg_pool2d", x);
    const std::string flat =
        b.op("reshape", pooled + ", newshape=[1, " + std::to_string(channels) + "]");
    const std::string weight = b.random({classes, channels}, 0.1);
    const std::string bias = b.random({classes}, 0.1);
    return b.op("nn.bias_add", b.op("nn.dense", flat + ", " + weight) + ", " + bias + ", axis=1");
}

} // namespace

Module mobilenetV2(double width, int size)
{
    struct Stage
    {
        int expansion, channels, repeats, stride;
    };
    const Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                            {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    const auto scaled = [&](int channels) {
        return std::max(8, static_cast<int>(channels * width + 4) / 8 * 8);
    };
    TextBuilder b(3, size);
    int channels = scaled(32);
    std::string x = b.relu6(b.batchNorm(b.convolution("%data", 3, channels, 3, 2), channels));
    for (const Stage& stage : stages) {
        const int out = scaled(stage.channels);
        for (int i = 0; i < stage.repeats; ++i) {
            const int stride = i == 0 ? stage.stride : 1;
            const int wide = channels * stage.expansion;
            std::string y = x;
            if (stage.expansion > 1)
                y = b.relu6(b.batchNorm(b.convolution(y, channels, wide, 1, 1), wide));
            y = b.relu6(b.batchNorm(b.convolution(y, wide, wide, 3, stride, wide), wide));
            y = b.batchNorm(b.convolution(y, wide, out, 1, 1), out);
            x = stride == 1 && channels == out ? b.op("add", x + ", " + y) : y;
            channels = out;
        }
    }
    const int last = scaled(1280);
    x = b.relu6(b.batchNorm(b.convolution(x, channels, last, 1, 1), last));
    return b.finish(classifier(b, x, last, 1000));
}

Module resnet18(int divisor, int size)
{
    TextBuilder b(3, size);
    int channels = 64 / divisor;
    std::string x =
        b.op("nn.relu", b.batchNorm(b.convolution("%data", 3, channels, 7, 2), channels));
    x = b.op("nn.max_pool2d", x + ", padding=[1, 1, 1, 1], pool_size=[3, 3], strides=[2, 2]");
    for (int stage = 0; stage < 4; ++stage) {
        for (int i = 0; i < 2; ++i) {
            const int out = (64 << stage) / divisor;
            const int stride = i == 0 && stage > 0 ? 2 : 1;
            std::string y = b.batchNorm(b.convolution(x, channels, out, 3, stride), out);
            y = b.batchNorm(b.convolution(b.op("nn.relu", y), out, out, 3, 1), out);
            if (stride != 1) x = b.batchNorm(b.convolution(x, channels, out, 1, 2), out);
            x = b.op("nn.relu", b.op("add", y + ", " + x));
            channels = out;
        }
    }
    return b.finish(classifier(b, x, channels, 1000));
}

Module residualChain(int blocks)
{
    TextBuilder b(16, 8);
    std::string x = "%data";
    for (int i = 0; i < blocks; ++i) {
        const std::string bias = b.random({16}, 0.1);
        const std::string y = b.op("nn.bias_add", b.convolution(x, 16, 16, 3, 1) + ", " + bias);
        x = b.op("add", x + ", " + b.op("nn.relu", y));
    }
    return b.finish(x);
}

} // namespace tenon::compiler
