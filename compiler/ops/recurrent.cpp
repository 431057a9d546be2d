// SPDX-License-Identifier: Apache-2.0
// Types and the time loop of the recurrent operators.
#include "compiler/ops/recurrent.h"

#include "compiler/ops/recurrent_activations.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

/// Vectors whose sums one loop over the state keeps in registers: of one sequence or of several.
constexpr int64_t kVectorsPerTile = 8;
constexpr int64_t kMostTogether = 8;
constexpr int64_t kLargestVector = 16;

Stmt loopOver(const char* name, const Expr& extent, tir::LoopKind kind,
              const std::function<Stmt(const Expr&)>& body)
{
    const tir::Var var = tir::makeVar(name);
    return tir::forLoop({.var = var, .extent = extent, .kind = kind}, body(Expr(var)));
}

Stmt serial(const char* name, const Expr& extent, const std::function<Stmt(const Expr&)>& body)
{
    return loopOver(name, extent, tir::LoopKind::Serial, body);
}

using StateFn = std::function<Expr(const Expr& member, const Expr& unit)>;

/// Sums of `width` neighbouring columns of every sequence of a group, from `first` on, in vectors.
/// The last vector overlaps the one before where the width is no multiple: all begin with what
/// `sums` held before, so that both store the same.
Stmt productTile(const Buffer& weight, const Buffer& sums, const StateFn& state, const Expr& first,
                 int64_t width)
{
    const Expr group = sums->shape[0];
    const int64_t lanes = std::min(width, kLargestVector);
    const int64_t vectors = (width + lanes - 1) / lanes;
    const Buffer tile =
        tir::makeBuffer("sums", {group, Expr(vectors * lanes)}, sums->dtype, tir::Scope::Register);
    // `at` in the tile, `column` in the sums.
    using Body = std::function<Stmt(const Expr& member, const Expr& at, const Expr& column)>;
    const auto forTile = [&](const Body& body) {
        return loopOver("member", group, tir::LoopKind::Unrolled, [&](const Expr& member) {
            return loopOver("v", Expr(vectors), tir::LoopKind::Unrolled, [&](const Expr& v) {
                const Expr from = v * Expr(lanes);
                const Expr column = width % lanes == 0 ? from : minimum(from, Expr(width - lanes));
                return loopOver("lane", Expr(lanes), tir::LoopKind::Vectorized,
                                [&](const Expr& lane) {
                                    return body(member, from + lane, first + (column + lane));
                                });
            });
        });
    };
    const Stmt begin = forTile([&](const Expr& member, const Expr& at, const Expr& column) {
        return tir::store(tile, {member, at}, tir::load(sums, {member, column}));
    });
    const Stmt steps = serial("k", weight->shape[0], [&](const Expr& k) {
        return forTile([&](const Expr& member, const Expr& at, const Expr& column) {
            return tir::store(tile, {member, at},
                              tir::load(tile, {member, at}) +
                                  state(member, k) * tir::load(weight, {k, column}));
        });
    });
    const Stmt end = forTile([&](const Expr& member, const Expr& at, const Expr& column) {
        return tir::store(sums, {member, column}, tir::load(tile, {member, at}));
    });
    return tir::allocate(tile, tir::seq({begin, steps, end}));
}

Status checkOperands(const OpView& op, int64_t parts, size_t stateCount, size_t lengths)
{
    if (const Status ok = needRank(op, kGatesOperand, 3); !ok) return ok;
    if (const Status ok = needRank(op, kWeightOperand, 2); !ok) return ok;
    const TensorType& gates = op.operands[kGatesOperand];
    const TensorType& weight = op.operands[kWeightOperand];
    if (gates.dtype != kFloat32 && gates.dtype != kFloat64)
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes float32 and float64 but got " + gates.text());
    if (const Status ok = needSameDtype(op, kGatesOperand, kWeightOperand); !ok) return ok;
    const Dim wanted = weight.shape[0] * Dim(parts);
    if (!constantShape(weight.shape) || !(weight.shape[1] == wanted) || !(gates.shape[2] == wanted))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects gates [S, B, " + std::to_string(parts) + "H] and weights [H, " +
                           std::to_string(parts) + "H] but they are " + gates.text() + " and " +
                           weight.text());
    const TensorType state{gates.dtype, {gates.shape[1], weight.shape[0]}};
    const auto fits = [](const TensorType& a, const TensorType& b) {
        return a.dtype == b.dtype &&
               std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                          [](const Dim& x, const Dim& y) { return agreedDim(x, y).has_value(); });
    };
    for (size_t i = kStateOperand; i < kStateOperand + stateCount; ++i)
        if (!fits(op.operands[i], state))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "expects states of " + state.text() + " but got " +
                               op.operands[i].text());
    if (op.isPresent(lengths) && !fits(op.operands[lengths], {kInt32, {gates.shape[1]}}))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects lengths of Tensor[(" + gates.shape[1].text() +
                           ",), int32] but got " + op.operands[lengths].text());
    return kDone;
}

} // namespace

Result<Types> inferRecurrent(const OpView& op, int64_t parts, size_t stateCount, size_t lengths)
{
    if (const Status ok = checkOperands(op, parts, stateCount, lengths); !ok) return ok.error();
    const std::vector<std::string> names =
        op.attrs.strings("activations", {}); // absent: the operator's own
    for (const std::string& name : names)
        if (!findActivation(name))
            return opError(op, DiagnosticCode::BadAttribute,
                           "has no activation function " + quoted(name));
    for (const char* list : {"alphas", "betas"})
        if (const size_t count = floatsAttr(op, list).size(); count > 0 && count != names.size())
            return opError(op, DiagnosticCode::BadAttribute,
                           std::string(list) + " has " + std::to_string(count) + " values for " +
                               std::to_string(names.size()) + " activations");
    if (!(floatAttr(op, "clip") >= 0))
        return opError(op, DiagnosticCode::BadAttribute,
                       "clip is " + std::to_string(floatAttr(op, "clip")) +
                           "; it must be 0 or more");
    const Shape& gates = op.operands[kGatesOperand].shape;
    const Dim hidden = op.operands[kWeightOperand].shape[0];
    const DataType dtype = op.operands[kGatesOperand].dtype;
    Types out{{dtype, {gates[0], gates[1], hidden}}};
    for (size_t i = 0; i < stateCount; ++i) out.push_back({dtype, {gates[1], hidden}});
    return out;
}

RecurrentOptions recurrentOptions(const OpView& op)
{
    RecurrentOptions options{{}, floatAttr(op, "clip"), flagAttr(op, "reverse")};
    const std::vector<double> alphas = floatsAttr(op, "alphas"), betas = floatsAttr(op, "betas");
    for (const std::string& name : op.attrs.strings("activations", {})) {
        const ActivationRow* row = findActivation(name);
        const size_t i = options.activations.size();
        options.activations.push_back({name, i < alphas.size() ? alphas[i] : row->alpha,
                                       i < betas.size() ? betas[i] : row->beta});
    }
    return options;
}

Expr RecurrentStep::gate(int64_t part, const Expr& unit) const
{
    return tir::load(gates, {member, Expr(part * hidden) + unit});
}

Expr RecurrentStep::state(size_t which, const Expr& unit) const
{
    return tir::load(states[which], {sequence, unit});
}

Stmt RecurrentGroup::forEach(const std::function<Stmt(const RecurrentStep&)>& body) const
{
    return serial("member", Expr(size), [&](const Expr& member) { return body(at(member)); });
}

Stmt addProduct(const Buffer& weight, const Buffer& sums, const StateFn& state,
                const RecurrentGroup& group, int64_t from, int64_t to)
{
    const int64_t columns = to - from, lanes = std::min(columns, kLargestVector);
    const int64_t vectors = (columns + lanes - 1) / lanes;
    const int64_t most = std::max<int64_t>(1, kVectorsPerTile / group.size);
    int64_t tiles = (vectors + most - 1) / most;
    const int64_t perTile = (vectors + tiles - 1) / tiles;
    // A vector by itself would wait for its own sums, and could not overlap its neighbour.
    if (tiles > 1 && vectors - perTile * (tiles - 1) < 2) --tiles;
    const int64_t width = perTile * lanes;
    const Stmt last = productTile(weight, sums, state, Expr(from + (tiles - 1) * width),
                                  columns - (tiles - 1) * width);
    if (tiles == 1) return last;
    const Stmt others = serial("columns", Expr(tiles - 1), [&](const Expr& tile) {
        return productTile(weight, sums, state, Expr(from) + tile * Expr(width), width);
    });
    return tir::seq({others, last});
}

Stmt forUnits(int64_t hidden, const std::function<Stmt(const Expr&)>& body)
{
    std::vector<Stmt> parts;
    int64_t first = 0;
    for (int64_t lanes = kLargestVector; lanes > 0; lanes /= 2) {
        const int64_t vectors = (hidden - first) / lanes;
        if (vectors == 0) continue;
        parts.push_back(serial("units", Expr(vectors), [&](const Expr& outer) {
            return loopOver("unit", Expr(lanes), tir::LoopKind::Vectorized, [&](const Expr& lane) {
                return body(Expr(first) + outer * Expr(lanes) + lane);
            });
        }));
        first += vectors * lanes;
    }
    return tir::seq(std::move(parts));
}

namespace {

/// The loops over steps and sequences of one operator.
class RecurrentLoops
{
public:
    RecurrentLoops(const OpView& op, const RecurrentPlan& plan, const RecurrentStepFn& step,
                   std::vector<Buffer> operands, const std::vector<Buffer>& written)
        : m_plan(plan)
        , m_step(step)
        , m_operands(std::move(operands))
        , m_y(written[0])
        , m_states(written.begin() + 1, written.end())
        , m_steps(m_operands[kGatesOperand]->shape[0])
        , m_sequences(m_operands[kGatesOperand]->shape[1])
        , m_hidden(op.operands[kWeightOperand].shape[0].value())
        , m_isReverse(flagAttr(op, "reverse"))
        , m_hasLengths(op.isPresent(plan.lengths))
        , m_together(sequencesTogether())
    {
    }

    Stmt nest() const
    {
        const Stmt body = serial("step", m_steps, [&](const Expr& s) {
            return serial("sequences", floorDiv(m_sequences, Expr(m_together)),
                          [&](const Expr& group) { return stepOf(s, group * Expr(m_together)); });
        });
        return tir::seq({begin(), body});
    }

private:
    /// Sequences whose ends are known to be the same, and as many as divide all of them.
    int64_t sequencesTogether() const
    {
        if (m_hasLengths || m_sequences->kind != tir::ExprKind::IntImm) return 1;
        int64_t together = kMostTogether;
        while (m_sequences->integer % together != 0) --together;
        return together;
    }

    /// The states before the first step.
    Stmt begin() const
    {
        return serial("sequence", m_sequences, [&](const Expr& b) {
            return forUnits(m_hidden, [&](const Expr& unit) {
                std::vector<Stmt> copies;
                for (size_t i = 0; i < m_states.size(); ++i)
                    copies.push_back(
                        tir::store(m_states[i], {b, unit},
                                   tir::load(m_operands[kStateOperand + i], {b, unit})));
                return tir::seq(std::move(copies));
            });
        });
    }

    /// Step `s` of the sequences from `b` on; zeros behind the end of one that has a length.
    Stmt stepOf(const Expr& s, const Expr& b) const
    {
        if (!m_hasLengths) return advance(b, m_isReverse ? m_steps - Expr(1) - s : s);
        const Expr length = tir::cast(kInt64, tir::load(m_operands[m_plan.lengths], {b}));
        const Expr bounded = minimum(length, m_steps);
        const Stmt blank = forUnits(m_hidden, [&](const Expr& unit) {
            return tir::store(m_y, {s, b, unit}, tir::zeroOf(m_y->dtype));
        });
        return tir::ifThen(s < bounded, advance(b, m_isReverse ? bounded - Expr(1) - s : s), blank);
    }

    /// The gates' sums at `time`, the new states, and what of them is the result.
    Stmt advance(const Expr& b, const Expr& time) const
    {
        const Buffer gates =
            tir::makeBuffer("gates", {Expr(m_together), Expr(m_plan.parts * m_hidden)}, m_y->dtype,
                            tir::Scope::Local);
        const RecurrentGroup group{
            m_together, [&](const Expr& member) {
                return RecurrentStep{gates, m_states, member, b + member, m_hidden};
            }};
        const Stmt sums = group.forEach([&](const RecurrentStep& one) {
            return forUnits(m_plan.parts * m_hidden, [&](const Expr& column) {
                return tir::store(
                    gates, {one.member, column},
                    tir::load(m_operands[kGatesOperand], {time, one.sequence, column}));
            });
        });
        const Stmt product = addProduct(
            m_operands[kWeightOperand], gates,
            [&](const Expr& member, const Expr& k) { return group.at(member).state(0, k); }, group,
            0, m_plan.productParts * m_hidden);
        const Stmt out = group.forEach([&](const RecurrentStep& one) {
            return forUnits(m_hidden, [&](const Expr& unit) {
                return tir::store(m_y, {time, one.sequence, unit}, one.state(0, unit));
            });
        });
        return tir::allocate(gates, tir::seq({sums, product, m_step(group, m_operands), out}));
    }

    const RecurrentPlan& m_plan;
    const RecurrentStepFn& m_step;
    std::vector<Buffer> m_operands;
    Buffer m_y;
    std::vector<Buffer> m_states;
    Expr m_steps;
    Expr m_sequences;
    int64_t m_hidden;
    bool m_isReverse;
    bool m_hasLengths;
    int64_t m_together; ///< sequences of a group
};

} // namespace

te::Tensors lowerRecurrent(const OpView& op, const te::Tensors& in, const RecurrentPlan& plan,
                           const RecurrentStepFn& step)
{
    const Exprs gatesShape = in[kGatesOperand]->shape();
    const DataType dtype = in[kGatesOperand]->dtype();
    const Expr hidden(op.operands[kWeightOperand].shape[0].value());
    te::Tensors given;
    std::vector<size_t> slot(in.size(), 0);
    for (size_t i = 0; i < in.size(); ++i)
        if (in[i]) {
            slot[i] = given.size();
            given.push_back(in[i]);
        }
    std::vector<std::pair<Exprs, DataType>> outputs{
        {{gatesShape[0], gatesShape[1], hidden}, dtype}};
    for (size_t i = 0; i < plan.stateCount; ++i)
        outputs.push_back({{gatesShape[1], hidden}, dtype});
    return te::external(
        "recurrent", given, outputs,
        [&](const std::vector<Buffer>& read, const std::vector<Buffer>& written) {
            std::vector<Buffer> operands(in.size());
            for (size_t i = 0; i < in.size(); ++i)
                if (in[i]) operands[i] = read[slot[i]];
            return RecurrentLoops(op, plan, step, std::move(operands), written).nest();
        });
}

Cost recurrentCost(const OpView& op)
{
    return {2 * elements(op.operands[kGatesOperand]) *
                elements({kFloat32, {op.operands[kWeightOperand].shape[0]}}),
            bytesMoved(op)};
}

} // namespace tenon::compiler
