// SPDX-License-Identifier: Apache-2.0
// det: determinants, by elimination with the largest pivot of each column.
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
    const size_t rank = data.shape.size();
    if (!data.dtype.isFloat()) return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    if (rank < 2 || !(data.shape[rank - 1] == data.shape[rank - 2]))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects square matrices but data is " + data.text());
    if (!data.shape[rank - 1].isConst())
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs matrices of known size but data is " + data.text() +
                           "; bind it with --shape");
    return Types{{data.dtype, {data.shape.begin(), data.shape.end() - 2}}};
}

/// The elimination of one matrix held in `work`.
class Elimination
{
public:
    Elimination(int64_t extent, DataType dtype)
        : m_extent(extent)
        , m_work(tir::makeBuffer("work", {Expr(extent), Expr(extent)}, dtype))
        , m_pivot(tir::makeBuffer("pivot", {Expr(1)}, kInt64))
        , m_spare(tir::makeBuffer("spare", {Expr(1)}, dtype))
    {
    }

    /// `matrix` copied, and its determinant left in `result`.
    Stmt statement(const std::function<Expr(const Expr& row, const Expr& column)>& matrix,
                   const Buffer& result, const Exprs& at)
    {
        const Expr one = tir::oneOf(m_work->dtype);
        const Stmt copy = over("r", [&](const Expr& r) {
            return over("c", [&](const Expr& c) { return put(r, c, matrix(r, c)); });
        });
        const Stmt eliminate = over("k", [&](const Expr& k) {
            const Expr pivot = load(m_pivot, {Expr(0)});
            const Stmt find = over("r", [&](const Expr& r) {
                return ifThen(r > k && size(get(r, k)) > size(get(pivot, k)),
                              store(m_pivot, {Expr(0)}, r));
            });
            const Expr total = load(result, at);
            const Stmt swap =
                ifThen(notEqual(pivot, k),
                       tir::seq({over("c", [&](const Expr& c) { return exchange(k, pivot, c); }),
                                 store(result, at, tir::zeroOf(m_work->dtype) - total)}));
            const Stmt grow = store(result, at, total * get(k, k));
            return tir::seq({store(m_pivot, {Expr(0)}, k), find, swap, grow, reduceBelow(k)});
        });
        return tir::seq({copy, store(result, at, one), eliminate});
    }

private:
    Stmt over(const std::string& name, const std::function<Stmt(const Expr&)>& body)
    {
        const tir::Var var = tir::makeVar(name);
        return forLoop({.var = var, .extent = Expr(m_extent)}, body(Expr(var)));
    }
    Expr get(const Expr& r, const Expr& c) const { return load(m_work, {r, c}); }
    Stmt put(const Expr& r, const Expr& c, const Expr& value) const
    {
        return store(m_work, {r, c}, value);
    }
    static Expr size(const Expr& x) { return tir::call(tir::Intrinsic::Abs, x); }
    Stmt exchange(const Expr& a, const Expr& b, const Expr& c) const
    {
        return tir::seq({store(m_spare, {Expr(0)}, get(a, c)), put(a, c, get(b, c)),
                         put(b, c, load(m_spare, {Expr(0)}))});
    }
    /// Rows below k minus their multiple of row k; a zero pivot has zeros below it.
    Stmt reduceBelow(const Expr& k)
    {
        const Stmt rows = over("r", [&](const Expr& r) {
            const Stmt row = over("c", [&](const Expr& c) {
                return ifThen(c > k, put(r, c, get(r, c) - load(m_spare, {Expr(0)}) * get(k, c)));
            });
            return ifThen(r > k, tir::seq({store(m_spare, {Expr(0)}, get(r, k) / get(k, k)), row}));
        });
        return ifThen(notEqual(get(k, k), tir::zeroOf(m_work->dtype)), rows);
    }

    int64_t m_extent;
    Buffer m_work;
    Buffer m_pivot;
    Buffer m_spare;
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    const int64_t extent = in[0]->shape().back()->integer;
    return te::external(
        "det", in, {{shape, in[0]->dtype()}},
        [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
            std::vector<tir::Loop> loops;
            Exprs at;
            for (size_t i = 0; i < shape.size(); ++i) {
                loops.push_back({.var = tir::makeVar("i" + std::to_string(i)), .extent = shape[i]});
                at.emplace_back(loops.back().var);
            }
            const auto matrix = [&](const Expr& r, const Expr& c) {
                Exprs source = at;
                source.push_back(r);
                source.push_back(c);
                return load(from[0], source);
            };
            Stmt out = Elimination(extent, from[0]->dtype).statement(matrix, to[0], at);
            for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
                out = forLoop(*loop, out);
            return out;
        });
}

Cost cost(const OpView& op)
{
    const double n = static_cast<double>(op.operands[0].shape.back().constant().value_or(1));
    return {elements(op.operands[0]) * n * 2 / 3, bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[.., N, N], floats"}};

} // namespace

extern constinit const OpDef detOp = {
    .name = "det",
    .doc = "y[..] = determinant of data[.., :, :]",
    .family = Family::Dense,
    .operands = kOperands,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3, 3), float32] => det(%x)",
};

} // namespace tenon::compiler
