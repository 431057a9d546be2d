// SPDX-License-Identifier: Apache-2.0
// The blocked forms of quantized layers.
#include "compiler/passes/layout/quantized_layout.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/quantization.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/joined_rows.h"
#include "compiler/passes/layout/packed_weights.h"
#include "compiler/passes/layout/quantized_groups.h"
#include "compiler/passes/layout/quantized_winograd.h"
#include "compiler/passes/quantize/integer_phases.h"
#include "core/target/byte_products.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Operands that a packed layer needs: the constant weight and the zero point of the data.
struct LayerConstants
{
    const Tensor* weight;
    int64_t zero;
    ValueRef computedZero; ///< one number that a run decides, as after DynamicQuantizeLinear
};

std::optional<LayerConstants> constantsOf(const QuantizedLayerSite& site)
{
    const Module& module = site.module;
    const NodeRecord& node = site.node;
    const Tensor* weight = constantOf(module, node.operands[1]);
    if (!weight || weight->dtype() != kInt8 || module.type(node.operands[0]).dtype != site.bytes)
        return std::nullopt;
    const auto operand = [&](size_t i) {
        return i < node.operands.size() ? node.operands[i] : ValueRef{};
    };
    if (operand(3).node.isValid()) {
        const Tensor* zeros = constantOf(module, operand(3));
        if (!zeros) return std::nullopt;
        for (int64_t i = 0; i < zeros->size(); ++i)
            if (zeros->integer(i) != 0) return std::nullopt;
    }
    if (!operand(2).node.isValid()) return LayerConstants{weight, 0, {}};
    if (const auto zero = scalarOf(module, operand(2)))
        return LayerConstants{weight, static_cast<int64_t>(*zero), {}};
    const auto shape = knownShape(module, operand(2));
    if (constantOf(module, operand(2)) || !shape || elementCount(*shape) != 1) return std::nullopt;
    return LayerConstants{weight, 0, operand(2)};
}

/// What matters where values are signed: two products of -128 and -128 do not fit 16 bits, and
/// -128 has no other sign.
Attrs withWeightFacts(const QuantizedLayerSite& site, const Tensor& quads, Attrs attrs)
{
    if (site.bytes != kInt8 || quads.dtype() != kInt32) return attrs;
    const auto all = quads.as<int32_t>();
    const bool isNarrow = std::all_of(all.begin(), all.end(), [](int32_t quad) {
        bool hasLeast = false;
        for (int byte = 0; byte < 4; ++byte)
            hasLeast = hasLeast || static_cast<int8_t>(quad >> (8 * byte)) == -128;
        return !hasLeast;
    });
    if (isNarrow) attrs.set("narrow_weight", int64_t{1});
    return attrs;
}

/// The node's id stays with the sum of `layer` and what the zero point takes away.
NodeRecord corrected(const QuantizedLayerSite& site, ValueRef layer, ValueRef share)
{
    NodeRecord add = site.node;
    add.op = addOp.name;
    add.attrs = {};
    add.operands = {layer, share};
    return add;
}

/// The operands and attributes of a dense convolution on quads.
struct PackedConvolution
{
    ValueRef data;
    Tensor weight; ///< [O, C, KH, KW] as the quads hold it
    int64_t channels;
    int64_t inBlock;
    Attrs attrs;
};

/// Lanes of 16 bits multiply signed bytes as they are; dot products take four rows at once.
Tensor depthwiseWeight(const QuantizedLayerSite& site, const Tensor& weight, int64_t block)
{
    return site.bytes == kInt8 ? blockedDepthwiseWeight(weight, block)
                               : packedDepthwiseWeight(weight, block);
}

/// One channel: the columns of the window are packed, which leaves a window of one column.
PackedConvolution byColumns(const QuantizedLayerSite& site, const LayerConstants& constants,
                            Attrs attrs)
{
    const std::vector<int64_t> s = constants.weight->shape();
    std::vector<int64_t> strides = attrs.integers("strides", {1, 1});
    std::vector<int64_t> dilation = attrs.integers("dilation", {1, 1});
    std::vector<int64_t> padding = attrs.integers("padding", {0, 0, 0, 0});
    const ValueRef quads =
        site.patch.op(qnnPackColumnsOp, {site.values.plain(site.node.operands[0])},
                      {{"columns", s[3]},
                       {"stride", strides[1]},
                       {"dilation", dilation[1]},
                       {"pad_before", padding[1]},
                       {"pad_after", padding[3]},
                       {"pad_value", constants.zero}});
    strides[1] = dilation[1] = 1;
    padding[1] = padding[3] = 0;
    attrs.set("strides", strides);
    attrs.set("dilation", dilation);
    attrs.set("padding", padding);
    // [O, 1, KH, KW] -> [O, KW, KH, 1]
    Tensor weight = Tensor::make(kInt8, {s[0], s[3], s[2], 1}, [&](std::span<std::byte> bytes) {
        for (int64_t o = 0; o < s[0]; ++o)
            for (int64_t y = 0; y < s[2]; ++y)
                for (int64_t x = 0; x < s[3]; ++x)
                    storeInteger(kInt8, bytes, (o * s[3] + x) * s[2] + y,
                                 constants.weight->integer((o * s[2] + y) * s[3] + x));
    });
    return {quads, std::move(weight), (s[3] + 3) / 4 * 4, 4, std::move(attrs)};
}

/// Of the data's channels, in whole words: as they lie, where that is possible.
int64_t blockOfWords(const QuantizedLayerSite& site, int64_t channels)
{
    const int64_t has = site.values.blockOf(site.node.operands[0]);
    const bool isReadable = has > 0 && has % kWordBytes == 0 && channels % has == 0;
    return isReadable ? has : channelBlock(channels, site.lanes);
}

PackedConvolution packedConvolution(const QuantizedLayerSite& site, const LayerConstants& constants,
                                    int64_t channels, Attrs attrs)
{
    const ValueRef data = site.node.operands[0];
    const int64_t words = inWords(channels);
    if (words > channels && site.bytes == kInt8) attrs.set("packed_dtype", kInt8);
    if (channels == 1) return byColumns(site, constants, std::move(attrs));
    if (words > channels)
        return {site.patch.op(qnnPackChannelsOp, {site.values.plain(data)}), *constants.weight,
                words, kWordBytes, std::move(attrs)};
    const int64_t block = blockOfWords(site, channels);
    return {site.values.blocked(data, block), *constants.weight, channels, block, std::move(attrs)};
}

/// Channels side by side are multiplied as they lie; few of them one at a time, with vectors of
/// filters.
ValueRef convolutionOfRuns(const QuantizedLayerSite& site, const Tensor& weight, Attrs attrs)
{
    const ValueRef data = site.node.operands[0];
    const int64_t block = channelBlock(weight.shape()[1], site.lanes);
    attrs.set("weight_runs", int64_t{block > 0 ? 1 : 0});
    const Tensor packed = block > 0 ? runsOfWeight(weight, block) : weightByFilter(weight);
    return site.patch.op(
        qnnConv2dNchwcOp,
        {site.values.blocked(data, std::max<int64_t>(1, block)), site.patch.constant(packed)},
        withWeightFacts(site, packed, std::move(attrs)));
}

ValueRef depthwiseOf(const QuantizedLayerSite& site, const Tensor& weight, int64_t block,
                     Attrs attrs)
{
    attrs.set("kernel_rows", weight.shape()[2]);
    return site.patch.op(qnnDepthwiseConv2dNchwcOp,
                         {site.values.blocked(site.node.operands[0], block),
                          site.patch.constant(depthwiseWeight(site, weight, block))},
                         std::move(attrs));
}

/// Filters side by side. Five vectors are one block where copies of data are loaded for each (20
/// channels on a Cortex-A72: 39 instructions for 160 products in place of 41 for 128).
int64_t filtersAtOnce(int64_t filters, int64_t block, const TargetFacts& facts)
{
    constexpr int64_t kFive = 5;
    const bool loadsCopies = facts.hasHalfLanes && !hasByteDots(facts);
    return loadsCopies && filters == kFive * block ? filters : weightBlock(filters, block);
}

ValueRef convolutionOfRows(const QuantizedLayerSite& site, const Tensor& weight,
                           const RowBlocks& blocks, const Attrs& attrs)
{
    const ValueRef data = site.values.blocked(site.node.operands[0], blocks.in);
    JoinedRows rows = joinedRows(weight, blocks, attrs);
    return site.patch.op(qnnConv2dNchwcOp, {data, site.patch.constant(rows.weight)},
                         withWeightFacts(site, rows.weight, std::move(rows.attrs)));
}

/// Four channels of each group are multiplied at once.
ValueRef convolutionOfQuads(const QuantizedLayerSite& site, const LayerConstants& constants,
                            int64_t outBlock, const Attrs& attrs)
{
    const std::vector<int64_t>& shape = constants.weight->shape();
    const int64_t outChannels = shape[0] / attrs.integer("groups", 1);
    const WordsOfRows words{site.values.blockOf(site.node.operands[0]), site.lanes, site.facts};
    if (const int64_t block = joinedBlock(shape, words, attrs); block > 0)
        return convolutionOfRows(site, *constants.weight,
                                 {block, weightBlock(outChannels, outBlock)}, attrs);
    PackedConvolution packed = packedConvolution(site, constants, shape[1], attrs);
    const Tensor weight = packedConvWeight(packed.weight, packed.channels, packed.inBlock,
                                           filtersAtOnce(outChannels, outBlock, site.facts));
    return site.patch.op(qnnConv2dNchwcOp, {packed.data, site.patch.constant(weight)},
                         withWeightFacts(site, weight, std::move(packed.attrs)));
}

std::string inIntegers(const WinogradTile& tile) { return tilesText(tile) + " in integers"; }

/// The tile of a convolution that Winograd's method computes in integers and in fewer cycles.
IntegerTile tileOf(const QuantizedLayerSite& site, const LayerConstants& constants, int64_t groups)
{
    const std::vector<int64_t> ones{1, 1};
    const core::Attrs& attrs = site.node.attrs;
    const std::vector<int64_t>& weight = constants.weight->shape();
    Shape shape = site.node.types[0].shape;
    if (!shape[0].isConst()) shape[0] = Dim(1); // computed item by item
    const auto out = constantShape(shape);
    const bool isPossible =
        site.mayTransform && out && groups == 1 && attrs.integers("dilation", ones) == ones;
    if (!isPossible) return {};
    const std::vector<int64_t> strides = attrs.integers("strides", ones);
    const std::array<int64_t, 2> stride{strides.at(0), strides.at(1)};
    const int64_t reach = site.bytes == kInt8 ? 128 : 255;
    // Smaller tiles hold larger sums.
    const auto isExact = [&](const WinogradTile& tile) {
        return isExactByWinograd(*constants.weight, {tile, stride}, reach);
    };
    const ConvolutionSize size{.batch = (*out)[0],
                               .inChannels = weight[1],
                               .outChannels = weight[0],
                               .rows = (*out)[2],
                               .columns = (*out)[3],
                               .kernel = {weight[2], weight[3]},
                               .stride = stride};
    const WinogradTile tile = integerForm(size, site.facts, isExact).tile;
    return tile.isDirect() ? IntegerTile{} : IntegerTile{tile, stride};
}

/// Points of filters times points of data.
ValueRef convolutionOfPoints(const QuantizedLayerSite& site, const Tensor& weight,
                             const IntegerTile& tile, int64_t outBlock, Attrs attrs)
{
    attrs.set("tile", std::vector<int64_t>{tile.tile.rows, tile.tile.columns});
    attrs.set("kernel_size", std::vector<int64_t>{weight.shape()[2], weight.shape()[3]});
    const ValueRef data = site.node.operands[0];
    const int64_t block = blockOfWords(site, weight.shape()[1]);
    const Tensor points =
        winogradWeightOfBytes(weight, tile, block, weightBlock(weight.shape()[0], outBlock));
    const bool arePairs = addsPairsOfHalves(site.facts);
    return site.patch.op(qnnWinogradConv2dNchwcOp,
                         {site.values.blocked(data, block),
                          site.patch.constant(arePairs ? inPairs(points) : points)},
                         std::move(attrs));
}

bool alterQuantizedConvolution(const QuantizedLayerSite& site)
{
    const NodeRecord& node = site.node;
    const auto constants = constantsOf(site);
    const TensorType& data = site.module.type(node.operands[0]);
    // Padding with a number that a run decides is not in the kernels; only the batch may be
    // unknown.
    if (!constants || constants->computedZero.node.isValid() ||
        !constantShape({data.shape.begin() + 1, data.shape.end()}))
        return false;
    const int64_t inChannels = data.shape[1].value(), outChannels = node.types[0].shape[1].value();
    const int64_t groups = node.attrs.integer("groups", 1);
    const bool isDepthwise = groups > 1 && groups == inChannels && groups == outChannels;
    const auto joined = isDepthwise || groups == 1
                            ? std::optional<int64_t>(1)
                            : joinedGroups({groups, inChannels, outChannels, site.lanes,
                                            site.vectorLanes, site.hasRuns});
    const int64_t outBlock = byteBlock(outChannels / joined.value_or(1), site.lanes, site.facts);
    if (!joined || outBlock == 0) return false;

    Attrs attrs = node.attrs;
    attrs.erase("groups");
    if (*joined > 1) attrs.set("groups", *joined);
    attrs.set("pad_value", constants->zero);
    if (!isDepthwise) attrs.set("out_layout", blockedLayout(outBlock));
    const IntegerTile tile = tileOf(site, *constants, groups);
    const bool byWinograd = !tile.tile.isDirect();
    site.values.explain("block-quantized-conv",
                        std::to_string(inChannels) + " to " + std::to_string(outChannels) +
                            " channels as " + blockedLayout(outBlock) +
                            (byWinograd ? ", " + inIntegers(tile.tile) : ", weights by four"));
    const Tensor weight =
        isDepthwise ? *constants->weight : joinedWeight(*constants->weight, groups, *joined);
    const ValueRef layer =
        isDepthwise    ? depthwiseOf(site, weight, outBlock, std::move(attrs))
        : byWinograd   ? convolutionOfPoints(site, weight, tile, outBlock, std::move(attrs))
        : site.hasRuns ? convolutionOfRuns(site, weight, std::move(attrs))
                       : convolutionOfQuads(site, {&weight, constants->zero}, outBlock, attrs);
    const ValueRef share = site.patch.constant(zeroPointShare(
        *constants->weight, constants->zero, {outChannels / outBlock, 1, 1, outBlock}));
    site.values.produce(node, corrected(site, layer, share), outBlock);
    return true;
}

/// Rows of whole words: what they are short of is zero.
ValueRef rowsOfWords(const QuantizedLayerSite& site, int64_t length)
{
    const ValueRef data = site.values.plain(site.node.operands[0]);
    const int64_t missing = inWords(length) - length;
    if (missing == 0) return data;
    std::vector<int64_t> width(2 * site.module.type(site.node.operands[0]).shape.size());
    width.back() = missing;
    return site.patch.op(padOp, {data}, {{"pad_width", std::move(width)}});
}

bool alterQuantizedDense(const QuantizedLayerSite& site)
{
    const NodeRecord& node = site.node;
    const auto constants = constantsOf(site);
    if (!constants) return false;
    const std::vector<int64_t>& shape = constants->weight->shape();
    const DenseLayer form =
        denseLayer(site.module.type(node.operands[0]).shape, *constants->weight);
    const int64_t block = site.hasRuns            ? 1
                          : shape[0] < site.lanes ? channelBlock(shape[0], site.lanes)
                                                  : denseBlock(form, site.lanes, site.facts);
    if (block == 0 || shape[1] == 0) return false;
    site.values.explain("pack-quantized-dense", std::to_string(shape[0]) +
                                                    " outputs in blocks of " +
                                                    std::to_string(block) + ", weights by four");
    const Tensor weight = packedDenseWeight(*constants->weight, block);
    const ValueRef layer =
        site.patch.op(qnnDensePackOp, {rowsOfWords(site, shape[1]), site.patch.constant(weight)},
                      withWeightFacts(site, weight, {}));
    ValueRef share;
    if (const ValueRef computed = constants->computedZero; computed.node.isValid())
        share = site.patch.op(
            multiplyOp, {site.patch.op(castOp, {computed}, {{"dtype", kInt32}}),
                         site.patch.constant(zeroPointShare(*constants->weight, 1, {shape[0]}))});
    else
        share =
            site.patch.constant(zeroPointShare(*constants->weight, constants->zero, {shape[0]}));
    site.patch.change(corrected(site, layer, share));
    return true;
}

/// A function of one byte as a table: looked up for each element, in whatever blocks they lie.
bool alterTable(const QuantizedLayerSite& site)
{
    const NodeRecord& node = site.node;
    const int64_t block = site.values.blockOf(node.operands[1]);
    if (block == 0 || site.module.type(node.operands[0]).shape.size() != 1 ||
        node.types[0].shape.size() != 4)
        return false;
    NodeRecord record = node;
    record.operands[1] = site.values.blockedForm(node.operands[1]);
    site.values.explain("keep-blocked", "looks up each element of " + blockedLayout(block));
    site.values.produce(node, std::move(record), block);
    return true;
}

} // namespace

void noteScales(const Module& module, NodeRecord& node)
{
    if (!isOp(node, qnnRequantizeOp)) return;
    for (size_t k = 1; k < node.operands.size(); ++k) {
        const ValueRef operand = node.operands[k];
        if (!operand.node.isValid() || module.type(operand).dtype != kFloat32) continue;
        const Tensor* numbers = constantOf(module, operand);
        if (!numbers) return;
        for (int64_t i = 0; i < numbers->size(); ++i)
            if (!(std::abs(numbers->number(i)) <= 0.5)) return;
    }
    node.attrs.set(std::string(kSmallScaleAttr), int64_t{1});
}

bool hasFineSteps(const Module& module, const GraphFunction& function)
{
    return std::any_of(function.order.begin(), function.order.end(), [&](NodeId id) {
        const NodeRecord& node = module.node(id);
        return isOp(node, qnnQuantizeOp) && node.types.at(0).dtype.bits > 8;
    });
}

bool alterQuantizedLayer(const QuantizedLayerSite& site)
{
    if (isOp(site.node, qnnConv2dOp)) return alterQuantizedConvolution(site);
    if (isOp(site.node, takeOp)) return alterTable(site);
    return isOp(site.node, qnnDenseOp) && alterQuantizedDense(site);
}

} // namespace tenon::compiler
