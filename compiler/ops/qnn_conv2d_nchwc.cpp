// SPDX-License-Identifier: Apache-2.0
// qnn.contrib_conv2d_NCHWc: quantized convolution for dot-product instructions: channels in blocks,
// four input channels of a weight in one int32.
#include "compiler/ops/blocked_conv.h"
#include "compiler/ops/quads.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Data may hold its channels as bytes of blocks, or four in each int32 of [N, C/4, H, W].
bool isPacked(const TensorType& data) { return data.dtype == kInt32; }

struct Geometry
{
    Window window;
    std::vector<int64_t> weight; ///< [O/kb, I/ib, KH, KW, ib/4, kb], or [.., kb, ib/4]
    int64_t outBlock;
    int64_t groups;
    bool hasRuns;
    int64_t joinedColumns; ///< columns of the window in each row of words; 0: words are of a pixel
};

/// What one step of the sum takes of a block of channels.
int64_t channelsPerStep(const OpView& op) { return op.operands[1].dtype == kInt32 ? 4 : 1; }

constexpr int64_t kWord = 4;

/// Words that take so many bytes side by side.
int64_t wordsOf(int64_t bytes) { return (bytes + kWord - 1) / kWord; }

/// Where a word of them begins: the last one where it ends with them.
Expr wordOfRow(int64_t bytes, const Expr& word)
{
    const Expr begin = word * Expr(kWord);
    return bytes % kWord == 0 ? begin : minimum(begin, Expr(bytes - kWord));
}

/// Whether weight blocks of `inBlock` steps take the blocks of channels that data have.
bool readsBlocks(const OpView& op, const std::vector<int64_t>& weight, int64_t inBlock,
                 int64_t joinedColumns)
{
    const TensorType& data = op.operands[0];
    if (joinedColumns == 0)
        return Dim(channelsPerStep(op) * inBlock) == (isPacked(data) ? Dim(4) : data.shape[4]);
    if (isPacked(data) || channelsPerStep(op) != kWord || !data.shape[4].isConst()) return false;
    const int64_t bytes = joinedColumns * data.shape[4].value();
    return weight[3] == 1 && joinedColumns > 0 && bytes >= kWord && inBlock == wordsOf(bytes) &&
           op.attrs.integers("dilation", {1, 1}).back() == 1;
}

bool divides(int64_t a, int64_t b) { return a > 0 && b > 0 && (a % b == 0 || b % a == 0); }

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, isPacked(op.operands[0]) ? 4 : 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 6); !ok) return ok.error();
    const auto out = readDataLayout(op, "out_layout");
    if (!out) return out.error();
    const auto weight = constantShape(op.operands[1].shape);
    const TensorType& data = op.operands[0];
    const bool isByByte = isByte(data.dtype) && op.operands[1].dtype == kInt8;
    if ((!isByte(data.dtype) && !isPacked(data)) || (op.operands[1].dtype != kInt32 && !isByByte) ||
        !isByte(dtypeAttr(op, "packed_dtype")))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes 8-bit or packed data and weights packed into int32, or 8-bit ones, "
                       "but got " +
                           data.text() + " and " + op.operands[1].text());
    const int64_t outBlock = out->block('C');
    const bool hasRuns = intAttr(op, "weight_runs") != 0;
    const WeightBlock block =
        weight ? weightBlockOf(*weight, hasRuns) : WeightBlock{.in = 0, .out = 0};
    const int64_t groups = intAttr(op, "groups"), joined = intAttr(op, "joined_columns");
    if (!weight || out->rank() != 5 || groups < 1 ||
        !(data.shape[1] == Dim((*weight)[1] * groups)) ||
        !readsBlocks(op, *weight, block.in, joined) || !divides(block.out, outBlock) ||
        (*weight)[0] * block.out % outBlock != 0)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot combine " + data.text() + ", " + op.operands[1].text() + " and " +
                           out->text());
    const int64_t widest = std::max(block.out, outBlock);
    if ((*weight)[0] * block.out % (groups * widest) != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "has " + std::to_string(groups) + " groups of " +
                           std::to_string((*weight)[0] * block.out) + " channels in blocks of " +
                           std::to_string(widest) + "; none is of two groups");
    auto window = readWindow(op, {(*weight)[2], joined > 0 ? joined : (*weight)[3]});
    if (!window) return window.error();
    return Geometry{*std::move(window), *weight, outBlock, groups, hasRuns, joined};
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    return inferBlockedConv(op, {g->window, g->outBlock, {}, g->hasRuns}, kInt32);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    const bool isWhole = isPacked(op.operands[0]);
    const int64_t padding = intAttr(op, "pad_value");
    const int64_t fourTimes = static_cast<int32_t>(static_cast<uint8_t>(padding) * 0x01010101u);
    const DataType dtype = isWhole ? dtypeAttr(op, "packed_dtype") : op.operands[0].dtype;
    const te::TensorRef data =
        padForWindow(in[0], 2, g->window, {out[2], out[3]},
                     isWhole ? tir::intImm(fourTimes, kInt32) : tir::intImm(padding, dtype));
    const int64_t channels = isWhole ? kWord : op.operands[0].shape[4].value();
    // Blocks of a group's results and data.
    const int64_t results = out[1] / g->groups;
    const auto dataBlock = [&](const Exprs& i, const Exprs& k) {
        return g->groups == 1 ? k[0] : floorDiv(i[1], Expr(results)) * Expr(g->weight[1]) + k[0];
    };
    const auto product = [&](const Exprs& i, const Exprs& k, const Expr& weight) {
        const Expr row = windowIndex(g->window, 0, i[2], k[1]);
        const Expr column = windowIndex(g->window, 1, i[3], k[2]);
        if (channelsPerStep(op) == 1)
            return tir::cast(kInt32, te::at(data, {i[0], dataBlock(i, k), row, column, k[3]})) *
                   tir::cast(kInt32, weight);
        const auto byteOf = [&](int64_t byte) {
            if (g->joinedColumns == 0)
                return te::at(data,
                              {i[0], dataBlock(i, k), row, column, k[3] * Expr(4) + Expr(byte)});
            const Expr at = wordOfRow(g->joinedColumns * channels, k[3]) + Expr(byte);
            return te::at(data, {i[0], dataBlock(i, k), row, column + floorDiv(at, Expr(channels)),
                                 floorMod(at, Expr(channels))});
        };
        const Expr quad =
            isWhole ? te::at(data, {i[0], dataBlock(i, k), row, column}) : quadOf(4, byteOf);
        return dotOfQuads(quad, weight, {dtype, hasNarrowWeight(op)});
    };
    return lowerBlockedConv(
        op, in[1],
        {g->window, g->outBlock, channelsPerStep(op) == 4 ? "ic_quad" : "ic_inner", g->hasRuns},
        product);
}

Cost cost(const OpView& op)
{
    return blockedConvCost(op, 2.0 * static_cast<double>(channelsPerStep(op)));
}

CallMethod variant(const OpView& op) { return {.kind = directMethod(op), .isInt8 = true}; }

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/b, H, W, b], 8-bit integers; or [N, C/4, H, W], int32, and b is 4"},
    {"weight", "[O/k, C/groups/b, KH, KW, b/4, k]: int8 of channels 4q..4q+3 in one int32; or "
               "[O/k, C/groups/b, KH, KW, b, k], int8"}};
constexpr AttrSpec kAttrs[] = {
    kStridesAttr,
    {"padding", "int[4]", "added at top, left, bottom, right", "[0, 0, 0, 0]"},
    kDilationAttr,
    {"pad_value", "int", "what padding adds: the zero point of data", "0"},
    {"packed_dtype", "dtype", "type of the bytes of packed data", "uint8"},
    kNarrowWeightAttr,
    {"groups", "int", "independent convolutions; a block of results is of one", "1"},
    {"joined_columns", "int",
     "KW, at least 4 / b, of a weight [O/k, C/groups/b, KH, 1, ceil(KW * b / 4), k]: words of the "
     "bytes that a row of the window has side by side, the last word those at its end; 0: words "
     "are of one pixel",
     "0"},
    {"weight_runs", "int", "1: a filter's channels lie side by side, [.., k, b/4]", "0"},
    {"out_layout", "string", "layout of the result, NCHW<o>c; o divides k or k divides o"}};

} // namespace

extern constinit const OpDef qnnConv2dNchwcOp = {
    .name = "qnn.contrib_conv2d_NCHWc",
    .doc =
        "y[n, o, y, x] = sum over c, kh, kw of data[n, c, y*s - p + kh*d, ..] * weight[o, c, kh, "
        "kw] in int32, c and o blocked; zero points are the caller's to subtract",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 6, 6, 8), uint8], %w: Tensor[(1, 2, 3, 3, 2, 32), int32] "
               "=> qnn.contrib_conv2d_NCHWc(%x, %w, out_layout=\"NCHW16c\", pad_value=3, "
               "padding=[1, 1, 1, 1])",
};

} // namespace tenon::compiler
