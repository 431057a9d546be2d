// SPDX-License-Identifier: Apache-2.0
// strided_slice: every n-th element between bounds, along some axes.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Slice
{
    int64_t begin = 0;
    int64_t stride = 1;
    Dim extent; ///< of the result
};

/// Ends from here on mean "to the end" for dimensions that are not known yet.
constexpr int64_t kOpenEnd = (int64_t{1} << 31) - 1;

Result<Slice> sliceOf(const OpView& op, const Dim& dim, int64_t begin, int64_t end, int64_t stride)
{
    if (stride == 0) return opError(op, DiagnosticCode::BadAttribute, "has a stride of 0");
    if (!dim.isConst()) {
        const bool isOpen = end >= kOpenEnd;
        if (stride != 1 || begin < 0 || (end >= 0 && !isOpen))
            return opError(op, DiagnosticCode::DynamicShape,
                           "cannot slice the symbolic dimension " + quoted(dim.text()) +
                               " by these bounds; give it a value");
        return Slice{begin, 1, dim - Dim(begin) + (isOpen ? Dim(0) : Dim(end))};
    }
    const int64_t n = dim.value();
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? n : n - 1;
    const auto normal = [&](int64_t bound, int64_t least) {
        return std::clamp(bound < 0 ? bound + n : bound, least, std::max(least, high));
    };
    const int64_t first = normal(begin, stride > 0 ? 0 : std::min<int64_t>(0, high));
    const int64_t last = normal(end, low);
    const int64_t span = stride > 0 ? last - first : first - last;
    const int64_t step = stride > 0 ? stride : -stride;
    return Slice{first, stride, Dim(span <= 0 ? 0 : (span + step - 1) / step)};
}

/// One slice per dimension of the operand.
Result<std::vector<Slice>> slices(const OpView& op)
{
    const Shape& shape = op.operands[0].shape;
    const std::vector<int64_t> begin = intsAttr(op, "begin"), end = intsAttr(op, "end");
    std::vector<int64_t> strides = intsAttr(op, "strides"), axes = intsAttr(op, "axes");
    if (axes.empty())
        for (size_t i = 0; i < begin.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    if (strides.empty()) strides.assign(begin.size(), 1);
    if (end.size() != begin.size() || strides.size() != begin.size() || axes.size() != begin.size())
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs begin, end, strides and axes of one length");
    std::vector<Slice> out;
    for (const Dim& dim : shape) out.push_back({0, 1, dim});
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = normalAxis(op, axes[i], shape.size());
        if (!axis) return axis.error();
        const auto at = static_cast<size_t>(*axis);
        auto slice = sliceOf(op, shape[at], begin[i], end[i], strides[i]);
        if (!slice) return slice.error();
        out[at] = *std::move(slice);
    }
    return out;
}

Result<Types> infer(const OpView& op)
{
    const auto parts = slices(op);
    if (!parts) return parts.error();
    Shape shape;
    for (const Slice& slice : *parts) shape.push_back(slice.extent);
    return Types{{op.operands[0].dtype, shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto parts = slices(op);
    if (!parts) return parts.error();
    return te::Tensors{te::compute(
        "strided_slice", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source;
            for (size_t d = 0; d < i.size(); ++d)
                source.push_back(i[d] * tir::Expr((*parts)[d].stride) +
                                 tir::Expr((*parts)[d].begin));
            return te::at(in[0], source);
        },
        "injective")};
}

Cost cost(const OpView& op)
{
    return {0, 2 * elements(op.results[0]) * static_cast<double>(op.results[0].dtype.bytes())};
}

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"begin", "int[]", "first index per axis; negative counts from the end"},
    {"end", "int[]", "index before which to stop; out of range means the end"},
    {"strides", "int[]", "step per axis, may be negative; empty: 1", "[]"},
    {"axes", "int[]", "the axes; empty: the first ones", "[]"}};

} // namespace

extern constinit const OpDef stridedSliceOp = {
    .name = "strided_slice",
    .doc = "y[i] = data[begin + i * stride] along each of `axes`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .blockedForm = BlockedForm::ByAxes,
    .readsPart = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(4, 8), float32] "
               "=> strided_slice(%x, axes=[1], begin=[1], end=[7], strides=[2])",
};

} // namespace tenon::compiler
