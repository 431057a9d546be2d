// SPDX-License-Identifier: Apache-2.0
// LSTM in floats, step after step in one direction; its state starts at zero.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/recurrent.h"

namespace tenon::compiler {
namespace {

/// The steps of a float LSTM.
class FloatLstm
{
public:
    FloatLstm(TfliteNode& node, const LstmPass& pass)
        : m_node(node)
        , f(node)
        , m_pass(pass)
        , m_shape(pass.shape)
        , m_activation(activationAt(node, 0))
        , m_cellClip(node.number(1))
        , m_projectionClip(node.number(2))
    {
    }

    ValueRef run()
    {
        State state{zeros(m_shape.outputs), zeros(m_shape.cells)};
        std::vector<ValueRef> steps(static_cast<size_t>(m_shape.steps));
        const ValueRef input = timeFirst(m_node, realInput(m_node, m_pass.data), m_shape);
        if (m_pass.auxiliary) m_auxiliary = auxiliarySteps(m_node, *m_pass.auxiliary, m_shape);
        for (const int64_t t : stepOrder(m_shape, m_pass.direction)) {
            if (m_node.hasFailed()) return {};
            m_step = static_cast<size_t>(t);
            state = step(stepOf(m_node, input, t, m_shape), state);
            steps[m_step] = state.hidden;
        }
        return m_node.hasFailed() ? ValueRef{} : joinedSteps(m_node, steps, m_shape);
    }

private:
    struct State
    {
        ValueRef hidden, cell;
    };

    ValueRef zeros(int64_t units)
    {
        return f.broadcast(m_node.scalar(0, kFloat32), {m_shape.batch, units});
    }

    LstmInputs inputsOf(LstmGate gate) const { return LstmInputs(gate, m_pass.shift); }

    /// What enters a gate, without its activation.
    ValueRef gateSum(LstmGate gate, ValueRef x, const State& state)
    {
        const LstmInputs at = inputsOf(gate);
        ValueRef sum = f.add(dense(x, at.input), dense(state.hidden, at.recurrent));
        if (m_pass.auxiliary)
            sum = f.add(sum, dense(m_auxiliary[m_step],
                                   m_pass.auxiliary->weight + static_cast<size_t>(gate)));
        if (at.peephole && m_node.has(*at.peephole))
            sum = f.add(sum, f.multiply(state.cell, realInput(m_node, *at.peephole)));
        if (m_pass.canHaveNorms && m_node.has(at.norm)) sum = normalized(sum, at.norm);
        return m_node.has(at.bias) ? f.add(sum, realInput(m_node, at.bias)) : sum;
    }

    ValueRef dense(ValueRef x, size_t weight)
    {
        return f.call("nn.dense", {x, realInput(m_node, weight)});
    }

    ValueRef normalized(ValueRef sum, size_t weight)
    {
        const ValueRef mean = f.reduce("mean", sum, {1}, Formula::Keep::Yes);
        const ValueRef centred = f.subtract(sum, mean);
        const ValueRef variance =
            f.reduce("mean", f.multiply(centred, centred), {1}, Formula::Keep::Yes);
        const ValueRef unit = f.multiply(centred, f.apply("rsqrt", f.add(variance, 1e-8)));
        return f.multiply(unit, realInput(m_node, weight));
    }

    State step(ValueRef x, const State& before)
    {
        const bool isCoupled = !m_node.has(inputsOf(LstmGate::Input).input);
        const ValueRef forget = f.apply("sigmoid", gateSum(LstmGate::Forget, x, before));
        const ValueRef input = isCoupled ? f.add(f.apply("negative", forget), 1)
                                         : f.apply("sigmoid", gateSum(LstmGate::Input, x, before));
        const ValueRef candidate =
            activated(m_node, gateSum(LstmGate::Cell, x, before), m_activation);
        State after;
        after.cell = f.add(f.multiply(forget, before.cell), f.multiply(input, candidate));
        if (m_cellClip > 0) after.cell = f.clip(after.cell, -m_cellClip, m_cellClip);
        const ValueRef output =
            f.apply("sigmoid", gateSum(LstmGate::Output, x, {before.hidden, after.cell}));
        after.hidden = f.multiply(output, activated(m_node, after.cell, m_activation));
        if (m_node.has(LstmInputs::kProjection + m_pass.shift))
            after.hidden = projected(after.hidden);
        return after;
    }

    ValueRef projected(ValueRef hidden)
    {
        ValueRef out = dense(hidden, LstmInputs::kProjection + m_pass.shift);
        const size_t bias = LstmInputs::kProjectionBias + m_pass.shift;
        if (m_node.has(bias)) out = f.add(out, realInput(m_node, bias));
        return m_projectionClip > 0 ? f.clip(out, -m_projectionClip, m_projectionClip) : out;
    }

    TfliteNode& m_node;
    Formula f;
    const LstmPass& m_pass;
    const SequenceShape& m_shape;
    std::vector<ValueRef> m_auxiliary; ///< by step
    size_t m_step = 0;
    FusedActivation m_activation;
    double m_cellClip, m_projectionClip;
};

} // namespace

ValueRef floatLstm(TfliteNode& node, const LstmPass& pass) { return FloatLstm(node, pass).run(); }

} // namespace tenon::compiler
