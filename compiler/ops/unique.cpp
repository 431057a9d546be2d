// SPDX-License-Identifier: Apache-2.0
// unique: the distinct rows of a matrix.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "compiler/ops/statements.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::Stmt;

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 2); !ok) return ok.error();
    const Dim rows = op.operands[0].shape[0];
    const TensorType perRow{kInt64, {rows}};
    return Types{perRow, perRow, perRow, {kInt64, {Dim(1)}}};
}

/// NaN stands behind all numbers and equals itself.
Expr isLess(const Expr& a, const Expr& b)
{
    if (!a->dtype.isFloat()) return a->dtype.isBool() ? (!a && b) : a < b;
    const auto isNan = [](const Expr& x) { return tir::call(tir::Intrinsic::IsNan, kBool, {x}); };
    return a < b || (!isNan(a) && isNan(b));
}

/// Distinct rows are kept in `firsts` by the index of their first occurrence, sorted or in order of
/// appearance; the place of a row among them is found by bisection or one by one.
class Search
{
public:
    Search(const OpView& op, const std::vector<tir::Buffer>& read,
           const std::vector<tir::Buffer>& written)
        : m_isSorted(flagAttr(op, "sorted"))
        , m_data(read[0])
        , m_firsts(written[0])
        , m_inverse(written[1])
        , m_counts(written[2])
    {
    }

    Stmt run(const tir::Buffer& number)
    {
        const Expr rows = m_data->shape[0];
        const Stmt collect = serialLoop("i", rows, [&](const Expr& i) { return visit(i); });
        // Places move while rows are inserted, so the inverse is looked up at the end.
        const Stmt invert = serialLoop("i", rows, [&](const Expr& i) {
            return tir::seq({find(i), tir::store(m_inverse, {i}, m_low.get())});
        });
        Stmt all = tir::seq(
            {m_found.set(Expr(0)), collect, invert, clearBehind(m_firsts, m_found.get()),
             clearBehind(m_counts, m_found.get()), tir::store(number, {Expr(0)}, m_found.get())});
        for (const Cell* cell : {&m_found, &m_low, &m_high, &m_order, &m_column})
            all = cell->within(all);
        return all;
    }

private:
    /// order = -1, 0 or 1 as row a stands before, with or behind row b.
    Stmt compare(const Expr& a, const Expr& b)
    {
        const Expr column = m_column.get();
        const Expr x = tir::load(m_data, {a, column});
        const Expr y = tir::load(m_data, {b, column});
        const Stmt step = tir::seq({tir::ifThen(isLess(x, y), m_order.set(Expr(-1)),
                                                tir::ifThen(isLess(y, x), m_order.set(Expr(1)))),
                                    m_column.add(1)});
        return tir::seq(
            {m_order.set(Expr(0)), m_column.set(Expr(0)),
             tir::whileLoop(equal(m_order.get(), Expr(0)) && m_column.get() < m_data->shape[1],
                            step)});
    }

    /// low = place of row i; order = 0 when an equal row stands there.
    Stmt find(const Expr& i)
    {
        if (!m_isSorted) {
            const Stmt step = tir::seq({compare(i, tir::load(m_firsts, {m_low.get()})),
                                        tir::ifThen(notEqual(m_order.get(), Expr(0)), m_low.add(1),
                                                    m_high.set(Expr(-1)))});
            // high = -1 ends the walk on an equal row.
            return tir::seq(
                {m_low.set(Expr(0)), m_high.set(Expr(0)), m_order.set(Expr(1)),
                 tir::whileLoop(m_low.get() < m_found.get() && equal(m_high.get(), Expr(0)),
                                step)});
        }
        const Expr middle = floorDiv(m_low.get() + m_high.get(), Expr(2));
        const Stmt narrow =
            tir::ifThen(m_order.get() > Expr(0), m_low.set(middle + Expr(1)), m_high.set(middle));
        const Stmt step = tir::seq({compare(i, tir::load(m_firsts, {middle})), narrow});
        // The row at `low` is the first that is not smaller.
        const Stmt last =
            tir::ifThen(m_low.get() < m_found.get(), compare(i, tir::load(m_firsts, {m_low.get()})),
                        m_order.set(Expr(1)));
        return tir::seq({m_low.set(Expr(0)), m_high.set(m_found.get()),
                         tir::whileLoop(m_low.get() < m_high.get(), step), last});
    }

    Stmt visit(const Expr& i)
    {
        const Expr at = m_low.get();
        const Stmt again = tir::store(m_counts, {at}, tir::load(m_counts, {at}) + Expr(1));
        const auto shift = [&](const tir::Buffer& buffer) {
            return tir::store(buffer, {m_high.get()}, tir::load(buffer, {m_high.get() - Expr(1)}));
        };
        const Stmt moveUp = tir::seq({shift(m_firsts), shift(m_counts), m_high.add(-1)});
        const Stmt insert = tir::seq(
            {m_high.set(m_found.get()), tir::whileLoop(m_high.get() > at, moveUp),
             tir::store(m_firsts, {at}, i), tir::store(m_counts, {at}, Expr(1)), m_found.add(1)});
        return tir::seq({find(i), tir::ifThen(equal(m_order.get(), Expr(0)), again, insert)});
    }

    bool m_isSorted;
    tir::Buffer m_data;
    tir::Buffer m_firsts;
    tir::Buffer m_inverse;
    tir::Buffer m_counts;
    Cell m_found{"found"};
    Cell m_low{"low"};
    Cell m_high{"high"};
    Cell m_order{"order"};
    Cell m_column{"column"};
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs rows = extents(op.results[0].shape);
    return te::external(
        "unique", in, {{rows, kInt64}, {rows, kInt64}, {rows, kInt64}, {{Expr(1)}, kInt64}},
        [&](const std::vector<tir::Buffer>& read, const std::vector<tir::Buffer>& written) {
            return Search(op, read, written).run(written[3]);
        });
}

constexpr OperandSpec kOperands[] = {{"data", "of rank 2"}};
constexpr AttrSpec kAttrs[] = {
    {"sorted", "int", "1: in ascending order; 0: in order of appearance", "1"}};

} // namespace

extern constinit const OpDef uniqueOp = {
    .name = "unique",
    .doc = "for the distinct rows of data: the index of the first occurrence, of each row its "
           "place among the distinct ones, how often each occurs, and their number; entries "
           "behind that number are 0",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(6, 1), float32] => unique(%x)",
};

} // namespace tenon::compiler
