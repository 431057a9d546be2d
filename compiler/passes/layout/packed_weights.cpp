// SPDX-License-Identifier: Apache-2.0
// Each is written out in the order of its dimensions.
#include "compiler/passes/layout/packed_weights.h"

#include "compiler/passes/quantize/integer_phases.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

/// Four int8 in one int32, the first in the lowest bits.
int32_t quad(const std::array<int8_t, 4>& bytes)
{
    uint32_t out = 0;
    for (size_t i = 0; i < 4; ++i) out |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return static_cast<int32_t>(out);
}

} // namespace

Tensor runsOfWeight(const Tensor& weight, int64_t inBlock)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    std::vector<int32_t> out;
    out.reserve(w.size() / 4);
    const auto at = [&](int64_t o, int64_t i, int64_t pixel) {
        return w[static_cast<size_t>((o * s[1] + i) * s[2] * s[3] + pixel)];
    };
    for (int64_t o = 0; o < s[0]; o += kRunFilters)
        for (int64_t i = 0; i < s[1]; i += inBlock)
            for (int64_t pixel = 0; pixel < s[2] * s[3]; ++pixel)
                for (int64_t k = o; k < o + kRunFilters; ++k)
                    for (int64_t q = i; q < i + inBlock; q += 4)
                        out.push_back(quad({at(k, q, pixel), at(k, q + 1, pixel),
                                            at(k, q + 2, pixel), at(k, q + 3, pixel)}));
    return Tensor::of(
        kInt32, {s[0] / kRunFilters, s[1] / inBlock, s[2], s[3], kRunFilters, inBlock / 4}, out);
}

Tensor weightByFilter(const Tensor& weight)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    std::vector<int8_t> out;
    out.reserve(w.size());
    const int64_t each = s[1] * s[2] * s[3];
    for (int64_t o = 0; o < s[0]; o += kRunFilters)
        for (int64_t at = 0; at < each; ++at)
            for (int64_t k = o; k < o + kRunFilters; ++k)
                out.push_back(w[static_cast<size_t>(k * each + at)]);
    return Tensor::of(kInt8, {s[0] / kRunFilters, s[1], s[2], s[3], 1, kRunFilters}, out);
}

Tensor packedConvWeight(const Tensor& weight, int64_t channels, int64_t inBlock,
                        int64_t kernelBlock)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    std::vector<int32_t> out;
    out.reserve(static_cast<size_t>(s[0] * channels * s[2] * s[3] / 4));
    const auto at = [&](int64_t o, int64_t i, int64_t y, int64_t x) {
        return i < s[1] ? w[static_cast<size_t>(((o * s[1] + i) * s[2] + y) * s[3] + x)]
                        : int8_t{0};
    };
    for (int64_t o = 0; o < s[0]; o += kernelBlock)
        for (int64_t i = 0; i < channels; i += inBlock)
            for (int64_t y = 0; y < s[2]; ++y)
                for (int64_t x = 0; x < s[3]; ++x)
                    for (int64_t q = i; q < i + inBlock; q += 4)
                        for (int64_t k = o; k < o + kernelBlock; ++k)
                            out.push_back(quad({at(k, q, y, x), at(k, q + 1, y, x),
                                                at(k, q + 2, y, x), at(k, q + 3, y, x)}));
    return Tensor::of(
        kInt32, {s[0] / kernelBlock, channels / inBlock, s[2], s[3], inBlock / 4, kernelBlock},
        out);
}

Tensor joinedConvWeight(const Tensor& weight, int64_t inBlock, int64_t kernelBlock)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    const int64_t bytes = s[3] * inBlock, words = inWords(bytes) / kWordBytes;
    std::vector<int32_t> out;
    out.reserve(static_cast<size_t>(s[0] * s[1] / inBlock * s[2] * words));
    for (int64_t o = 0; o < s[0]; o += kernelBlock)
        for (int64_t i = 0; i < s[1]; i += inBlock)
            for (int64_t y = 0; y < s[2]; ++y)
                for (int64_t q = 0; q < words; ++q)
                    for (int64_t k = o; k < o + kernelBlock; ++k) {
                        const int64_t begin = std::min(q * kWordBytes, bytes - kWordBytes);
                        std::array<int8_t, kWordBytes> word{};
                        // What the word before has is not multiplied again.
                        for (int64_t at = q * kWordBytes; at < begin + kWordBytes; ++at)
                            word[static_cast<size_t>(at - begin)] = w[static_cast<size_t>(
                                ((k * s[1] + i + at % inBlock) * s[2] + y) * s[3] + at / inBlock)];
                        out.push_back(quad(word));
                    }
    return Tensor::of(kInt32, {s[0] / kernelBlock, s[1] / inBlock, s[2], 1, words, kernelBlock},
                      out);
}

Tensor packedDepthwiseWeight(const Tensor& weight, int64_t block)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    const int64_t quads = (s[2] + 3) / 4;
    std::vector<int32_t> out;
    const auto at = [&](int64_t c, int64_t y, int64_t x) {
        return y < s[2] ? w[static_cast<size_t>((c * s[2] + y) * s[3] + x)] : int8_t{0};
    };
    for (int64_t c = 0; c < s[0]; c += block)
        for (int64_t q = 0; q < quads; ++q)
            for (int64_t x = 0; x < s[3]; ++x)
                for (int64_t k = c; k < c + block; ++k)
                    out.push_back(quad({at(k, 4 * q, x), at(k, 4 * q + 1, x), at(k, 4 * q + 2, x),
                                        at(k, 4 * q + 3, x)}));
    return Tensor::of(kInt32, {s[0] / block, quads, s[3], block}, out);
}

Tensor blockedDepthwiseWeight(const Tensor& weight, int64_t block)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    std::vector<int8_t> out;
    out.reserve(w.size());
    for (int64_t c = 0; c < s[0]; c += block)
        for (int64_t at = 0; at < s[2] * s[3]; ++at)
            for (int64_t k = c; k < c + block; ++k)
                out.push_back(w[static_cast<size_t>(k * s[2] * s[3] + at)]);
    return Tensor::of(kInt8, {s[0] / block, s[2], s[3], block}, out);
}

Tensor packedDenseWeight(const Tensor& weight, int64_t block)
{
    const std::vector<int64_t>& s = weight.shape();
    const auto w = weight.as<int8_t>();
    std::vector<int32_t> out;
    const int64_t words = inWords(s[1]) / kWordBytes;
    out.reserve(static_cast<size_t>(s[0] * words));
    for (int64_t n = 0; n < s[0]; n += block)
        for (int64_t q = 0; q < words; ++q)
            for (int64_t k = n; k < n + block; ++k) {
                std::array<int8_t, kWordBytes> word{};
                const auto row = w.begin() + k * s[1];
                std::copy(row + q * kWordBytes, row + std::min((q + 1) * kWordBytes, s[1]),
                          word.begin());
                out.push_back(quad(word));
            }
    return Tensor::of(kInt32, {s[0] / block, words, block}, out);
}

Tensor zeroPointShare(const Tensor& weight, int64_t zeroPoint, std::vector<int64_t> shape)
{
    const auto w = weight.as<int8_t>();
    const auto channels = static_cast<size_t>(weight.shape()[0]);
    const size_t each = channels == 0 ? 0 : w.size() / channels;
    std::vector<int32_t> out;
    for (size_t o = 0; o < channels; ++o) {
        int64_t sum = 0;
        for (size_t i = 0; i < each; ++i) sum += w[o * each + i];
        out.push_back(static_cast<int32_t>(-zeroPoint * sum));
    }
    return Tensor::of(kInt32, std::move(shape), out);
}

} // namespace tenon::compiler
