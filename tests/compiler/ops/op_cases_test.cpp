// SPDX-License-Identifier: Apache-2.0
// Golden cases: shape rule, values and errors of the operators, one file per source file.
#include "tests/compiler/ops/op_case.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

constexpr const char* kFiles[] = {
    "arange",
    "arg_reduce",
    "attention",
    "batch_norm",
    "bias_add",
    "binary",
    "bind_dims",
    "broadcast_to",
    "cast",
    "clip",
    "concatenate",
    "conv",
    "conv2d",
    "conv2d_nchwc",
    "conv2d_transpose",
    "cumulative",
    "dense",
    "det",
    "dilate",
    "dynamic_pad",
    "dynamic_reduce",
    "dynamic_slice",
    "einsum",
    "full",
    "gather",
    "global_pool2d",
    "gru",
    "layer_norm",
    "layout_transform",
    "leaky_relu",
    "linear_attention",
    "lstm",
    "matmul",
    "non_max_suppression",
    "nonzero",
    "pad",
    "pool2d",
    "qnn_binary",
    "qnn_conv2d",
    "qnn_conv2d_nchwc",
    "qnn_dense",
    "qnn_dense_pack",
    "qnn_depthwise_conv2d_nchwc",
    "qnn_pack_quads",
    "qnn_quantize",
    "qnn_requantize",
    "reduce",
    "reinterpret",
    "reshape",
    "resize2d",
    "rnn",
    "scatter",
    "shape_of",
    "sizes",
    "sliding_window",
    "softmax",
    "split",
    "strided_slice",
    "take",
    "tile",
    "topk",
    "transpose",
    "unary",
    "unique",
    "where",
    "winograd_conv2d_nchwc",
    "winograd_weight_transform",
};

class OpCases : public ::testing::TestWithParam<const char*>
{
};

TEST_P(OpCases, Hold)
{
    expectGolden("tests/compiler/ops/" + std::string(GetParam()) + ".txt",
                 [](const GoldenCase& one) { return runBody(one.input); });
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(kFiles),
                         [](const auto& param) { return std::string(param.param); });

} // namespace
} // namespace tenon::test
