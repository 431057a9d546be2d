// SPDX-License-Identifier: Apache-2.0
// One form after the other; every change says in its reason what was chosen and why.
#include "compiler/passes/layout/float_convolution_layout.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/strassen.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/layout_costs.h"
#include "compiler/passes/layout/strassen_choice.h"
#include "compiler/passes/rewrite.h"
#include "compiler/schedule/rules/register_tile.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The block in which a convolution reads a value; 1: as it is.
int64_t blockRead(const FloatConvolutionSite& site, ValueRef value)
{
    const int64_t block = site.values.blockOf(value);
    return std::max<int64_t>(1, block != 0 ? block : site.plan.block(value));
}

/// "<form>, NCHW8c to NCHW16c, 3.1e-06 of the largest result by rounding".
void explain(const FloatConvolutionSite& site, const char* rule, const std::string& form)
{
    site.values.explain(
        rule, site.plan.weighed(form + site.budget.shareText(site.node.id), {site.node.id, 0}));
}

std::string betweenLayouts(const ChannelBlocks& blocks)
{
    return ", " + blockedLayout(blocks.in) + " to " + blockedLayout(blocks.out);
}

void alterToHalves(const FloatConvolutionSite& site, const ConvolutionSize& size,
                   const ChannelBlocks& blocks)
{
    const NodeRecord& node = site.node;
    const std::string layout = halvedKernelLayout(size, blocks, site.machine);
    NodeRecord record = node;
    record.op = strassenConv2dNchwcOp.name;
    record.attrs = {{"data_layout", blockedLayout(blocks.in)},
                    {"kernel_layout", layout},
                    {"out_layout", blockedLayout(blocks.out)},
                    {"kernel_size", std::vector<int64_t>{1, 1}},
                    {"products", kHalvedProducts}};
    explain(site, "strassen-conv",
            "seven products of halves for eight, expected relative error " +
                errorText(strassenError(size)) + betweenLayouts(blocks));
    record.operands = {site.values.blocked(node.operands[0], blocks.in),
                       site.values.halvedWeight(node.operands[1], layout)};
    site.values.produce(node, std::move(record), blocks.out);
}

void alterToWinograd(const FloatConvolutionSite& site, const WinogradTile& tile,
                     const ChannelBlocks& blocks)
{
    const NodeRecord& node = site.node;
    const ConvolutionSize size = *winogradSize(site.module, node);
    const WinogradForm form = winogradForm(size, site.machine, tile);
    const std::string layout = winogradKernelLayout(form, size.phases() * size.inChannels, blocks,
                                                    site.machine.facts.l1Bytes);
    NodeRecord record = node;
    record.op = winogradConv2dNchwcOp.name;
    if (size.groups == 1) record.attrs.erase("groups");
    record.attrs.set("tile_size", std::vector<int64_t>{tile.rows, tile.columns});
    record.attrs.set("kernel_size", std::vector<int64_t>{size.kernel[0], size.kernel[1]});
    record.attrs.set("data_layout", blockedLayout(blocks.in));
    record.attrs.set("kernel_layout", layout);
    record.attrs.set("out_layout", blockedLayout(blocks.out));
    explain(site, "winograd-conv", winogradReason(form, size) + betweenLayouts(blocks));
    record.operands = {site.values.blocked(node.operands[0], blocks.in),
                       site.values.winogradWeight(node.operands[1], form, size.stride, layout)};
    site.values.produce(node, std::move(record), blocks.out);
}

void alterDirectly(const FloatConvolutionSite& site, const BlockableConvolution& conv,
                   const ChannelBlocks& blocks)
{
    const NodeRecord& node = site.node;
    const std::string layout = "OIHW" + std::to_string(conv.isDepthwise ? 1 : blocks.in) + "i" +
                               std::to_string(blocks.most) + "o";
    NodeRecord record = node;
    record.op = (conv.isDepthwise ? depthwiseConv2dNchwcOp : conv2dNchwcOp).name;
    record.attrs.set("data_layout", blockedLayout(blocks.in));
    record.attrs.set("kernel_layout", layout);
    record.attrs.set("out_layout", blockedLayout(blocks.out));
    explain(site, "block-conv",
            std::to_string(conv.inChannels) + " to " + std::to_string(conv.outChannels) +
                " channels as " + blockedLayout(blocks.in) + ", " + layout + ", " +
                blockedLayout(blocks.out));
    record.operands = {site.values.blocked(node.operands[0], blocks.in),
                       site.values.packedWeight(node.operands[1], "OIHW", layout)};
    site.values.produce(node, std::move(record), blocks.out);
}

/// Of the convolutions that share this one's weight, which is packed once for all of them.
int64_t mostPositions(const FloatConvolutionSite& site, const BlockableConvolution& conv)
{
    int64_t most = conv.positions();
    for (const NodeId id : site.uses.users(site.node.operands[1].node)) {
        const NodeRecord& user = site.module.node(id);
        if (user.op != site.node.op || user.operands[1] != site.node.operands[1]) continue;
        const auto other = blockableConvolution(site.module, user);
        if (other) most = std::max(most, other->positions());
    }
    return most;
}

} // namespace

bool alterFloatConvolution(const FloatConvolutionSite& site)
{
    const NodeRecord& node = site.node;
    const int64_t outBlock = site.plan.block({node.id, 0});
    const auto conv = blockableConvolution(site.module, node);
    if (!conv || outBlock == 0) return false;
    const int64_t inBlock = conv->isDepthwise ? outBlock : blockRead(site, node.operands[0]);
    const int64_t inPerGroup = conv->inChannels / conv->groups;
    if (conv->groups > 1 && !conv->isDepthwise && (inBlock == 1 || inPerGroup % inBlock != 0))
        return false;
    const int64_t filters = conv->outChannels / conv->groups;
    const auto blocksWith = [&](bool mayLeaveRest) {
        return ChannelBlocks{inBlock, outBlock,
                             conv->isDepthwise
                                 ? outBlock
                                 : floatWeightBlock(filters, outBlock, mostPositions(site, *conv),
                                                    mayLeaveRest, site.machine.facts)};
    };
    // Its products have tiles of their own, which may be wider where registers are many.
    const auto winogradBlocks = [&] {
        ChannelBlocks blocks = blocksWith(false);
        if (hasLargeTiles(site.machine.facts)) blocks.most = weightBlock(filters, outBlock);
        return blocks;
    };
    const WinogradTile tile =
        conv->isDepthwise || inBlock == 1 ? WinogradTile{} : site.budget.tile(node.id);
    const auto halved = tile.isHalves() ? halvedSize(site.module, node) : std::nullopt;
    if (halved && fitsHalves(*halved, blocksWith(false)))
        alterToHalves(site, *halved, blocksWith(false));
    else if (tile.isDirect() || tile.isHalves())
        alterDirectly(site, *conv, blocksWith(conv->groups == 1));
    else
        alterToWinograd(site, tile, winogradBlocks());
    return true;
}

} // namespace tenon::compiler
