// SPDX-License-Identifier: Apache-2.0
// Layers that many architectures of the zoo share, as exporters write them.
#pragma once

#include "tests/zoo/model_builder.h"

namespace tenon::test {

enum class Activation
{
    None,
    Elu,
    Gelu, ///< by Erf, as opsets below 20 have it
    HardSwish,
    LeakyRelu,
    Relu,
    Relu6,
    Silu
};

std::string activation(ModelBuilder& b, const std::string& scope, const std::string& x,
                       Activation kind);

/// Convolution, batch normalization, activation under scope/{0,1,2}.
std::string convBn(ModelBuilder& b, const std::string& scope, const std::string& x,
                   const ConvSpec& spec, Activation kind = Activation::None);
/// A convolution of each channel by itself.
ConvSpec depthwiseSpec(int64_t channels, int64_t kernel, int64_t stride, int64_t dilation = 1);

/// A convolution's transpose, all axes alike; `rank` axes.
struct TransposedSpec
{
    int64_t inputs = 0;
    int64_t outputs = 0;
    int64_t kernel = 4;
    int64_t stride = 2;
    int64_t pad = 1;
    int64_t outputPad = 0;
    int64_t groups = 1;
    bool hasBias = false;
    size_t rank = 2;
};
std::string convTranspose(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const TransposedSpec& spec);

/// x W + b on the last axis of a tensor of any rank.
std::string linear(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                   int64_t outputs);
/// LayerNormalization of the last axis (opset 17).
std::string layerNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t width);
std::string reshape(ModelBuilder& b, const std::string& scope, const std::string& x,
                    const Dims& shape);
std::string transpose(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const Dims& order);
std::string concat(ModelBuilder& b, const std::string& scope, const std::vector<std::string>& parts,
                   int64_t axis = 1);
/// Parts of `sizes` along `axis`.
std::vector<std::string> split(ModelBuilder& b, const std::string& scope, const std::string& x,
                               const Dims& sizes, int64_t axis = 1);
std::string maxPool(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t kernel,
                    int64_t stride, int64_t pad);
/// By a whole factor; `mode` is "nearest" or "linear".
std::string upsample(ModelBuilder& b, const std::string& scope, const std::string& x, float factor,
                     const std::string& mode);

/// Weighs channels by a small network of their means.
struct SqueezeSpec
{
    int64_t channels = 0;
    int64_t squeezed = 0;
    Activation inner = Activation::Relu;
    bool isHard = false; ///< HardSigmoid rather than Sigmoid
};
std::string squeezeExcite(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const SqueezeSpec& spec);

/// Multi-head attention of [batch, length, width]; `mask` (a tensor that is added to the scores)
/// may be empty.
struct AttentionSpec
{
    int64_t batch = 1;
    int64_t length = 0;
    int64_t width = 0;
    int64_t heads = 1;
    std::string mask = {};
};
std::string selfAttention(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const AttentionSpec& spec);
/// Softmax(query key^T / sqrt(size of a head) + mask) value of [batch, heads, length, head].
std::string attend(ModelBuilder& b, const std::string& scope, const std::vector<std::string>& qkv,
                   int64_t headSize, const std::string& mask);

} // namespace tenon::test
