// SPDX-License-Identifier: Apache-2.0
// concatenate: tensors joined along one axis.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    TensorType out = op.operands[0];
    const auto axis = normalAxis(op, intAttr(op, "axis"), out.shape.size());
    if (!axis) return axis.error();
    const auto along = static_cast<size_t>(*axis);
    for (size_t i = 1; i < op.operands.size(); ++i) {
        const Shape& shape = op.operands[i].shape;
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
        bool fits = shape.size() == out.shape.size();
        for (size_t d = 0; fits && d < shape.size(); ++d) {
            if (d == along) continue;
            const auto agreed = agreedDim(out.shape[d], shape[d]);
            fits = agreed.has_value();
            if (agreed) out.shape[d] = *agreed;
        }
        if (!fits)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot join " + shapeText(op.operands[0].shape) + " and " +
                               shapeText(shape) + " along axis " + std::to_string(*axis) +
                               "; the other dimensions must be equal");
        out.shape[along] = out.shape[along] + shape[along];
    }
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axis = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    const auto along = static_cast<size_t>(*axis);
    const auto element = [&](const Exprs& i) {
        Exprs starts{tir::Expr(0)};
        for (const te::TensorRef& tensor : in)
            starts.push_back(starts.back() + tensor->shape()[along]);
        tir::Expr out;
        for (size_t k = in.size(); k-- > 0;) {
            Exprs source = i;
            source[along] = i[along] - starts[k];
            const tir::Expr part = te::at(in[k], source);
            out = !out.get() ? part
                             : tir::call(tir::Intrinsic::IfThenElse, part->dtype,
                                         {i[along] < starts[k + 1], part, out});
        }
        return out;
    };
    return te::Tensors{
        te::compute("concatenate", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {
    {"data", "one or more tensors, equal in all dimensions but one", OperandSpec::Variadic}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the dimension along which they are joined"}};

} // namespace

extern constinit const OpDef concatenateOp = {
    .name = "concatenate",
    .doc = "the operands one after another along `axis`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%a: Tensor[(2, 3), float32], %b: Tensor[(2, 5), float32] "
               "=> concatenate(%a, %b, axis=1)",
};

} // namespace tenon::compiler
