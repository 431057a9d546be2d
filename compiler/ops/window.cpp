// SPDX-License-Identifier: Apache-2.0
// Geometry of sliding windows.
#include "compiler/ops/window.h"

#include "core/base/text.h"
#include "core/tensor/dim_products.h"

namespace tenon::compiler {

using tir::Expr;

Result<Window> readWindow(const OpView& op, std::array<int64_t, 2> kernel)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const std::vector<int64_t> padding = intsAttr(op, "padding");
    const std::vector<int64_t> dilation = intsAttr(op, "dilation");
    Window window{.kernel = kernel};
    for (size_t i = 0; i < 2; ++i) {
        window.stride[i] = strides[i];
        window.dilation[i] = dilation[i];
        window.padBegin[i] = padding[i];
        window.padEnd[i] = padding[i + 2];
        if (kernel[i] < 1 || strides[i] < 1 || dilation[i] < 1 || padding[i] < 0 ||
            padding[i + 2] < 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           "has the kernel [" + join({kernel[0], kernel[1]}, ", ") +
                               "], strides [" + join(strides, ", ") + "], padding [" +
                               join(padding, ", ") + "], dilation [" + join(dilation, ", ") +
                               "]; kernel, strides and dilation start at 1, padding at 0");
    }
    return window;
}

Result<std::array<Dim, 2>> windowOutputs(const OpView& op, const Window& window, const Dim& height,
                                         const Dim& width)
{
    const std::array<Dim, 2> input{height, width};
    std::array<Dim, 2> out;
    for (size_t i = 0; i < 2; ++i) {
        const int64_t pads = window.padBegin[i] + window.padEnd[i];
        const Dim room = input[i] + Dim(pads - window.reach(i));
        if (room.isConst() && room.value() < 0)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has a window of " + std::to_string(window.reach(i)) +
                               " over an input of " + input[i].text() + " padded by " +
                               std::to_string(pads) + "; it does not fit");
        const int64_t up = window.roundsUp ? window.stride[i] - 1 : 0;
        out[i] = floorDiv(room + Dim(up), Dim(window.stride[i])) + Dim(1);
        if (!window.roundsUp) continue;
        // A window must not start behind the data.
        const Dim starts = input[i] + Dim(window.padBegin[i] - 1);
        out[i] = minimum(out[i], floorDiv(starts, Dim(window.stride[i])) + Dim(1));
    }
    return out;
}

namespace {

/// True when windows over `used` elements may read behind the data, which ends at `end`.
bool passesEnd(const Window& window, size_t i, const Expr& used, const Expr& end)
{
    const bool isKnown = used->kind == tir::ExprKind::IntImm && end->kind == tir::ExprKind::IntImm;
    return isKnown ? used->integer > end->integer : window.padEnd[i] > 0 || window.roundsUp;
}

} // namespace

te::TensorRef padForWindow(const te::TensorRef& data, size_t axis, const Window& window,
                           const std::array<Expr, 2>& outputs, const Expr& fill)
{
    Exprs shape = data->shape();
    std::array<Expr, 2> ends;
    bool isNeeded = false;
    for (size_t i = 0; i < 2; ++i) {
        ends[i] = shape[axis + i] + Expr(window.padBegin[i]);
        // Padding and data that no window reads are left out.
        shape[axis + i] = (outputs[i] - Expr(1)) * Expr(window.stride[i]) + Expr(window.reach(i));
        isNeeded =
            isNeeded || window.padBegin[i] > 0 || passesEnd(window, i, shape[axis + i], ends[i]);
    }
    if (!isNeeded) return data;
    return te::compute(
        "pad", shape,
        [&](const Exprs& i) {
            Exprs source = i;
            Expr inside;
            for (size_t k = 0; k < 2; ++k) {
                const Expr& index = i[axis + k];
                source[axis + k] = index - Expr(window.padBegin[k]);
                const auto require = [&](const Expr& condition) {
                    inside = inside.get() ? (inside && condition) : condition;
                };
                if (window.padBegin[k] > 0) require(index >= Expr(window.padBegin[k]));
                if (passesEnd(window, k, shape[axis + k], ends[k])) require(index < ends[k]);
            }
            const Expr read = te::at(data, source);
            return inside.get()
                       ? tir::call(tir::Intrinsic::IfThenElse, read->dtype, {inside, read, fill})
                       : read;
        },
        "pad");
}

bool skipsPoints(const Window& window)
{
    constexpr std::array<int64_t, 2> kOnes{1, 1}, kNone{0, 0};
    return window.kernel == kOnes && window.stride != kOnes && window.padBegin == kNone &&
           window.padEnd == kNone;
}

te::TensorRef pointsOfWindow(const te::TensorRef& data, size_t axis, const Window& window,
                             const std::array<Expr, 2>& outputs)
{
    Exprs shape = data->shape();
    for (size_t i = 0; i < 2; ++i) shape[axis + i] = outputs[i];
    return te::compute(
        "points", shape,
        [&](const Exprs& at) {
            Exprs source = at;
            for (size_t i = 0; i < 2; ++i) source[axis + i] = at[axis + i] * Expr(window.stride[i]);
            return te::at(data, source);
        },
        "pad");
}

Expr windowIndex(const Window& window, size_t i, const Expr& output, const Expr& k)
{
    return output * Expr(window.stride[i]) + k * Expr(window.dilation[i]);
}

Attrs windowFacts(const Window& window)
{
    const auto pair = [](const std::array<int64_t, 2>& a) {
        return std::vector<int64_t>(a.begin(), a.end());
    };
    return {{"kernel_size", pair(window.kernel)},
            {"strides", pair(window.stride)},
            {"dilation", pair(window.dilation)}};
}

Result<Layout> readDataLayout(const OpView& op, std::string_view attr)
{
    auto layout = Layout::parse(stringAttr(op, attr));
    if (!layout) return layout.error();
    const bool isPlain = layout->text() == "NCHW";
    const bool isBlocked =
        layout->text() == "NCHW" + std::to_string(layout->block('C')) + "c" && layout->rank() == 5;
    if (!isPlain && !isBlocked)
        return opError(op, DiagnosticCode::BadAttribute,
                       std::string(attr) + " is " + quoted(layout->text()) +
                           "; it must be NCHW or blocked like NCHW16c");
    return layout;
}

Result<BlockedLayouts> readBlockedLayouts(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    if (const Status ok = needRank(op, 0, 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 6); !ok) return ok.error();
    auto data = readDataLayout(op, "data_layout");
    if (!data) return data.error();
    auto out = readDataLayout(op, "out_layout");
    if (!out) return out.error();
    auto kernel = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!kernel) return kernel.error();
    return BlockedLayouts{*std::move(data), *std::move(out), *std::move(kernel)};
}

} // namespace tenon::compiler
