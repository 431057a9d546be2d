// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM in floats, step after step; its state starts at zero.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/recurrent.h"

namespace tenon::compiler {
namespace {

/// The steps of a float LSTM.
class FloatLstm
{
public:
    FloatLstm(TfliteNode& node, const SequenceShape& shape)
        : m_node(node)
        , f(node)
        , m_shape(shape)
        , m_activation(activationAt(node, 0))
        , m_cellClip(node.number(1))
        , m_projectionClip(node.number(2))
    {
    }

    void run()
    {
        const ValueRef hidden = zeros(m_shape.outputs), cell = zeros(m_shape.cells);
        State state{hidden, cell};
        std::vector<ValueRef> steps;
        const ValueRef input = timeFirst(m_node, realInput(m_node, 0), m_shape);
        for (int64_t t = 0; t < m_shape.steps && !m_node.hasFailed(); ++t) {
            state = step(stepOf(m_node, input, t, m_shape), state);
            steps.push_back(state.hidden);
        }
        if (!m_node.hasFailed()) outputReal(m_node, 0, joinedSteps(m_node, steps, m_shape));
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

    /// What enters a gate, without its activation.
    ValueRef gateSum(LstmGate gate, ValueRef x, const State& state)
    {
        const LstmInputs at(gate);
        ValueRef sum = f.add(dense(x, at.input), dense(state.hidden, at.recurrent));
        if (at.peephole && m_node.has(*at.peephole))
            sum = f.add(sum, f.multiply(state.cell, realInput(m_node, *at.peephole)));
        if (m_node.has(at.norm)) sum = normalized(sum, at.norm);
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
        const bool isCoupled = !m_node.has(LstmInputs(LstmGate::Input).input);
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
        if (m_node.has(LstmInputs::kProjection)) after.hidden = projected(after.hidden);
        return after;
    }

    ValueRef projected(ValueRef hidden)
    {
        ValueRef out = dense(hidden, LstmInputs::kProjection);
        if (m_node.has(LstmInputs::kProjectionBias))
            out = f.add(out, realInput(m_node, LstmInputs::kProjectionBias));
        return m_projectionClip > 0 ? f.clip(out, -m_projectionClip, m_projectionClip) : out;
    }

    TfliteNode& m_node;
    Formula f;
    SequenceShape m_shape;
    FusedActivation m_activation;
    double m_cellClip, m_projectionClip;
};

} // namespace

void convertUnidirectionalSequenceLstm(TfliteNode& node)
{
    const SequenceShape shape = sequenceShape(node);
    if (node.hasFailed()) return;
    noteStartOfState(node, LstmInputs::kCellState);
    if (node.isQuantized(0))
        integerLstm(node, shape);
    else
        FloatLstm(node, shape).run();
}

} // namespace tenon::compiler
