// SPDX-License-Identifier: Apache-2.0
// topk: the k largest or smallest elements along an axis, in order, and where they were.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/heap.h"
#include "compiler/ops/ordered_key.h"
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

/// The k best of each row so far stand in the results: few of them in order, more as a heap with
/// the worst at its top, which is put in order at the end. Where a key tells a value and its index,
/// keys stand in place of the indices until then.
class Selection
{
public:
    Selection(const OpView& op, const std::vector<Buffer>& from, const std::vector<Buffer>& to)
        : m_data(from[0])
        , m_axis(static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), from[0]->shape.size())))
        , m_k(to[0]->shape[m_axis])
        , m_takesLargest(flagAttr(op, "largest"))
        , m_hasKeys(hasOrderedKey(m_data->dtype) && !isInOrder())
        , m_values(to[0])
        , m_indices(to[1])
        , m_kept(
              m_hasKeys ? std::vector{m_indices} : to,
              [this](const Expr& slot) { return at(slot); },
              m_hasKeys        ? Heap::isLowestKey
              : m_takesLargest ? Heap::isLowestOrLast
                               : Heap::isHighestOrLast)
        , m_limit("limit", m_data->dtype)
    {
    }

    Stmt statement()
    {
        std::vector<tir::Loop> loops;
        for (size_t i = 0; i < m_data->shape.size(); ++i) {
            const tir::Var var = tir::makeVar("i" + std::to_string(i));
            m_row.emplace_back(var);
            if (i != m_axis) loops.push_back({.var = var, .extent = m_data->shape[i]});
        }
        Stmt out = m_hasKeys
                       ? tir::seq({row(), serialLoop("slot", m_k,
                                                     [&](const Expr& slot) { return read(slot); })})
                       : row();
        if (m_k->kind != tir::ExprKind::IntImm || m_k->integer < 1)
            out = ifThen(m_k > Expr(0), out);
        for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) out = forLoop(*loop, out);
        for (const Cell* cell : {&m_slot, &m_limit, &m_isAny}) out = cell->within(out);
        for (const Cell& cell : m_last) out = cell.within(out);
        return m_kept.within(out);
    }

private:
    /// So many are inserted in less time than a heap takes.
    static constexpr int64_t kMostInOrder = 24;
    /// Elements looked at together: later ones are seldom among the best.
    static constexpr int64_t kBlock = 16;

    bool isInOrder() const
    {
        return m_k->kind == tir::ExprKind::IntImm && m_k->integer <= kMostInOrder;
    }

    Stmt row()
    {
        const Expr rest = m_data->shape[m_axis] - m_k, blocks = floorDiv(rest, Expr(kBlock));
        const Stmt begin = serialLoop("first", m_k, [&](const Expr& i) {
            return isInOrder() ? insert(i, i) : m_kept.put(i, element(i));
        });
        const Stmt whole = serialLoop("block", blocks, [&](const Expr& block) {
            return blockOf(m_k + block * Expr(kBlock));
        });
        const Stmt tail = serialLoop("single", rest - blocks * Expr(kBlock), [&](const Expr& i) {
            return takeIfBetter(m_k + blocks * Expr(kBlock) + i);
        });
        if (isInOrder()) return tir::seq({begin, limitBy(m_k - Expr(1)), whole, tail});
        const Stmt sort = serialLoop("taken", m_k - Expr(1), [&](const Expr& i) {
            const Expr last = m_k - Expr(1) - i;
            std::vector<Stmt> steps;
            Heap::Entry entry;
            for (size_t part = 0; part < m_last.size(); ++part) {
                steps.push_back(m_last[part].set(m_kept.at(last)[part]));
                entry.push_back(m_last[part].get());
            }
            steps.push_back(m_kept.put(last, m_kept.at(Expr(0))));
            steps.push_back(m_kept.sink(Expr(0), entry, last));
            return tir::seq(steps);
        });
        return tir::seq({begin, m_kept.order(m_k), limitBy(Expr(0)), whole, tail, sort});
    }

    /// Asks of all at once whether any is better: without branches that is done in vectors.
    Stmt blockOf(const Expr& begin)
    {
        const DataType flag = m_isAny.get()->dtype;
        const Stmt look = serialLoop("near", Expr(kBlock), [&](const Expr& i) {
            return m_isAny.set(
                maximum(m_isAny.get(),
                        tir::select(isBetter(begin + i), tir::oneOf(flag), tir::zeroOf(flag))));
        });
        const Stmt take =
            serialLoop("i", Expr(kBlock), [&](const Expr& i) { return takeIfBetter(begin + i); });
        return tir::seq({m_isAny.set(tir::zeroOf(flag)), look,
                         ifThen(m_isAny.get() > tir::zeroOf(flag), take)});
    }

    Stmt takeIfBetter(const Expr& i)
    {
        const Expr worst = isInOrder() ? m_k - Expr(1) : Expr(0);
        const Stmt take = isInOrder() ? insert(i, worst) : m_kept.sink(worst, element(i), m_k);
        return ifThen(isBetter(i), tir::seq({take, limitBy(worst)}));
    }

    /// Puts element `i` at `slot`, or as many before it as are worse.
    Stmt insert(const Expr& i, const Expr& slot)
    {
        const Expr before = maximum(m_slot.get() - Expr(1), Expr(0));
        const Expr own = element(i)[0], kept = m_kept.at(before)[0];
        const Expr isWorse = m_takesLargest ? own > kept : own < kept;
        return tir::seq({m_slot.set(slot),
                         tir::whileLoop(m_slot.get() > Expr(0) && isWorse,
                                        tir::seq({m_kept.put(m_slot.get(), m_kept.at(before)),
                                                  m_slot.add(-1)})),
                         m_kept.put(m_slot.get(), element(i))});
    }

    Stmt limitBy(const Expr& worst) { return m_limit.set(valueOf(m_kept.at(worst)[0])); }
    /// Of what stands for it in the heap.
    Expr valueOf(const Expr& kept) const
    {
        return m_hasKeys ? load(m_data, at(indexOfKey(kept))) : kept;
    }
    Expr isBetter(const Expr& i) const
    {
        const Expr value = load(m_data, at(i));
        return m_takesLargest ? value > m_limit.get() : value < m_limit.get();
    }
    Heap::Entry element(const Expr& i) const
    {
        const Expr value = load(m_data, at(i));
        if (!m_hasKeys) return {value, i};
        return {
            orderedKey(value, i, m_takesLargest ? HigherKey::OfTheHigher : HigherKey::OfTheLower)};
    }
    /// The value and the index of a key.
    Stmt read(const Expr& slot) const
    {
        const Expr key = m_kept.at(slot)[0];
        return tir::seq({tir::store(m_values, at(slot), valueOf(key)),
                         tir::store(m_indices, at(slot), indexOfKey(key))});
    }
    Exprs at(const Expr& place) const
    {
        Exprs out = m_row;
        out[m_axis] = place;
        return out;
    }

    Buffer m_data;
    size_t m_axis;
    Expr m_k;
    bool m_takesLargest;
    Exprs m_row; ///< that is searched
    bool m_hasKeys;
    Buffer m_values;
    Buffer m_indices;
    Heap m_kept;
    Cell m_slot{"slot"};
    Cell m_limit; ///< the worst of k kept ones
    Cell m_isAny{"any", kInt32};
    std::vector<Cell> m_last = m_kept.cells("last"); ///< the entry that a better one replaces
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    return te::external("topk", in, {{shape, in[0]->dtype()}, {shape, kInt64}},
                        [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
                            return Selection(op, from, to).statement();
                        });
}

Cost cost(const OpView& op)
{
    constexpr double kStepsOfOneKept = 16; // through a heap, and out of it in order
    return {elements(op.operands[0]) + kStepsOfOneKept * elements(op.results[0]), bytesMoved(op)};
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
