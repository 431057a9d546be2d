// SPDX-License-Identifier: Apache-2.0
// LSTM steps of 8-bit or 16-bit values and 8-bit weights: gates are 16-bit numbers of 1/4096, their
// activations of 1/32768, the cell is a 16-bit number of a power of two. Whole numbers are held in
// binary32.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/recurrent.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr double kGateScale = 1.0 / 4096, kUnit = 32768;
constexpr double kLowest = -32768, kHighest = 32767;

class IntegerLstm
{
public:
    IntegerLstm(TfliteNode& node, const SequenceShape& shape)
        : m_node(node)
        , f(node)
        , m_shape(shape)
        , m_input(oneScale(node, node.inputTensor(0)))
        , m_hidden(oneScale(node, node.outputTensor(0)))
        , m_cellClip(node.number(1))
    {
        const TensorScale cell = oneScale(node, node.inputTensor(LstmInputs::kCellState));
        m_cellScale = cell.scale;
        const TfliteTensor* between = node.intermediate(4);
        m_between = between && between->quantization.scales.size() == 1 ? oneScale(node, between)
                                                                        : m_hidden;
        const bool isPlain = !node.has(LstmInputs::kProjection) &&
                             !node.has(LstmInputs(LstmGate::Forget).norm) &&
                             !node.has(*LstmInputs(LstmGate::Forget).peephole) &&
                             !node.has(*LstmInputs(LstmGate::Output).peephole) &&
                             node.outputType(0) == node.type(0).dtype;
        m_dtype = node.type(0).dtype;
        if (!isPlain || (m_dtype != kInt8 && m_dtype != kInt16))
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "an LSTM of integers with projection, normalization, peepholes or results of "
                      "another type is not supported");
    }

    void run()
    {
        const ValueRef input = timeFirst(m_node, m_node.input(0), m_shape);
        ValueRef hidden = f.broadcast(m_node.scalar(static_cast<double>(m_hidden.zero), m_dtype),
                                      {m_shape.batch, m_shape.outputs});
        ValueRef cell = f.broadcast(m_node.scalar(0, kFloat32), {m_shape.batch, m_shape.cells});
        std::vector<ValueRef> steps;
        for (int64_t t = 0; t < m_shape.steps && !m_node.hasFailed(); ++t) {
            const ValueRef x = stepOf(m_node, input, t, m_shape);
            cell = nextCell(x, hidden, cell);
            hidden = nextHidden(sigmoid(gateSum(LstmGate::Output, x, hidden)), cell);
            steps.push_back(hidden);
        }
        if (!m_node.hasFailed()) m_node.output(0, joinedSteps(m_node, steps, m_shape));
    }

private:
    ValueRef whole(ValueRef value) { return f.clip(f.apply("round", value), kLowest, kHighest); }

    /// x times a weight in steps of a gate, as int16.
    ValueRef product(ValueRef x, const TensorScale& scale, size_t weight, ValueRef bias)
    {
        const TensorScale w = oneScale(m_node, m_node.inputTensor(weight));
        const double ratio = scale.scale * w.scale / kGateScale;
        if (m_dtype == kInt16) return wideProduct(x, scale, weight, bias, ratio);
        ValueRef sums = f.call("qnn.dense",
                               {x, m_node.input(weight), integerScalar(m_node, scale.zero, kInt8)});
        if (bias.node.isValid()) sums = f.add(sums, f.cast(bias, kInt32));
        return f.call("qnn.requantize", {sums, f.numbers({ratio}, {}, kFloat32)},
                      {{"out_dtype", kInt16}});
    }

    /// The same of 16-bit values, whose sums may leave 32 bits.
    ValueRef wideProduct(ValueRef x, const TensorScale& scale, size_t weight, ValueRef bias,
                         double ratio)
    {
        const ValueRef centred = f.subtract(f.cast(x, kInt64), static_cast<double>(scale.zero));
        ValueRef sums = f.call("nn.dense", {centred, f.cast(m_node.input(weight), kInt64)});
        if (bias.node.isValid()) sums = f.add(sums, f.cast(bias, kInt64));
        return f.cast(whole(f.multiply(f.cast(sums, kFloat32), ratio)), kInt16);
    }

    /// What enters a gate, in real units.
    ValueRef gateSum(LstmGate gate, ValueRef x, ValueRef hidden)
    {
        const LstmInputs at(gate);
        const ValueRef a = product(x, m_input, at.input, m_node.optionalInput(at.bias));
        const ValueRef b = product(hidden, m_hidden, at.recurrent, {});
        const ValueRef sum = f.add(f.cast(a, kFloat32), f.cast(b, kFloat32));
        return f.multiply(f.clip(sum, kLowest, kHighest), kGateScale);
    }

    ValueRef sigmoid(ValueRef x) { return whole(f.multiply(f.apply("sigmoid", x), kUnit)); }
    ValueRef tanh(ValueRef x) { return whole(f.multiply(f.apply("tanh", x), kUnit)); }

    ValueRef nextCell(ValueRef x, ValueRef hidden, ValueRef cell)
    {
        const bool isCoupled = !m_node.has(LstmInputs(LstmGate::Input).input);
        const ValueRef forget = sigmoid(gateSum(LstmGate::Forget, x, hidden));
        const ValueRef input = isCoupled ? f.add(f.apply("negative", forget), kHighest)
                                         : sigmoid(gateSum(LstmGate::Input, x, hidden));
        const ValueRef candidate = tanh(gateSum(LstmGate::Cell, x, hidden));
        const ValueRef kept = whole(f.multiply(f.multiply(forget, cell), 1 / kUnit));
        const ValueRef added =
            whole(f.multiply(f.multiply(input, candidate), 1 / (kUnit * kUnit * m_cellScale)));
        ValueRef sum = f.clip(f.add(kept, added), kLowest, kHighest);
        if (m_cellClip > 0) {
            const double limit = std::min(m_cellClip / m_cellScale, kHighest);
            sum = f.clip(sum, -limit, limit);
        }
        return sum;
    }

    ValueRef nextHidden(ValueRef output, ValueRef cell)
    {
        const ValueRef shown = tanh(f.multiply(cell, m_cellScale));
        const ValueRef product = f.multiply(output, shown);
        const ValueRef steps =
            f.apply("round", f.multiply(product, 1 / (kUnit * kUnit * m_between.scale)));
        const ValueRef moved = f.add(steps, static_cast<double>(m_hidden.zero));
        return m_dtype == kInt8 ? f.cast(f.clip(moved, -128, 127), kInt8)
                                : f.cast(f.clip(moved, kLowest, kHighest), kInt16);
    }

    TfliteNode& m_node;
    Formula f;
    SequenceShape m_shape;
    TensorScale m_input, m_hidden, m_between;
    DataType m_dtype; ///< of input and hidden state
    double m_cellClip, m_cellScale = 1;
};

} // namespace

void integerLstm(TfliteNode& node, const SequenceShape& shape)
{
    IntegerLstm lstm(node, shape);
    if (!node.hasFailed()) lstm.run();
}

} // namespace tenon::compiler
