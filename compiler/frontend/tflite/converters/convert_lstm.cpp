// SPDX-License-Identifier: Apache-2.0
// LSTM of one step, and sequences of steps in one direction or both.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/recurrent.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// Where both directions have their operands.
constexpr size_t kShift = 17;
constexpr BothDirections kBoth{
    .auxiliary = 39, .forwardAuxiliary = 40, .backwardAuxiliary = 44, .mergeField = 3};
constexpr size_t kForwardCell = 36, kBackwardCell = 38;

SequenceOperands operandsOf(size_t data, size_t shift, bool isTimeFirst)
{
    const LstmInputs output(LstmGate::Output, shift);
    return {data, output.input, output.recurrent, isTimeFirst};
}

void oneDirection(TfliteNode& node, bool isTimeFirst)
{
    const SequenceShape shape = sequenceShape(node, operandsOf(0, 0, isTimeFirst));
    if (node.hasFailed()) return;
    noteStartOfState(node, LstmInputs::kCellState);
    if (node.isQuantized(0)) return integerLstm(node, shape);
    const ValueRef out = floatLstm(node, {.shape = shape});
    if (!node.hasFailed()) outputReal(node, 0, out);
}

ValueRef oneOfBoth(TfliteNode& node, Direction direction)
{
    const bool isForward = direction == Direction::Forward;
    LstmPass pass{.data = dataOf(node, kBoth, direction),
                  .shift = isForward ? 0 : kShift,
                  .canHaveNorms = false,
                  .auxiliary = auxiliaryOf(node, kBoth, direction),
                  .direction = direction};
    pass.shape = sequenceShape(node, operandsOf(pass.data, pass.shift, node.flag(4, true)));
    if (node.hasFailed()) return {};
    noteStartOfState(node, isForward ? kForwardCell : kBackwardCell);
    return floatLstm(node, pass);
}

/// Inputs of the kernel that has all gates in one weight; its state is an input like others.
constexpr size_t kData = 0, kHidden = 1, kWeight = 2, kBias = 3, kCell = 4;

void basicLstm(TfliteNode& node)
{
    const std::vector<int64_t> cells = node.shape(kCell);
    const ValueRef hidden = realInput(node, kHidden), cell = realInput(node, kCell);
    if (node.hasFailed()) return;
    if (node.isQuantized(kData)) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "a basic LSTM of integers is not supported; convert the model in floats");
        return;
    }
    Formula f(node);
    const auto axis = static_cast<int64_t>(cells.size()) - 1;
    const ValueRef joined =
        f.call("concatenate", {realInput(node, kData), hidden}, {{"axis", axis}});
    const ValueRef sums =
        f.call("nn.bias_add",
               {f.call("nn.dense", {joined, realInput(node, kWeight)}), realInput(node, kBias)},
               {{"axis", axis}});
    if (node.hasFailed()) return;
    if (cells.size() != 2 || f.shape(sums).back() != 4 * cells.back()) {
        node.fail(DiagnosticCode::ShapeMismatch, "gates of " + node.typeOf(sums).text() +
                                                     " do not fit a state of (" +
                                                     join(cells, ", ") + ")");
        return;
    }
    const auto gate = [&](int64_t at) {
        return f.slice(sums, 1, at * cells[1], (at + 1) * cells[1]);
    };
    const ValueRef entering = f.multiply(f.apply("sigmoid", gate(0)), f.apply("tanh", gate(1)));
    const ValueRef next = f.add(entering, f.multiply(f.apply("sigmoid", gate(2)), cell));
    outputReal(node, 0, f.multiply(f.apply("sigmoid", gate(3)), f.apply("tanh", next)));
    if (node.usesOutput(1)) outputReal(node, 1, next);
    if (node.usesOutput(2)) outputReal(node, 2, joined);
    if (node.usesOutput(3)) outputReal(node, 3, sums);
}

} // namespace

void convertLstm(TfliteNode& node)
{
    constexpr int kKernel = 3;
    if (node.byte(kKernel) == 1) return basicLstm(node);
    if (node.rank(0) != 2 && !node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "one step [batch, features] is needed but the input is " + node.type(0).text());
    oneDirection(node, false);
}

void convertUnidirectionalSequenceLstm(TfliteNode& node) { oneDirection(node, node.flag(3)); }

void convertBidirectionalSequenceLstm(TfliteNode& node)
{
    const ValueRef forward = oneOfBoth(node, Direction::Forward);
    const ValueRef backward = oneOfBoth(node, Direction::Backward);
    outputBoth(node, kBoth, forward, backward);
}

} // namespace tenon::compiler
