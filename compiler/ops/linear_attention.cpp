// SPDX-License-Identifier: Apache-2.0
// nn.linear_attention: a recurrence over time whose state is a matrix per head.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

#include <functional>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

enum Operand : size_t
{
    kQuery,
    kKey,
    kValue,
    kState,
    kDecay,
    kBeta
};

Result<Types> infer(const OpView& op)
{
    for (size_t i = 0; i < 6; ++i) {
        if (const Status ok = needRank(op, i, 4); !ok) return ok.error();
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
    }
    if (!op.operands[0].dtype.isFloat())
        return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    const auto dim = [&](size_t operand, size_t i) { return op.operands[operand].shape[i]; };
    const Dim batch = dim(kQuery, 0), steps = dim(kQuery, 2), size = dim(kQuery, 3);
    const Dim heads = dim(kKey, 1), width = dim(kValue, 3);
    const Shape wanted[] = {{batch, dim(kQuery, 1), steps, size}, {batch, heads, steps, size},
                            {batch, heads, steps, width},         {batch, heads, size, width},
                            {batch, heads, steps, size},          {batch, heads, steps, Dim(1)}};
    for (size_t i = 0; i < 6; ++i)
        if (!(op.operands[i].shape == wanted[i]))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "expects an operand of the shape " + shapeText(wanted[i]) +
                               " but it is " + op.operands[i].text());
    const auto queries = dim(kQuery, 1).constant(), keys = heads.constant();
    if (!queries || !keys || *keys < 1 || *queries % *keys != 0)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot share " + heads.text() + " heads among " + dim(kQuery, 1).text() +
                           " query heads");
    if (!width.isConst())
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs values of known width but they are " + op.operands[kValue].text() +
                           "; bind it with --shape");
    return Types{{op.operands[0].dtype, {batch, dim(kQuery, 1), steps, width}},
                 op.operands[kState]};
}

/// The statements of one step of one head, in the notation of the operator's documentation.
class Recurrence
{
public:
    Recurrence(const std::vector<Buffer>& in, const std::vector<Buffer>& out, bool correctsDelta)
        : m_in(in)
        , m_output(out[0])
        , m_state(out[1])
        , m_update(tir::makeBuffer("update", {in[kValue]->shape[3]}, in[kQuery]->dtype))
        , m_correctsDelta(correctsDelta)
    {
    }

    Stmt statement()
    {
        const Expr size = m_state->shape[2], width = m_state->shape[3];
        return over("b", m_state->shape[0], [&](const Expr& b) {
            return over("h", m_state->shape[1], [&](const Expr& h) {
                const Stmt copy = overState(size, width, [&](const Expr& i, const Expr& j) {
                    return store(m_state, {b, h, i, j}, load(m_in[kState], {b, h, i, j}));
                });
                const Stmt walk =
                    over("t", m_output->shape[2], [&](const Expr& t) { return step(b, h, t); });
                return tir::seq({copy, walk});
            });
        });
    }

private:
    static Stmt over(const std::string& name, const Expr& extent,
                     const std::function<Stmt(const Expr&)>& body)
    {
        const tir::Var var = tir::makeVar(name);
        return forLoop({.var = var, .extent = extent}, body(Expr(var)));
    }
    static Stmt overState(const Expr& size, const Expr& width,
                          const std::function<Stmt(const Expr&, const Expr&)>& body)
    {
        return over("i", size, [&](const Expr& i) {
            return over("j", width, [&](const Expr& j) { return body(i, j); });
        });
    }
    /// buffer[at] += value
    static Stmt grow(const Buffer& buffer, const Exprs& at, const Expr& value)
    {
        return store(buffer, at, load(buffer, at) + value);
    }

    Stmt step(const Expr& b, const Expr& h, const Expr& t)
    {
        const Expr size = m_state->shape[2], width = m_state->shape[3];
        const auto state = [&](const Expr& i, const Expr& j) { return Exprs{b, h, i, j}; };
        const auto key = [&](const Expr& i) { return load(m_in[kKey], {b, h, t, i}); };
        const auto value = [&](const Expr& j) { return load(m_in[kValue], {b, h, t, j}); };
        const Stmt decay = overState(size, width, [&](const Expr& i, const Expr& j) {
            const Expr factor = tir::call(tir::Intrinsic::Exp, load(m_in[kDecay], {b, h, t, i}));
            return store(m_state, state(i, j), load(m_state, state(i, j)) * factor);
        });
        const Stmt update = over("j", width, [&](const Expr& j) {
            if (!m_correctsDelta) return store(m_update, {j}, value(j));
            const Stmt known = over("i", size, [&](const Expr& i) {
                return grow(m_update, {j}, load(m_state, state(i, j)) * key(i));
            });
            const Expr rate = load(m_in[kBeta], {b, h, t, Expr(0)});
            return tir::seq({store(m_update, {j}, tir::zeroOf(m_update->dtype)), known,
                             store(m_update, {j}, rate * (value(j) - load(m_update, {j})))});
        });
        const Stmt write = overState(size, width, [&](const Expr& i, const Expr& j) {
            return grow(m_state, state(i, j), key(i) * load(m_update, {j}));
        });
        return tir::seq({decay, update, write, read(b, h, t)});
    }

    /// Every query head that shares this state.
    Stmt read(const Expr& b, const Expr& h, const Expr& t)
    {
        const Expr shared(m_output->shape[1]->integer / m_state->shape[1]->integer);
        return over("g", shared, [&](const Expr& g) {
            return over("j", m_state->shape[3], [&](const Expr& j) {
                const Exprs at{b, h * shared + g, t, j};
                const Stmt sum = over("i", m_state->shape[2], [&](const Expr& i) {
                    return grow(m_output, at,
                                load(m_in[kQuery], {b, h * shared + g, t, i}) *
                                    load(m_state, {b, h, i, j}));
                });
                return tir::seq({store(m_output, at, tir::zeroOf(m_output->dtype)), sum});
            });
        });
    }

    const std::vector<Buffer>& m_in;
    Buffer m_output;
    Buffer m_state;
    Buffer m_update; ///< what the state gains along each column
    bool m_correctsDelta;
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType dtype = in[0]->dtype();
    return te::external(
        "linear_attention", in,
        {{extents(op.results[0].shape), dtype}, {extents(op.results[1].shape), dtype}},
        [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
            return Recurrence(from, to, flagAttr(op, "delta")).statement();
        });
}

Cost cost(const OpView& op)
{
    const double width = static_cast<double>(op.results[0].shape[3].constant().value_or(1));
    return {8 * elements(op.operands[kKey]) * width, bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"query", "[B, HQ, T, K], scaled"},
                                     {"key", "[B, H, T, K], H divides HQ"},
                                     {"value", "[B, H, T, V]"},
                                     {"state", "[B, H, K, V]"},
                                     {"decay", "[B, H, T, K], logarithms"},
                                     {"beta", "[B, H, T, 1], rates of update"}};
constexpr AttrSpec kAttrs[] = {
    {"delta", "int", "1: write the difference to what the state holds for the key", "0"}};

} // namespace

extern constinit const OpDef linearAttentionOp = {
    .name = "nn.linear_attention",
    .doc = "for each t: S = e^decay * S; u = value, with delta beta * (value - S^T key); "
           "S = S + key u^T; y[t] = S^T query; results y and the last S",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .method = {.kind = Method::LinearAttention},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%q: Tensor[(1, 4, 3, 2), float32], %k: Tensor[(1, 2, 3, 2), float32], "
               "%v: Tensor[(1, 2, 3, 5), float32], %s: Tensor[(1, 2, 2, 5), float32], "
               "%d: Tensor[(1, 2, 3, 2), float32], %b: Tensor[(1, 2, 3, 1), float32] "
               "=> nn.linear_attention(%q, %k, %v, %s, %d, %b, delta=1)",
};

} // namespace tenon::compiler
