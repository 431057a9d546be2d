// SPDX-License-Identifier: Apache-2.0
// take: slices of a tensor chosen by an index tensor.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/chosen_axes.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const DataType index = op.operands[1].dtype;
    if (!index.isInt() || index.isBool())
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects integer indices but they are " + index.text());
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    if (const Status ok = needChoices(op); !ok) return ok.error();
    Shape shape(data.shape.begin(), data.shape.begin() + *axis);
    shape.insert(shape.end(), op.operands[1].shape.begin(), op.operands[1].shape.end());
    shape.insert(shape.end(), data.shape.begin() + *axis + 1, data.shape.end());
    return Types{{data.dtype, shape}};
}

/// Every index becomes a valid one, so that a wrong index in the data cannot read outside.
tir::Expr validIndex(const std::string& mode, const tir::Expr& raw, const tir::Expr& extent)
{
    const tir::Expr index = tir::cast(kInt64, raw);
    const bool isByte = raw->dtype == kUInt8 && extent->kind == tir::ExprKind::IntImm;
    if (isByte && extent->integer > UINT8_MAX) return index;
    const tir::Expr last = extent - tir::Expr(1);
    if (mode == "clip") return minimum(maximum(index, tir::Expr(0)), last);
    return mode == "wrap" ? floorMod(index, extent) : safeIndex(index, extent);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const size_t rank = in[0]->shape().size();
    const auto axis = normalAxis(op, intAttr(op, "axis"), rank);
    const auto at = static_cast<std::ptrdiff_t>(*axis);
    const auto indexRank = static_cast<std::ptrdiff_t>(in[1]->shape().size());
    const std::string mode = stringAttr(op, "mode");
    return te::Tensors{te::compute(
        "take", extents(op.results[0].shape),
        [&](const Exprs& i) {
            const Exprs position(i.begin() + at, i.begin() + at + indexRank);
            Exprs source(i.begin(), i.begin() + at);
            source.push_back(
                validIndex(mode, te::at(in[1], position), in[0]->shape()[static_cast<size_t>(at)]));
            source.insert(source.end(), i.begin() + at + indexRank, i.end());
            return te::at(in[0], source);
        },
        "injective")};
}

Cost cost(const OpView& op)
{
    return {0, 2 * elements(op.results[0]) * static_cast<double>(op.results[0].dtype.bytes())};
}

constexpr OperandSpec kOperands[] = {{"data", "rank 1 or more"}, {"indices", "integers"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the dimension the indices count along"},
                               {"mode", "clip|wrap|fast",
                                "indices outside: nearest valid, modulo the extent, or fast: "
                                "negative ones count from the end, others as clip",
                                "\"fast\""}};

} // namespace

extern constinit const OpDef takeOp = {
    .name = "take",
    .doc = "y[.., j.., ..] = data[.., indices[j..], ..], the index standing at `axis`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .readsPart = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(4, 8), float32], %i: Tensor[(2, 3), int64] => take(%x, %i, axis=0)",
};

} // namespace tenon::compiler
