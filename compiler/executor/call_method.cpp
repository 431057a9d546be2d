// SPDX-License-Identifier: Apache-2.0
// One line for each operator that can be done in more than one way.
#include "compiler/executor/call_method.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::compiler {

using namespace core;

namespace {

struct Way
{
    std::string_view op;
    std::string_view text;
};

constexpr std::array kWays = {Way{"nn.contrib_conv2d_NCHWc", "direct"},
                              Way{"qnn.contrib_conv2d_NCHWc", "direct int8"},
                              Way{"nn.contrib_depthwise_conv2d_NCHWc", "depthwise"},
                              Way{"qnn.contrib_depthwise_conv2d_NCHWc", "depthwise int8"},
                              Way{"nn.conv2d", "plain loops"},
                              Way{"nn.conv", "plain loops"},
                              Way{"nn.conv2d_transpose", "plain loops"},
                              Way{"qnn.conv2d", "plain loops int8"},
                              Way{"nn.contrib_dense_pack", "packed GEMM"},
                              Way{"qnn.contrib_dense_pack", "packed GEMM int8"},
                              Way{"nn.dense", "GEMM"},
                              Way{"qnn.dense", "GEMM int8"},
                              Way{"nn.matmul", "GEMM"},
                              Way{"nn.attention", "fused attention"},
                              Way{"nn.linear_attention", "linear attention"}};

/// Of a blocked convolution, whose weight is [O/o, I/i, KH, KW, ...].
bool isPointwise(const Module& module, const NodeRecord& node)
{
    const Shape& weight = module.type(node.operands[1]).shape;
    return weight.size() == 6 && weight[2] == Dim(1) && weight[3] == Dim(1);
}

} // namespace

std::string methodOf(const Module& module, const std::vector<NodeId>& members)
{
    for (const NodeId id : members) {
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Op) continue;
        if (node.op == "nn.contrib_conv2d_winograd_NCHWc") {
            const std::string m = std::to_string(node.attrs.integer("tile_size", 0));
            return "Winograd F(" + m + "x" + m + ",3x3)";
        }
        const auto way = std::find_if(kWays.begin(), kWays.end(),
                                      [&](const Way& each) { return each.op == node.op; });
        if (way == kWays.end()) continue;
        const bool isBlocked = node.op.ends_with("contrib_conv2d_NCHWc");
        if (!isBlocked || !isPointwise(module, node)) return std::string(way->text);
        return "direct 1x1" + std::string(way->text.substr(std::string_view("direct").size()));
    }
    return {};
}

} // namespace tenon::compiler
