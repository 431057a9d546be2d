// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_NCHWc: convolution of data whose channels come in blocks of vector length.
#include "compiler/ops/blocked_conv.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Results per point from which on it is faster to take the points first (AVX2, 32 to 64 channels
/// of 56 x 56: 96 against 84 us; 1024 to 2048 of 7 x 7: 2.6 against 3.8 ms).
constexpr int64_t kManyResults = 128;

struct Geometry
{
    Window window;
    int64_t inBlock;
    int64_t outBlock;
    int64_t kernelBlock; ///< output channels per kernel block, a multiple of outBlock
    int64_t groups = 1;
};

Result<Geometry> geometry(const OpView& op)
{
    const auto layouts = readBlockedLayouts(op);
    if (!layouts) return layouts.error();
    const auto& [data, out, kernel] = *layouts;
    const Geometry blocks{{}, data.block('C'), out.block('C'), kernel.block('O')};
    const std::string wanted =
        "OIHW" + std::to_string(blocks.inBlock) + "i" + std::to_string(blocks.kernelBlock) + "o";
    if (kernel.text() != wanted || blocks.kernelBlock % blocks.outBlock != 0 || data.rank() != 5 ||
        out.rank() != 5)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot combine the layouts " + data.text() + ", " + kernel.text() +
                           " and " + out.text() +
                           "; the kernel is OIHW<i>i<o>o with i the data's block and o a "
                           "multiple of the result's");
    const auto weight = constantShape(op.operands[1].shape);
    const Shape& shape = op.operands[0].shape;
    const int64_t groups = intAttr(op, "groups");
    if (!weight || (*weight)[4] != blocks.inBlock || (*weight)[5] != blocks.kernelBlock ||
        !(shape[4] == Dim(blocks.inBlock)) || !(shape[1] == Dim((*weight)[1] * groups)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "has the layouts " + data.text() + " and " + kernel.text() +
                           " but the operands are " + op.operands[0].text() + " and " +
                           op.operands[1].text());
    if (groups < 1 || (*weight)[0] % groups != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "has " + std::to_string(groups) + " groups but " +
                           std::to_string((*weight)[0]) + " kernel blocks; none is of two groups");
    auto window = readWindow(op, {(*weight)[2], (*weight)[3]});
    if (!window) return window.error();
    return Geometry{*std::move(window), blocks.inBlock, blocks.outBlock, blocks.kernelBlock,
                    groups};
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    return inferBlockedConv(op, {g->window, g->outBlock, {}}, op.operands[0].dtype);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    Window window = g->window;
    te::TensorRef data;
    if (skipsPoints(window) && out[1] * out[4] >= kManyResults) {
        data = pointsOfWindow(in[0], 2, window, {out[2], out[3]});
        window.stride = {1, 1};
    } else {
        data = padForWindow(in[0], 2, window, {out[2], out[3]}, tir::zeroOf(in[0]->dtype()));
    }
    const std::vector<int64_t> weight = constants(op.operands[1].shape);
    // Blocks of a group's results and data.
    const int64_t results = weight[0] / g->groups * (g->kernelBlock / g->outBlock);
    const auto dataBlock = [&](const Exprs& i, const Exprs& k) {
        return g->groups == 1 ? k[0] : floorDiv(i[1], Expr(results)) * Expr(weight[1]) + k[0];
    };
    const auto product = [&](const Exprs& i, const Exprs& k, const Expr& filter) {
        return te::at(data, {i[0], dataBlock(i, k), windowIndex(window, 0, i[2], k[1]),
                             windowIndex(window, 1, i[3], k[2]), k[3]}) *
               filter;
    };
    return lowerBlockedConv(op, in[1], {window, g->outBlock, "ic_inner"}, product);
}

Cost cost(const OpView& op) { return blockedConvCost(op, 2); }

CallMethod variant(const OpView& op) { return {.kind = directMethod(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N, C/i, H, W, i]"},
                                     {"weight", "[O/o, C/groups/i, KH, KW, i, o]"}};
constexpr AttrSpec kAttrs[] = {
    kStridesAttr,
    kZeroPaddingAttr,
    kDilationAttr,
    {"groups", "int", "independent convolutions; a kernel block is of one", "1"},
    {"data_layout", "string", "NCHW<i>c"},
    {"kernel_layout", "string", "OIHW<i>i<o>o"},
    {"out_layout", "string", "NCHW<b>c; o is a multiple of b"}};

} // namespace

extern constinit const OpDef conv2dNchwcOp = {
    .name = "nn.contrib_conv2d_NCHWc",
    .doc = "nn.conv2d of blocked data and weight: channel c is [c / i, .., c % i]",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 6, 6, 4), float32], %w: Tensor[(1, 2, 3, 3, 4, 16), float32] "
               "=> nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
               "kernel_layout=\"OIHW4i16o\", out_layout=\"NCHW8c\", padding=[1, 1, 1, 1])",
};

} // namespace tenon::compiler
