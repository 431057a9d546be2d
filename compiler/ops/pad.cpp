// SPDX-License-Identifier: Apache-2.0
// nn.pad: values added around a tensor.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const std::vector<int64_t> width = intsAttr(op, "pad_width");
    const std::string mode = stringAttr(op, "pad_mode");
    if (width.size() != 2 * data.shape.size())
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs two pad widths per dimension of " + data.text() + " but got " +
                           std::to_string(width.size()));
    TensorType out = data;
    for (size_t i = 0; i < out.shape.size(); ++i) {
        const int64_t before = width[2 * i], after = width[2 * i + 1];
        const Dim& dim = data.shape[i];
        const Dim extent = dim + Dim(before + after);
        const int64_t most = mode == "reflect" ? dim.constant().value_or(1 << 30) - 1 : 1 << 30;
        if (before > most || after > most || (mode != "constant" && (before < 0 || after < 0)) ||
            (extent.isConst() && extent.value() < 0))
            return opError(op, DiagnosticCode::BadAttribute,
                           "cannot pad the dimension " + dim.text() + " by " +
                               std::to_string(before) + " and " + std::to_string(after) +
                               " in mode " + mode);
        out.shape[i] = extent;
    }
    return Types{out};
}

/// Where mode edge or reflect reads along one dimension.
Expr mirrored(const std::string& mode, const Expr& index, int64_t before, const Expr& extent,
              int64_t after)
{
    if (before == 0 && after == 0) return index;
    Expr source = index - Expr(before);
    const Expr last = extent - Expr(1);
    if (mode == "edge") {
        if (before > 0) source = maximum(source, Expr(0));
        return after > 0 ? minimum(source, last) : source;
    }
    if (extent->kind != tir::ExprKind::IntImm) {
        // The data may be narrower than the padding: reflections go on with a period.
        const Expr period = last + last;
        source = floorMod(source, maximum(period, Expr(1)));
        return minimum(source, period - source);
    }
    if (before > 0) source = maximum(source, Expr(0) - source); // |source|, an index
    return after > 0 ? minimum(source, last + last - source) : source;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> width = intsAttr(op, "pad_width");
    const std::string mode = stringAttr(op, "pad_mode");
    const Exprs& shape = in[0]->shape();
    const DataType dtype = in[0]->dtype();
    const double fill = floatAttr(op, "pad_value");
    const Expr value = dtype.isFloat() ? tir::floatImm(fill, dtype)
                                       : tir::intImm(static_cast<int64_t>(fill), dtype);
    const auto element = [&](const Exprs& i) {
        Exprs source;
        Expr inside;
        for (size_t d = 0; d < i.size(); ++d) {
            const int64_t before = width[2 * d], after = width[2 * d + 1];
            if (mode != "constant") {
                source.push_back(mirrored(mode, i[d], before, shape[d], after));
                continue;
            }
            source.push_back(i[d] - Expr(before));
            const auto require = [&](const Expr& condition) {
                inside = inside.get() ? (inside && condition) : condition;
            };
            if (before > 0) require(i[d] >= Expr(before));
            if (after > 0) require(i[d] < shape[d] + Expr(before));
        }
        const Expr read = te::at(in[0], source);
        return inside.get() ? tir::call(tir::Intrinsic::IfThenElse, dtype, {inside, read, value})
                            : read;
    };
    return te::Tensors{te::compute("pad", extents(op.results[0].shape), element,
                                   mode == "constant" ? "pad" : "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"pad_width", "int[]", "before and after the first dimension, then the next; negative crops"},
    {"pad_value", "float", "value added in mode constant", "0"},
    {"pad_mode", "constant|edge|reflect", "what is added", "\"constant\""}};

} // namespace

extern constinit const OpDef padOp = {
    .name = "nn.pad",
    .doc = "data with `pad_value`, its edge or its mirror image added around it",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .blockedForm = BlockedForm::ByAxes,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3), float32] => nn.pad(%x, pad_value=1f, pad_width=[0, 0, 1, 2])",
};

} // namespace tenon::compiler
