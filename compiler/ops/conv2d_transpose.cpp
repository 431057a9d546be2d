// SPDX-License-Identifier: Apache-2.0
// nn.conv2d_transpose: the gradient of a convolution, used to upsample.
#include "compiler/ops/window.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Geometry
{
    Window window;
    std::array<int64_t, 2> outputPadding;
    int64_t groups;
};

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 4); !ok) return ok.error();
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const auto weight = constantShape(op.operands[1].shape);
    if (!weight)
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a weight of constant shape but it is " + op.operands[1].text());
    auto window = readWindow(op, {(*weight)[2], (*weight)[3]});
    if (!window) return window.error();
    const std::vector<int64_t> extra = intsAttr(op, "output_padding");
    const int64_t groups = intAttr(op, "groups");
    const Dim& channels = op.operands[0].shape[1];
    if (groups < 1 || (*weight)[0] % groups != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot divide " + std::to_string((*weight)[0]) + " channels into " +
                           std::to_string(groups) + " groups");
    if (extra[0] < 0 || extra[1] < 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot add output_padding [" + join(extra, ", ") + "]");
    if (!(channels == Dim((*weight)[0])))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects " + std::to_string((*weight)[0]) +
                           " input channels but `data` has " + channels.text() +
                           "; the weight is [in, out / groups, KH, KW]");
    return Geometry{*std::move(window), {extra[0], extra[1]}, groups};
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    Shape out{data[0], op.operands[1].shape[1] * Dim(g->groups)};
    for (size_t i = 0; i < 2; ++i) {
        const Window& w = g->window;
        const Dim extent = (data[2 + i] - Dim(1)) * Dim(w.stride[i]) +
                           Dim(w.reach(i) + g->outputPadding[i] - w.padBegin[i] - w.padEnd[i]);
        if (extent.isConst() && extent.value() < 1)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "pads away its whole output of axis " + std::to_string(i + 2));
        out.push_back(extent);
    }
    return Types{{op.operands[0].dtype, out}};
}

/// Output position o takes kernel element k from input (o + pad - k * dilation) / stride, where
/// that divides. Without dilation only every stride-th k does: k = kq * stride + (o + pad) % stride
/// reads input (o + pad) / stride - kq, so the reduction runs over kq alone.
class Axis
{
public:
    Axis(const Window& window, size_t i, const Expr& input, const Expr& output)
        : m_stride(window.stride[i])
        , m_dilation(window.dilation[i])
        , m_kernel(window.kernel[i])
        , m_pad(window.padBegin[i])
        , m_input(input)
        , m_output(output)
    {
    }

    bool isPhased() const { return m_dilation == 1; }
    int64_t steps() const { return isPhased() ? (m_kernel + m_stride - 1) / m_stride : m_kernel; }
    /// Zeros before and after the input so that every read is inside (phased only).
    int64_t before() const { return steps() - 1; }
    Expr after() const
    {
        const Expr last = floorDiv(m_output + Expr(m_pad - 1), Expr(m_stride));
        return maximum(last - m_input + Expr(1), Expr(0));
    }
    Expr kernelIndex(const Expr& o, const Expr& k) const
    {
        return isPhased() ? k * Expr(m_stride) + floorMod(o + Expr(m_pad), Expr(m_stride)) : k;
    }
    Expr inputIndex(const Expr& o, const Expr& k) const
    {
        if (isPhased()) return floorDiv(o + Expr(m_pad), Expr(m_stride)) - k + Expr(before());
        return floorDiv(offset(o, k), Expr(m_stride));
    }
    /// Null when every step counts.
    Expr condition(const Expr& o, const Expr& k) const
    {
        if (isPhased())
            return m_kernel % m_stride == 0 ? Expr() : kernelIndex(o, k) < Expr(m_kernel);
        const Expr at = offset(o, k);
        return at >= Expr(0) && at < m_input * Expr(m_stride) &&
               equal(floorMod(at, Expr(m_stride)), Expr(0));
    }

private:
    Expr offset(const Expr& o, const Expr& k) const
    {
        return o + Expr(m_pad) - k * Expr(m_dilation);
    }

    int64_t m_stride, m_dilation, m_kernel, m_pad;
    Expr m_input, m_output;
};

/// Zeros around the input as the axes ask for.
te::TensorRef padded(const te::TensorRef& data, const std::array<Axis, 2>& axes)
{
    Window window;
    std::array<Expr, 2> outputs;
    for (size_t i = 0; i < 2; ++i) {
        outputs[i] = data->shape()[2 + i];
        if (!axes[i].isPhased()) continue;
        window.padBegin[i] = axes[i].before();
        window.padEnd[i] = 1; // where nobody knows whether there is any
        outputs[i] = outputs[i] + Expr(window.padBegin[i]) + axes[i].after();
    }
    return padForWindow(data, 2, window, outputs, tir::zeroOf(data->dtype()));
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Exprs out = extents(op.results[0].shape);
    const Exprs& input = in[0]->shape();
    const std::array<Axis, 2> axes{Axis(g->window, 0, input[2], out[2]),
                                   Axis(g->window, 1, input[3], out[3])};
    const te::TensorRef data = padded(in[0], axes);
    const int64_t inPerGroup = op.operands[0].shape[1].value() / g->groups;
    const int64_t outPerGroup = op.results[0].shape[1].value() / g->groups;
    Attrs attrs = windowFacts(g->window);
    attrs.set("groups", g->groups);
    attrs.set("axis_names", std::vector<std::string>{"n", "oc", "oh", "ow", "ic", "kh", "kw"});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        const Expr group = floorDiv(i[1], Expr(outPerGroup));
        const Expr channel = g->groups == 1 ? k[0] : group * Expr(inPerGroup) + k[0];
        const Expr filter = g->groups == 1 ? i[1] : floorMod(i[1], Expr(outPerGroup));
        Expr counts;
        for (size_t a = 0; a < 2; ++a)
            if (const Expr c = axes[a].condition(i[2 + a], k[1 + a]); c.get())
                counts = counts.get() ? (counts && c) : c;
        const Expr product = te::at(data, {i[0], channel, axes[0].inputIndex(i[2], k[1]),
                                           axes[1].inputIndex(i[3], k[2])}) *
                             te::at(in[1], {channel, filter, axes[0].kernelIndex(i[2], k[1]),
                                            axes[1].kernelIndex(i[3], k[2])});
        return counts.get() ? tir::call(tir::Intrinsic::IfThenElse, product->dtype,
                                        {counts, product, tir::zeroOf(product->dtype)})
                            : product;
    };
    return te::Tensors{te::reduce("conv", out,
                                  {Expr(inPerGroup), Expr(axes[0].steps()), Expr(axes[1].steps())},
                                  te::Combiner::Sum, step, "conv2d_transpose", std::move(attrs))};
}

Cost cost(const OpView& op)
{
    const Shape& w = op.operands[1].shape;
    return {2 * elements(op.operands[0]) * elements({kFloat32, {w[1], w[2], w[3]}}),
            bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W]"},
                                     {"weight", "[C, O / groups, KH, KW]"}};
constexpr AttrSpec kAttrs[] = {
    {"strides", "int[2]", "distance of the windows in the output", "[1, 1]"},
    {"padding", "int[4]", "rows and columns cut off at top, left, bottom, right", "[0, 0, 0, 0]"},
    {"output_padding", "int[2]", "rows and columns added at bottom and right", "[0, 0]"},
    kDilationAttr,
    {"groups", "int", "channels are split into so many independent parts", "1"}};

} // namespace

extern constinit const OpDef conv2dTransposeOp = {
    .name = "nn.conv2d_transpose",
    .doc = "y[n, o, y*s - p + kh*d, ..] += data[n, c, y, x] * weight[c, o, kh, kw] over all c, y, "
           "x, kh, kw",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .takesSymbols = true,
    .method = {.kind = Method::PlainLoops},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 5, 5), float32], %w: Tensor[(4, 2, 3, 3), float32] "
               "=> nn.conv2d_transpose(%x, %w, output_padding=[1, 1], padding=[1, 1, 1, 1], "
               "strides=[2, 2])",
};

} // namespace tenon::compiler
