// SPDX-License-Identifier: Apache-2.0
// Types and the time loop of the recurrent operators.
#include "compiler/ops/recurrent.h"

#include "compiler/ops/recurrent_activations.h"
#include "compiler/ops/statements.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

Status checkOperands(const OpView& op, int64_t parts, size_t stateCount)
{
    const size_t lengths = lengthsOperand(op);
    if (const Status ok = needRank(op, kGatesOperand, 3); !ok) return ok;
    if (op.operands[kWeightOperand].shape.size() != 3)
        if (const Status ok = needRank(op, kWeightOperand, 2); !ok) return ok;
    const TensorType& gates = op.operands[kGatesOperand];
    const TensorType& weight = op.operands[kWeightOperand];
    if (gates.dtype != kFloat32 && gates.dtype != kFloat64)
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes float32 and float64 but got " + gates.text());
    if (const Status ok = needSameDtype(op, kGatesOperand, kWeightOperand); !ok) return ok;
    const Dim wanted = hiddenOf(weight) * Dim(parts);
    if (!constantShape(weight.shape) || !(columnsOf(weight) == wanted) ||
        !(gates.shape[2] == wanted))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects gates [S, B, " + std::to_string(parts) + "H] and weights [H, " +
                           std::to_string(parts) + "H] but they are " + gates.text() + " and " +
                           weight.text());
    const TensorType state{gates.dtype, {gates.shape[1], hiddenOf(weight)}};
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

Dim hiddenOf(const TensorType& weight) { return weight.shape[weight.shape.size() - 2]; }

Dim columnsOf(const TensorType& weight)
{
    return weight.shape.size() == 3 ? weight.shape[0] * weight.shape[2] : weight.shape[1];
}

Result<Types> inferRecurrent(const OpView& op, int64_t parts, size_t stateCount)
{
    if (const Status ok = checkOperands(op, parts, stateCount); !ok) return ok.error();
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
    const Dim hidden = hiddenOf(op.operands[kWeightOperand]);
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
    return serialLoop("member", Expr(product.sequences),
                      [&](const Expr& member) { return body(at(member)); });
}

Stmt forUnits(int64_t hidden, const std::function<Stmt(const Expr&)>& body)
{
    std::vector<Stmt> parts;
    int64_t first = 0;
    for (int64_t lanes = kLargestRecurrentVector; lanes > 0; lanes /= 2) {
        const int64_t vectors = (hidden - first) / lanes;
        if (vectors == 0) continue;
        parts.push_back(serialLoop("units", Expr(vectors), [&](const Expr& outer) {
            return loopOf(tir::LoopKind::Vectorized, "unit", Expr(lanes), [&](const Expr& lane) {
                return body(Expr(first) + outer * Expr(lanes) + lane);
            });
        }));
        first += vectors * lanes;
    }
    return tir::seq(std::move(parts));
}

namespace {

/// Sequences whose ends are known to be the same, and as many as divide all of them.
int64_t sequencesTogether(const OpView& op, const TargetFacts& facts)
{
    const Dim& sequences = op.operands[kGatesOperand].shape[1];
    if (op.isPresent(lengthsOperand(op)) || !sequences.isConst()) return 1;
    int64_t together = mostSequences(facts);
    while (sequences.value() % together != 0) --together;
    return together;
}

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
        , m_hidden(hiddenOf(op.operands[kWeightOperand]).value())
        , m_isReverse(flagAttr(op, "reverse"))
        , m_lengths(lengthsOperand(op))
        , m_hasLengths(op.isPresent(m_lengths))
        , m_facts(op.facts ? *op.facts : TargetFacts{})
        , m_together(sequencesTogether(op, m_facts))
    {
    }

    Stmt nest() const
    {
        const Stmt body = serialLoop("step", m_steps, [&](const Expr& s) {
            const Expr groups = floorDiv(m_sequences, Expr(m_together));
            return serialLoop("sequences", groups, [&](const Expr& group) {
                return stepOf(s, group * Expr(m_together), floorMod(s * groups + group, Expr(2)));
            });
        });
        return tir::seq({begin(), body});
    }

private:
    /// The states before the first step.
    Stmt begin() const
    {
        return serialLoop("sequence", m_sequences, [&](const Expr& b) {
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
    Stmt stepOf(const Expr& s, const Expr& b, const Expr& turn) const
    {
        if (!m_hasLengths) return advance(b, m_isReverse ? m_steps - Expr(1) - s : s, turn);
        const Expr length = tir::cast(kInt64, tir::load(m_operands[m_lengths], {b}));
        const Expr bounded = minimum(length, m_steps);
        const Stmt blank = forUnits(m_hidden, [&](const Expr& unit) {
            return tir::store(m_y, {s, b, unit}, tir::zeroOf(m_y->dtype));
        });
        return tir::ifThen(s < bounded, advance(b, m_isReverse ? bounded - Expr(1) - s : s, turn),
                           blank);
    }

    /// Rows of H sums.
    int64_t sumsOfStep() const { return m_plan.parts + (m_plan.lastBias ? 1 : 0); }

    /// What the sums hold before the product is added: what the `input` adds.
    Stmt beginSums(const RecurrentStep& one, const std::function<Expr(const Expr&)>& input) const
    {
        const auto copy = [&](int64_t from, int64_t to, int64_t columns) {
            return forUnits(columns, [&](const Expr& unit) {
                return tir::store(one.gates, {one.member, Expr(to) + unit},
                                  input(Expr(from) + unit));
            });
        };
        if (!m_plan.lastBias) return copy(0, 0, m_plan.parts * m_hidden);
        const int64_t last = (m_plan.parts - 1) * m_hidden;
        const size_t at = *m_plan.lastBias;
        const Buffer bias = at < m_operands.size() ? m_operands[at] : nullptr;
        const Stmt begin = forUnits(m_hidden, [&](const Expr& unit) {
            return tir::store(one.gates, {one.member, Expr(last) + unit},
                              bias ? tir::load(bias, {unit}) : tir::zeroOf(m_y->dtype));
        });
        return tir::seq({copy(0, 0, last), begin, copy(last, last + m_hidden, m_hidden)});
    }

    /// The gates' sums at `time`, the new states, and what of them is the result.
    Stmt advance(const Expr& b, const Expr& time, const Expr& turn) const
    {
        const Buffer gates =
            tir::makeBuffer("gates", {Expr(m_together), Expr(sumsOfStep() * m_hidden)}, m_y->dtype,
                            tir::Scope::Local);
        const RecurrentGroup group{
            {m_facts, m_together, turn}, [&](const Expr& member) {
                return RecurrentStep{gates, m_states, member, b + member, m_hidden};
            }};
        const Stmt sums = group.forEach([&](const RecurrentStep& one) {
            return beginSums(one, [&](const Expr& column) {
                return tir::load(m_operands[kGatesOperand], {time, one.sequence, column});
            });
        });
        const Stmt product = addProduct(
            m_operands[kWeightOperand], gates,
            [&](const Expr& member, const Expr& k) { return group.at(member).state(0, k); },
            group.product, 0, m_plan.productParts * m_hidden);
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
    size_t m_lengths; ///< operand
    bool m_hasLengths;
    TargetFacts m_facts;
    int64_t m_together; ///< sequences of a group
};

} // namespace

size_t lengthsOperand(const OpView& op) { return op.op == "nn.lstm" ? 4 : 3; }

ProductSize productOfStep(const OpView& op, const TargetFacts& facts)
{
    const TensorType& weight = op.operands[kWeightOperand];
    return {hiddenOf(weight).value(), columnsOf(weight).value(), weight.dtype.bytes(),
            sequencesTogether(op, facts)};
}

te::Tensors lowerRecurrent(const OpView& op, const te::Tensors& in, const RecurrentPlan& plan,
                           const RecurrentStepFn& step)
{
    const Exprs gatesShape = in[kGatesOperand]->shape();
    const DataType dtype = in[kGatesOperand]->dtype();
    const Expr hidden(hiddenOf(op.operands[kWeightOperand]).value());
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
                elements({kFloat32, {hiddenOf(op.operands[kWeightOperand])}}),
            bytesMoved(op)};
}

} // namespace tenon::compiler
