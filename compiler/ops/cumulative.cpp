// SPDX-License-Identifier: Apache-2.0
// cumsum and cumprod: running totals along an axis.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

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

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const DataType dtype = in[0]->dtype();
    const auto axis = static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), shape.size()));
    const bool isReverse = flagAttr(op, "reverse"), isExclusive = flagAttr(op, "exclusive");
    const bool isSum = op.op == "cumsum";
    const auto statement = [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
        std::vector<tir::Loop> loops;
        Exprs at;
        for (size_t i = 0; i < shape.size(); ++i) {
            loops.push_back({.var = tir::makeVar("i" + std::to_string(i)), .extent = shape[i]});
            at.emplace_back(loops.back().var);
        }
        // The walk along the axis is the innermost loop: every step reads the one before.
        std::swap(loops[axis], loops.back());
        const Expr step = at[axis];
        const Expr last = shape[axis] - Expr(1);
        const auto position = [&](const Expr& s) {
            Exprs out = at;
            out[axis] = isReverse ? last - s : s;
            return out;
        };
        const Exprs here = position(step), before = position(step - Expr(1));
        const Expr added = load(from[0], isExclusive ? before : here);
        const Expr total = load(to[0], before);
        const Expr identity = isSum ? tir::zeroOf(dtype) : tir::oneOf(dtype);
        Stmt out = ifThen(equal(step, Expr(0)),
                          store(to[0], here, isExclusive ? identity : load(from[0], here)),
                          store(to[0], here, isSum ? total + added : total * added));
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) out = forLoop(*loop, out);
        return out;
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
