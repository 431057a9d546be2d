// SPDX-License-Identifier: Apache-2.0
// nn.max_pool2d and nn.avg_pool2d: a window slides over both spatial axes.
#include "compiler/ops/symbols.h"
#include "compiler/ops/window.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Window> geometry(const OpView& op)
{
    const auto layout = readDataLayout(op, "layout");
    if (!layout) return layout.error();
    if (const Status ok = needRank(op, 0, layout->rank()); !ok) return ok.error();
    const std::vector<int64_t> size = intsAttr(op, "pool_size");
    auto window = readWindow(op, {size[0], size[1]});
    if (!window) return window.error();
    window->roundsUp = flagAttr(op, "ceil_mode");
    for (size_t i = 0; i < 2; ++i)
        if (window->padBegin[i] >= window->reach(i) || window->padEnd[i] >= window->reach(i))
            return opError(op, DiagnosticCode::BadAttribute,
                           "is padded by " + std::to_string(window->padBegin[i]) + " and " +
                               std::to_string(window->padEnd[i]) + " but its window has only " +
                               std::to_string(window->reach(i)) +
                               " elements; a window must touch the data");
    return window;
}

Result<Types> infer(const OpView& op)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    TensorType type = op.operands[0];
    if (type.dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take bool");
    const auto out = windowOutputs(op, *window, type.shape[2], type.shape[3]);
    if (!out) return out.error();
    type.shape[2] = (*out)[0];
    type.shape[3] = (*out)[1];
    return Types{type};
}

/// Combines each window of `in`; the result has `out` rows and columns.
te::TensorRef slide(const te::TensorRef& in, const Window& window, const std::array<Expr, 2>& out,
                    te::Combiner combiner, const Expr& fill, const std::string& tag)
{
    const te::TensorRef data = padForWindow(in, 2, window, out, fill);
    Attrs attrs = windowFacts(window);
    Exprs shape = in->shape();
    shape[2] = out[0];
    shape[3] = out[1];
    std::vector<std::string> names{"n", "c_outer", "oh", "ow", "c_inner", "kh", "kw"};
    if (shape.size() == 4) names = {"n", "c", "oh", "ow", "kh", "kw"};
    attrs.set("axis_names", names);
    return te::reduce(
        "pool", shape, {Expr(window.kernel[0]), Expr(window.kernel[1])}, combiner,
        [&](const Exprs& i, const Exprs& k) {
            Exprs source = i;
            source[2] = windowIndex(window, 0, i[2], k[0]);
            source[3] = windowIndex(window, 1, i[3], k[1]);
            return te::at(data, source);
        },
        tag, std::move(attrs));
}

/// The window along axis `i` alone.
Window alongAxis(const Window& window, size_t i)
{
    Window out{.roundsUp = window.roundsUp};
    out.kernel[i] = window.kernel[i];
    out.stride[i] = window.stride[i];
    out.dilation[i] = window.dilation[i];
    out.padBegin[i] = window.padBegin[i];
    out.padEnd[i] = window.padEnd[i];
    return out;
}

/// True when columns first, then rows at least halves what the maxima of blocks look at: each
/// element kh + kw instead of kh * kw times.
bool isWorthSplitting(const OpView& op, const Window& window)
{
    const auto in = constantShape(op.operands[0].shape);
    const auto out = constantShape(op.results[0].shape);
    if (!in || !out) return false;
    const int64_t rows = in->at(2), outRows = out->at(2);
    const auto [kh, kw] = window.kernel;
    return 2 * (rows * kw + outRows * kh) <= outRows * kh * kw;
}

/// True when it takes fewer loads to combine whole rows of a plain image, and elements of the row
/// that they make, than all of each window, and sums may be added so. At a stride a vector takes
/// two loads.
bool isWorthMakingRows(const OpView& op, const Window& window, te::Combiner combiner)
{
    const auto in = constantShape(op.operands[0].shape);
    const auto out = constantShape(op.results[0].shape);
    if (!in || !out || in->size() != 4 || op.operands[0].dtype != kFloat32) return false;
    if (combiner == te::Combiner::Sum && op.hasOrderedSums) return false;
    const auto [kh, kw] = window.kernel;
    const int64_t across = out->at(3) * kw * (window.stride[1] > 1 ? 2 : 1);
    return kh > 1 && in->at(3) * (kh + 1) + across < across * kh;
}

/// What all windows hold together.
te::TensorRef combined(const OpView& op, const te::TensorRef& data, const Window& window,
                       te::Combiner combiner, const Expr& none)
{
    const Exprs shape = extents(op.results[0].shape);
    const std::array<Expr, 2> out{shape[2], shape[3]};
    if (isWorthMakingRows(op, window, combiner)) {
        const te::TensorRef rows =
            slide(data, alongAxis(window, 0), {out[0], data->shape()[3]}, combiner, none, "");
        return slide(rows, alongAxis(window, 1), out, combiner, none, "pool");
    }
    if (combiner != te::Combiner::Max || !isWorthSplitting(op, window))
        return slide(data, window, out, combiner, none, "pool");
    const te::TensorRef across =
        slide(data, alongAxis(window, 1), {data->shape()[2], out[1]}, combiner, none, "reduce");
    return slide(across, alongAxis(window, 0), out, combiner, none, "reduce");
}

Result<te::Tensors> lowerMax(const OpView& op, const te::Tensors& in)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    return te::Tensors{
        combined(op, in[0], *window, te::Combiner::Max, tir::lowestOf(in[0]->dtype()))};
}

/// Kernel elements of window `o` along one axis that lie in [low, high) of the unpadded axis.
/// Numbers of 32 bits where sizes are known: vectors hold twice as many of them.
Expr countAlong(const Window& window, size_t i, const Expr& o, int64_t low, const Dim& high)
{
    const DataType dtype = high.isConst() ? kInt32 : kInt64;
    const auto number = [&](int64_t value) { return tir::intImm(value, dtype); };
    const Expr end = high.isConst() ? number(high.value()) : extentOf(high);
    const Expr at = dtype == kInt32 ? tir::cast(dtype, o) : o;
    const Expr start = at * number(window.stride[i]) - number(window.padBegin[i]);
    // The first k with start + k * d >= bound is ceil((bound - start) / d).
    const auto firstAt = [&](const Expr& bound) {
        const int64_t d = window.dilation[i];
        const Expr steps =
            d == 1 ? bound - start : floorDiv(bound - start + number(d - 1), number(d));
        return minimum(maximum(steps, number(0)), number(window.kernel[i]));
    };
    return firstAt(end) - firstAt(number(low));
}

/// Number of elements the mean of window (oh, ow) is over.
Expr divisor(const OpView& op, const Window& window, const std::array<Expr, 2>& o, DataType dtype)
{
    const bool countsPadding = flagAttr(op, "count_include_pad");
    int64_t full = 1; ///< along axes of which no window leaves the data
    Expr count;
    for (size_t i = 0; i < 2; ++i) {
        const Dim& extent = op.operands[0].shape[2 + i];
        const Dim& outputs = op.results[0].shape[2 + i];
        const int64_t low = countsPadding ? -window.padBegin[i] : 0;
        const Dim high = extent + Dim(countsPadding ? window.padEnd[i] : 0);
        const Dim last =
            (outputs - Dim(1)) * Dim(window.stride[i]) + Dim(window.reach(i) - window.padBegin[i]);
        const Dim room = high - last;
        // With unknown sizes, a window without rounding ends with the padding at the latest.
        const bool endsInside = room.isConst()
                                    ? room.value() >= 0
                                    : !window.roundsUp && (countsPadding || window.padEnd[i] == 0);
        if (low <= -window.padBegin[i] && endsInside) {
            full *= window.kernel[i];
            continue;
        }
        const Expr part = tir::cast(dtype, countAlong(window, i, o[i], low, high));
        count = count.get() ? count * part : part;
    }
    const Expr constant = dtype.isFloat() ? tir::floatImm(static_cast<double>(full), dtype)
                                          : tir::cast(dtype, Expr(full));
    if (!count.get()) return constant;
    return full == 1 ? count : count * constant;
}

Result<te::Tensors> lowerAvg(const OpView& op, const te::Tensors& in)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    const DataType dtype = in[0]->dtype();
    const te::TensorRef sum = combined(op, in[0], *window, te::Combiner::Sum, tir::zeroOf(dtype));
    return te::Tensors{te::compute(
        "average", sum->shape(),
        [&](const Exprs& i) {
            return te::at(sum, i) / divisor(op, *window, {i[2], i[3]}, dtype);
        },
        "elemwise")};
}

Cost cost(const OpView& op)
{
    const std::vector<int64_t> size = intsAttr(op, "pool_size");
    return {elements(op.results[0]) * static_cast<double>(size[0] * size[1]), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W] or [N, C/b, H, W, b]"}};
constexpr AttrSpec kMaxAttrs[] = {
    {"pool_size", "int[2]", "extent of the window"},
    kStridesAttr,
    {"padding", "int[4]", "added at top, left, bottom, right", "[0, 0, 0, 0]"},
    {"dilation", "int[2]", "distance of the window's elements", "[1, 1]"},
    {"ceil_mode", "int", "1: the last window may reach beyond the padding", "0"},
    {"layout", "string", "NCHW or blocked like NCHW16c", "\"NCHW\""}};
constexpr AttrSpec kAvgAttrs[] = {
    {"pool_size", "int[2]", "extent of the window"},
    kStridesAttr,
    {"padding", "int[4]", "added at top, left, bottom, right", "[0, 0, 0, 0]"},
    {"dilation", "int[2]", "distance of the window's elements", "[1, 1]"},
    {"ceil_mode", "int", "1: the last window may reach beyond the padding", "0"},
    {"count_include_pad", "int", "1: the mean is over padding too", "0"},
    {"layout", "string", "NCHW or blocked like NCHW16c", "\"NCHW\""}};

} // namespace

extern constinit const OpDef avgPool2dOp = {
    .name = "nn.avg_pool2d",
    .doc = "y[n, c, y, x] = mean of the window of data that begins at [y*s - p, x*s - p]",
    .family = Family::Pooling,
    .operands = kOperands,
    .attrs = kAvgAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .blockedForm = BlockedForm::ByLayout,
    .isBatched = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lowerAvg,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 7, 7), float32] "
               "=> nn.avg_pool2d(%x, padding=[1, 1, 1, 1], pool_size=[3, 3], strides=[2, 2])",
};

extern constinit const OpDef maxPool2dOp = {
    .name = "nn.max_pool2d",
    .doc = "y[n, c, y, x] = maximum of the window of data that begins at [y*s - p, x*s - p]",
    .family = Family::Pooling,
    .operands = kOperands,
    .attrs = kMaxAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .blockedForm = BlockedForm::ByLayout,
    .isBatched = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lowerMax,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 7, 7, 4), float32] "
               "=> nn.max_pool2d(%x, ceil_mode=1, layout=\"NCHW4c\", pool_size=[2, 2], "
               "strides=[2, 2])",
};

} // namespace tenon::compiler
