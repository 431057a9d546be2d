// SPDX-License-Identifier: Apache-2.0
// cumsum and cumprod: running totals along an axis.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "compiler/ops/statements.h"

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    if (data.dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take bool; insert a cast");
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    return Types{data};
}

Stmt within(const std::vector<tir::Loop>& loops, Stmt body)
{
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) body = forLoop(*loop, body);
    return body;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const DataType dtype = in[0]->dtype();
    const auto axis = static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), shape.size()));
    const bool isReverse = flagAttr(op, "reverse"), isExclusive = flagAttr(op, "exclusive");
    const bool isSum = op.op == "cumsum";
    const auto statement = [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
        // Along the axis every step reads the one before. What lies behind the axis goes inside of
        // it: those do not read each other.
        std::vector<tir::Loop> around, inside;
        Exprs at;
        for (size_t i = 0; i < shape.size(); ++i) {
            const tir::Var var = tir::makeVar("i" + std::to_string(i));
            at.emplace_back(var);
            if (i != axis) (i < axis ? around : inside).push_back({.var = var, .extent = shape[i]});
        }
        const auto position = [&](const Expr& step) {
            Exprs out = at;
            out[axis] = isReverse ? shape[axis] - Expr(1) - step : step;
            return out;
        };
        const auto stored = [&](const Expr& step, const Expr& value) {
            return within(inside, store(to[0], position(step), value));
        };
        const Expr identity = isSum ? tir::zeroOf(dtype) : tir::oneOf(dtype);
        const Stmt first =
            stored(Expr(0), isExclusive ? identity : load(from[0], position(Expr(0))));
        const Stmt others = serialLoop("step", shape[axis] - Expr(1), [&](const Expr& before) {
            const Expr step = before + Expr(1);
            const Expr added = load(from[0], position(isExclusive ? before : step));
            const Expr total = load(to[0], position(before));
            return stored(step, isSum ? total + added : total * added);
        });
        const bool isNeverEmpty =
            shape[axis]->kind == tir::ExprKind::IntImm && shape[axis]->integer > 0;
        const Stmt row = tir::seq({first, others});
        return within(around, isNeverEmpty ? row : ifThen(shape[axis] > Expr(0), row));
    };
    return te::external(std::string(op.op), in, {{shape, dtype}}, statement);
}

constexpr OperandSpec kOperands[] = {{"data", "any shape but a scalar, numbers"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the dimension walked along"},
                               {"exclusive", "int", "1: without the element itself", "0"},
                               {"reverse", "int", "1: from the end", "0"}};

} // namespace

extern constinit const OpDef cumprodOp = {
    .name = "cumprod",
    .doc = "y[.., i, ..] = product of data[.., j, ..] over j <= i along `axis`",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 5), float32] => cumprod(%x, axis=1)",
};

extern constinit const OpDef cumsumOp = {
    .name = "cumsum",
    .doc = "y[.., i, ..] = sum of data[.., j, ..] over j <= i along `axis`",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 5), float32] => cumsum(%x, axis=0, exclusive=1)",
};

} // namespace tenon::compiler
