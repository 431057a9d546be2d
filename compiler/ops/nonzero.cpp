// SPDX-License-Identifier: Apache-2.0
// nonzero: where a tensor is not zero.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/statements.h"
#include "compiler/ops/symbols.h"
#include "core/tensor/dim_bounds.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::Stmt;

Result<Types> infer(const OpView& op)
{
    const Shape& shape = op.operands[0].shape;
    const auto rank = static_cast<int64_t>(shape.size());
    return Types{{kInt64, {product(shape), Dim(rank)}}, {kInt64, {Dim(1)}}};
}

/// Element `flat` of a tensor, and its indices.
Exprs indicesOf(const Expr& flat, const Exprs& shape)
{
    Exprs indices(shape.size());
    Expr rest = flat;
    for (size_t d = shape.size(); d-- > 0;) {
        indices[d] = d == 0 ? rest : floorMod(rest, shape[d]);
        rest = floorDiv(rest, shape[d]);
    }
    return indices;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = in[0]->shape();
    const auto body = [&](const std::vector<tir::Buffer>& read,
                          const std::vector<tir::Buffer>& written) {
        const Cell count("found");
        const Stmt each = serialLoop("i", productOf(shape), [&](const Expr& i) {
            const Exprs indices = indicesOf(i, shape);
            std::vector<Stmt> found;
            for (size_t d = 0; d < indices.size(); ++d)
                found.push_back(tir::store(written[0], {count.get(), Expr(static_cast<int64_t>(d))},
                                           indices[d]));
            found.push_back(count.add(1));
            const Expr value = tir::load(read[0], indices);
            return tir::ifThen(notEqual(value, tir::zeroOf(value->dtype)),
                               tir::seq(std::move(found)));
        });
        return count.within(
            tir::seq({count.set(Expr(0)), each, clearBehind(written[0], count.get()),
                      tir::store(written[1], {Expr(0)}, count.get())}));
    };
    return te::external("nonzero", in,
                        {{extents(op.results[0].shape), kInt64}, {{Expr(1)}, kInt64}}, body);
}

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};

} // namespace

extern constinit const OpDef nonzeroOp = {
    .name = "nonzero",
    .doc = "the indices of all elements that are not zero, one row each in row-major order, and "
           "their number; rows behind that number are 0",
    .family = Family::Movement,
    .operands = kOperands,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 3), float32] => nonzero(%x)",
};

} // namespace tenon::compiler
