// SPDX-License-Identifier: Apache-2.0
// topk: the k largest or smallest elements along an axis, in order, and where they were.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/statements.h"
#include "compiler/ops/symbols.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

Result<Types> infer(const OpView& op)
{
    TensorType values = op.operands[0];
    if (values.dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take bool; insert a cast");
    const auto axis = normalAxis(op, intAttr(op, "axis"), values.shape.size());
    if (!axis) return axis.error();
    Dim& dim = values.shape[static_cast<size_t>(*axis)];
    const auto sizes = sizesAttr(op);
    const Dim k = sizes ? sizes->front() : Dim(intAttr(op, "k"));
    if (k.isConst() && (k.value() < 0 || (dim.isConst() && k.value() > dim.value())))
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot take " + k.text() + " of " + dim.text() + " elements");
    dim = k;
    return Types{values, {kInt64, values.shape}};
}

/// Insertion into the sorted list of the k best so far; equal ones stay in order. An element that
/// is no better than the last of a full list costs one comparison.
class Insertion
{
public:
    Insertion(const OpView& op, const std::vector<Buffer>& from, const std::vector<Buffer>& to)
        : m_data(from[0])
        , m_values(to[0])
        , m_indices(to[1])
        , m_axis(static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), from[0]->shape.size())))
        , m_k(to[0]->shape[m_axis])
        , m_takesLargest(flagAttr(op, "largest"))
    {
    }

    Stmt statement()
    {
        std::vector<tir::Loop> loops;
        for (size_t i = 0; i < m_data->shape.size(); ++i) {
            const tir::Var var = tir::makeVar(i == m_axis ? "seen" : "i" + std::to_string(i));
            m_at.emplace_back(var);
            loops.push_back({.var = var, .extent = m_data->shape[i]});
        }
        // Elements of one row in order, and for each the slots from the last on.
        std::rotate(loops.begin() + static_cast<std::ptrdiff_t>(m_axis),
                    loops.begin() + static_cast<std::ptrdiff_t>(m_axis) + 1, loops.end());
        const Expr seen = m_at[m_axis], last = m_k - Expr(1);
        const Expr before = maximum(m_slot.get() - Expr(1), Expr(0));
        const Stmt insert =
            tir::seq({m_slot.set(minimum(seen, last)),
                      tir::whileLoop(m_slot.get() > Expr(0) && isBetterThan(before),
                                     tir::seq({copySlot(before, m_slot.get()), m_slot.add(-1)})),
                      put(m_slot.get())});
        Stmt out = ifThen(seen < m_k || isBetterThan(last), insert);
        if (m_k->kind != tir::ExprKind::IntImm || m_k->integer < 1)
            out = ifThen(m_k > Expr(0), out);
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) out = forLoop(*loop, out);
        return m_slot.within(out);
    }

private:
    Exprs at(const Expr& slot) const
    {
        Exprs out = m_at;
        out[m_axis] = slot;
        return out;
    }
    Expr isBetterThan(const Expr& slot) const
    {
        const Expr value = load(m_data, m_at), kept = load(m_values, at(slot));
        return m_takesLargest ? value > kept : value < kept;
    }
    Stmt put(const Expr& slot) const
    {
        return tir::seq({store(m_values, at(slot), load(m_data, m_at)),
                         store(m_indices, at(slot), m_at[m_axis])});
    }
    Stmt copySlot(const Expr& from, const Expr& to) const
    {
        return tir::seq({store(m_values, at(to), load(m_values, at(from))),
                         store(m_indices, at(to), load(m_indices, at(from)))});
    }

    Buffer m_data;
    Buffer m_values;
    Buffer m_indices;
    size_t m_axis;
    Expr m_k;
    bool m_takesLargest;
    Exprs m_at; ///< of the element to insert
    Cell m_slot{"slot"};
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    return te::external("topk", in, {{shape, in[0]->dtype()}, {shape, kInt64}},
                        [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
                            return Insertion(op, from, to).statement();
                        });
}

Cost cost(const OpView& op)
{
    return {elements(op.operands[0]) * static_cast<double>(intAttr(op, "k")), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "any shape but a scalar, numbers"}};
constexpr AttrSpec kAttrs[] = {{"k", "int", "how many", "0"},
                               {"sizes", "string[]", "how many when that is symbolic", "[]"},
                               {"axis", "int", "the dimension searched", "-1"},
                               {"largest", "int", "0: the smallest ones", "1"}};

} // namespace

extern constinit const OpDef topkOp = {
    .name = "topk",
    .doc = "the k largest elements along `axis`, best first, and their indices (int64); of equal "
           "ones the earlier comes first",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32] => topk(%x, k=3)",
};

} // namespace tenon::compiler
