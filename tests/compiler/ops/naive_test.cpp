// SPDX-License-Identifier: Apache-2.0
// Convolutions, poolings and resizing against plain loops written out here, over many
// geometries.
#include "tests/compiler/ops/naive_sample.h"
#include "tests/compiler/ops/op_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

using namespace core;

std::string list(const Dims& values)
{
    std::string out = "[";
    for (const int64_t v : values) out += (out.size() > 1 ? ", " : "") + std::to_string(v);
    return out + "]";
}

/// Element of a tensor of rank 4; zero outside.
double at(const Tensor& t, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const Dims& s = t.shape();
    if (c < 0 || d < 0 || c >= s[2] || d >= s[3]) return 0;
    return t.number(((a * s[1] + b) * s[2] + c) * s[3] + d);
}

/// [N, C/b, H, W, b] as [N, C, H, W].
Tensor unblocked(const Tensor& t)
{
    const Dims& s = t.shape();
    return Tensor::make(t.dtype(), {s[0], s[1] * s[4], s[2], s[3]}, [&](std::span<std::byte> out) {
        int64_t from = 0;
        for (int64_t n = 0; n < s[0]; ++n)
            for (int64_t o = 0; o < s[1]; ++o)
                for (int64_t p = 0; p < s[2] * s[3]; ++p)
                    for (int64_t i = 0; i < s[4]; ++i)
                        storeNumber(t.dtype(), out, ((n * s[1] + o) * s[4] + i) * s[2] * s[3] + p,
                                    t.number(from++));
    });
}

/// [O/o, I/i, KH, KW, i, o] as [O, I, KH, KW].
Tensor unpacked(const Tensor& t)
{
    const Dims& s = t.shape();
    return Tensor::make(
        t.dtype(), {s[0] * s[5], s[1] * s[4], s[2], s[3]}, [&](std::span<std::byte> out) {
            int64_t from = 0;
            for (int64_t a = 0; a < s[0]; ++a)
                for (int64_t b = 0; b < s[1]; ++b)
                    for (int64_t k = 0; k < s[2] * s[3]; ++k)
                        for (int64_t i = 0; i < s[4]; ++i)
                            for (int64_t o = 0; o < s[5]; ++o)
                                storeNumber(
                                    t.dtype(), out,
                                    ((a * s[5] + o) * s[1] * s[4] + b * s[4] + i) * s[2] * s[3] + k,
                                    t.number(from++));
        });
}

struct Geometry
{
    Dims stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
    int64_t groups = 1;
    std::string text() const
    {
        return "strides=" + list(stride) + ", padding=" + list(padding) +
               ", dilation=" + list(dilation) + ", groups=" + std::to_string(groups);
    }
};

void expectConvolution(const Tensor& data, const Tensor& weight, const Tensor& got,
                       const Geometry& g)
{
    const Dims& w = weight.shape();
    const Dims& out = got.shape();
    const int64_t outPerGroup = out[1] / g.groups;
    for (int64_t n = 0; n < out[0]; ++n)
        for (int64_t o = 0; o < out[1]; ++o)
            for (int64_t y = 0; y < out[2]; ++y)
                for (int64_t x = 0; x < out[3]; ++x) {
                    double sum = 0;
                    for (int64_t c = 0; c < w[1]; ++c)
                        for (int64_t i = 0; i < w[2]; ++i)
                            for (int64_t j = 0; j < w[3]; ++j)
                                sum += at(data, n, o / outPerGroup * w[1] + c,
                                          y * g.stride[0] - g.padding[0] + i * g.dilation[0],
                                          x * g.stride[1] - g.padding[1] + j * g.dilation[1]) *
                                       at(weight, o, c, i, j);
                    ASSERT_NEAR(at(got, n, o, y, x), sum, 1e-5) << o << " " << y << " " << x;
                }
}

TEST(Naive, PlainConvolutions)
{
    const struct
    {
        Dims data, weight;
        Geometry g;
    } cases[] = {
        {{2, 3, 7, 9}, {4, 3, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
        {{1, 4, 8, 8}, {6, 2, 3, 2}, {{2, 1}, {0, 1, 2, 0}, {1, 2}, 2}},
        {{1, 5, 6, 6}, {5, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 5}},
        {{1, 3, 1, 16}, {2, 3, 1, 5}, {{1, 3}, {0, 2, 0, 2}, {1, 1}, 1}},
        {{1, 2, 5, 5}, {3, 2, 1, 1}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}},
        // The last column of padding is read by no window.
        {{1, 2, 6, 6}, {3, 2, 3, 3}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 1}},
    };
    for (const auto& c : cases) {
        const Sample r = run("%x: " + typeOf(c.data) + ", %w: " + typeOf(c.weight) +
                             " => nn.conv2d(%x, %w, " + c.g.text() + ")");
        expectConvolution(r.inputs[0], r.inputs[1], r.output, c.g);
    }
}

TEST(Naive, BlockedConvolutions)
{
    const struct
    {
        Dims data, weight;
        int64_t outBlock;
        Geometry g;
    } cases[] = {
        {{1, 2, 7, 5, 4}, {2, 2, 3, 3, 4, 8}, 8, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
        {{2, 1, 6, 6, 4}, {1, 1, 3, 3, 4, 16}, 4, {{2, 2}, {0, 1, 1, 0}, {1, 1}, 1}},
        {{1, 3, 8, 8, 1}, {1, 3, 3, 3, 1, 16}, 16, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 1}},
        {{1, 2, 4, 4, 8}, {3, 2, 1, 1, 8, 12}, 4, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}},
        {{1, 2, 9, 9, 4}, {1, 2, 3, 3, 4, 4}, 4, {{1, 1}, {2, 2, 2, 2}, {2, 2}, 1}},
    };
    for (const auto& c : cases) {
        const std::string in = std::to_string(c.data[4]), out = std::to_string(c.outBlock);
        const Sample r = run("%x: " + typeOf(c.data) + ", %w: " + typeOf(c.weight) +
                             " => nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW" + in +
                             "c\", out_layout=\"NCHW" + out + "c\", kernel_layout=\"OIHW" + in +
                             "i" + std::to_string(c.weight[5]) + "o\", " + c.g.text() + ")");
        expectConvolution(unblocked(r.inputs[0]), unpacked(r.inputs[1]), unblocked(r.output), c.g);
    }
}

TEST(Naive, BlockedDepthwiseConvolutions)
{
    for (const int64_t stride : {1, 2}) {
        const Geometry g{{stride, stride}, {1, 1, 1, 1}, {1, 1}, 8};
        const Sample r =
            run("%x: " + typeOf({1, 2, 7, 6, 4}) + ", %w: " + typeOf({2, 1, 3, 3, 1, 4}) +
                " => nn.contrib_depthwise_conv2d_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
                "out_layout=\"NCHW4c\", kernel_layout=\"OIHW1i4o\", " +
                g.text() + ")");
        expectConvolution(unblocked(r.inputs[0]), unpacked(r.inputs[1]), unblocked(r.output), g);
    }
}

TEST(Naive, TransposedConvolutions)
{
    const struct
    {
        Dims data, weight, outputPadding;
        Geometry g;
    } cases[] = {
        {{1, 3, 4, 5}, {3, 2, 2, 2}, {0, 0}, {{2, 2}, {0, 0, 0, 0}, {1, 1}, 1}},
        {{2, 3, 4, 5}, {3, 2, 3, 3}, {1, 1}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 1}},
        {{1, 4, 3, 4}, {4, 3, 4, 3}, {0, 2}, {{3, 3}, {1, 0, 2, 1}, {1, 1}, 2}},
        {{1, 2, 5, 4}, {2, 2, 3, 2}, {0, 0}, {{2, 1}, {1, 1, 0, 2}, {2, 3}, 1}},
        {{1, 2, 4, 4}, {2, 1, 1, 1}, {0, 0}, {{2, 2}, {0, 0, 0, 0}, {1, 1}, 1}},
        {{1, 4, 4, 4}, {4, 1, 3, 3}, {0, 0}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 4}},
    };
    for (const auto& c : cases) {
        const Sample r =
            run("%x: " + typeOf(c.data) + ", %w: " + typeOf(c.weight) +
                " => nn.conv2d_transpose(%x, %w, output_padding=" + list(c.outputPadding) + ", " +
                c.g.text() + ")");
        const Tensor &data = r.inputs[0], &weight = r.inputs[1];
        const Dims &out = r.output.shape(), &w = c.weight;
        std::vector<double> want(static_cast<size_t>(r.output.size()), 0);
        const int64_t inPerGroup = w[0] / c.g.groups;
        for (int64_t n = 0; n < c.data[0]; ++n)
            for (int64_t ic = 0; ic < w[0]; ++ic)
                for (int64_t y = 0; y < c.data[2]; ++y)
                    for (int64_t x = 0; x < c.data[3]; ++x)
                        for (int64_t o = 0; o < w[1]; ++o)
                            for (int64_t i = 0; i < w[2]; ++i)
                                for (int64_t j = 0; j < w[3]; ++j) {
                                    const int64_t oy =
                                        y * c.g.stride[0] - c.g.padding[0] + i * c.g.dilation[0];
                                    const int64_t ox =
                                        x * c.g.stride[1] - c.g.padding[1] + j * c.g.dilation[1];
                                    if (oy < 0 || ox < 0 || oy >= out[2] || ox >= out[3]) continue;
                                    const int64_t oc = ic / inPerGroup * w[1] + o;
                                    want[static_cast<size_t>(
                                        ((n * out[1] + oc) * out[2] + oy) * out[3] + ox)] +=
                                        at(data, n, ic, y, x) * at(weight, ic, o, i, j);
                                }
        for (int64_t i = 0; i < r.output.size(); ++i)
            ASSERT_NEAR(r.output.number(i), want[static_cast<size_t>(i)], 1e-5) << c.g.text();
    }
}

TEST(Naive, Poolings)
{
    for (const bool isMax : {true, false})
        for (const int64_t ceil : {0, 1})
            for (const int64_t includes : {0, 1})
                for (const int64_t dilation : {1, 2}) {
                    if (isMax && includes) continue;
                    const std::string op = isMax ? "nn.max_pool2d" : "nn.avg_pool2d";
                    const Sample r = run(
                        "%x: " + typeOf({1, 2, 8, 7}) + " => " + op +
                        "(%x, pool_size=[3, 2], strides=[2, 3], padding=[1, 0, 1, 1], dilation=[" +
                        std::to_string(dilation) + ", 1], ceil_mode=" + std::to_string(ceil) +
                        (isMax ? "" : ", count_include_pad=" + std::to_string(includes)) + ")");
                    const Dims& out = r.output.shape();
                    for (int64_t c = 0; c < 2; ++c)
                        for (int64_t y = 0; y < out[2]; ++y)
                            for (int64_t x = 0; x < out[3]; ++x) {
                                double sum = 0, top = -INFINITY;
                                int count = 0;
                                for (int64_t i = 0; i < 3; ++i)
                                    for (int64_t j = 0; j < 2; ++j) {
                                        const int64_t h = y * 2 - 1 + i * dilation, w = x * 3 + j;
                                        const bool isData = h >= 0 && h < 8 && w < 7;
                                        const bool isPad = h >= -1 && h < 9 && w < 8;
                                        if (isData) {
                                            sum += at(r.inputs[0], 0, c, h, w);
                                            top = std::max(top, at(r.inputs[0], 0, c, h, w));
                                        }
                                        count += includes ? isPad : isData;
                                    }
                                ASSERT_NEAR(at(r.output, 0, c, y, x), isMax ? top : sum / count,
                                            1e-6);
                            }
                }
}

/// ONNX's coordinate rules in floating point, apart from the rational ones under test.
double source(const std::string& mode, int64_t o, int64_t in, int64_t out)
{
    const double scale = static_cast<double>(out) / static_cast<double>(in);
    const auto x = static_cast<double>(o);
    if (mode == "align_corners")
        return out > 1 ? x * static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    if (mode == "asymmetric") return x / scale;
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
    if (mode == "pytorch_half_pixel" && out == 1) return 0;
    return (x + 0.5) / scale - 0.5;
}

double cubicWeight(double d, double alpha)
{
    d = std::abs(d);
    if (d <= 1) return (alpha + 2) * d * d * d - (alpha + 3) * d * d + 1;
    if (d < 2) return alpha * d * d * d - 5 * alpha * d * d + 8 * alpha * d - 4 * alpha;
    return 0;
}

TEST(Naive, Resizing)
{
    const int64_t in[2] = {5, 4};
    for (const std::string mode : {"half_pixel", "pytorch_half_pixel", "align_corners",
                                   "asymmetric", "tf_half_pixel_for_nn", "half_pixel_symmetric"})
        for (const std::string method : {"linear", "cubic"})
            for (const Dims& out : {Dims{10, 7}, Dims{3, 9}, Dims{1, 4}})
                for (const int excludes : {0, 1}) {
                    if (excludes && method != "cubic") continue;
                    const Sample r =
                        run("%x: " + typeOf({1, 1, in[0], in[1]}) +
                            " => image.resize2d(%x, size=" + list(out) + ", method=\"" + method +
                            "\", exclude_outside=" + std::to_string(excludes) +
                            ", coordinate_transformation_mode=\"" + mode + "\")");
                    for (int64_t y = 0; y < out[0]; ++y)
                        for (int64_t x = 0; x < out[1]; ++x) {
                            const double sy = source(mode, y, in[0], out[0]);
                            const double sx = source(mode, x, in[1], out[1]);
                            double sum = 0, weights = 0;
                            for (int64_t i = -3; i < in[0] + 3; ++i)
                                for (int64_t j = -3; j < in[1] + 3; ++j) {
                                    const double dy = static_cast<double>(i) - sy;
                                    const double dx = static_cast<double>(j) - sx;
                                    const double w =
                                        method == "cubic"
                                            ? cubicWeight(dy, -0.75) * cubicWeight(dx, -0.75)
                                            : std::max(0.0, 1 - std::abs(dy)) *
                                                  std::max(0.0, 1 - std::abs(dx));
                                    const bool isInside =
                                        i >= 0 && j >= 0 && i < in[0] && j < in[1];
                                    if (excludes && !isInside) continue;
                                    weights += w;
                                    sum += w * at(r.inputs[0], 0, 0,
                                                  std::clamp<int64_t>(i, 0, in[0] - 1),
                                                  std::clamp<int64_t>(j, 0, in[1] - 1));
                                }
                            ASSERT_NEAR(at(r.output, 0, 0, y, x), sum / weights, 1e-4)
                                << mode << " " << method << " " << list(out) << " " << y << ","
                                << x;
                        }
                }
}

} // namespace
} // namespace tenon::compiler
