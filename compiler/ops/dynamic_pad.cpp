// SPDX-License-Identifier: Apache-2.0
// dynamic_pad: values added around a tensor, as many as data says.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const auto rank = static_cast<int64_t>(data.shape.size());
    const auto sizes = sizesAttr(op);
    const bool fits = sizes && static_cast<int64_t>(sizes->size()) == rank &&
                      op.operands[1] == TensorType{kInt64, makeShape({rank})} &&
                      op.operands[2] == TensorType{data.dtype, {}};
    if (!fits)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs widths and sizes of " + std::to_string(rank) +
                           " dimensions and a scalar of " + data.dtype.text());
    return Types{{data.dtype, *sizes}};
}

/// Where a position outside the data reads; `last` is the last one inside.
Expr continued(const std::string& mode, const Expr& at, const Expr& last)
{
    if (mode == "reflect") {
        const Expr period = last + last;
        const Expr rest = floorMod(at, maximum(period, Expr(1)));
        return minimum(rest, period - rest);
    }
    return mode == "wrap" ? floorMod(at, last + Expr(1)) : at;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::string mode = stringAttr(op, "pad_mode");
    const auto element = [&](const Exprs& i) {
        Exprs source;
        Expr inside;
        for (size_t d = 0; d < i.size(); ++d) {
            const Expr& extent = in[0]->shape()[d];
            const Expr last = maximum(extent - Expr(1), Expr(0));
            const Expr at = i[d] - te::at(in[1], {Expr(static_cast<int64_t>(d))});
            const Expr isHere = at >= Expr(0) && at < extent;
            inside = inside.get() ? inside && isHere : isHere;
            source.push_back(maximum(minimum(continued(mode, at, last), last), Expr(0)));
        }
        const Expr read = te::at(in[0], source);
        if (mode != "constant" || !inside.get()) return read;
        return tir::call(tir::Intrinsic::IfThenElse, read->dtype,
                         {inside, read, te::at(in[2], {})});
    };
    return te::Tensors{
        te::compute("dynamic_pad", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"},
                                     {"before", "int64, added before each dimension; may crop"},
                                     {"value", "a scalar, what mode constant adds"}};
constexpr AttrSpec kAttrs[] = {
    {"pad_mode", "constant|edge|reflect|wrap", "what is added", "\"constant\""},
    {"sizes", "string[]", "the result's shape"}};

} // namespace

extern constinit const OpDef dynamicPadOp = {
    .name = "dynamic_pad",
    .doc = "y[i..] = data[i - before..], outside of it as `pad_mode` says",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3), float32], %b: Tensor[(2,), int64], %v: Tensor[(), float32] "
               "=> dynamic_pad(%x, %b, %v, sizes=s[\"2\", \"6\"])",
};

} // namespace tenon::compiler
