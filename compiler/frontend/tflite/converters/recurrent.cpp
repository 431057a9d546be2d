// SPDX-License-Identifier: Apache-2.0
// Operands and steps of recurrent sequences.
#include "compiler/frontend/tflite/converters/recurrent.h"

#include "compiler/frontend/import/formula.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Steps are written out one by one: beyond this the module would not fit a screen, nor the memory.
constexpr int64_t kMostSteps = 256;

} // namespace

LstmInputs::LstmInputs(LstmGate gate, size_t shift)
{
    const auto at = static_cast<size_t>(gate) + shift;
    input = 1 + at;
    recurrent = 5 + at;
    bias = 12 + at;
    norm = 20 + at;
    if (gate == LstmGate::Input) peephole = 9 + shift;
    if (gate == LstmGate::Forget) peephole = 10 + shift;
    if (gate == LstmGate::Output) peephole = 11 + shift;
}

SequenceShape sequenceShape(TfliteNode& node, const SequenceOperands& operands)
{
    const std::vector<int64_t> data = node.shape(operands.data),
                               weight = node.shape(operands.weight),
                               recurrent = node.shape(operands.recurrent);
    if (node.hasFailed()) return {};
    SequenceShape out{.isTimeFirst = operands.isTimeFirst, .hasTime = data.size() == 3};
    const bool fits = (data.size() == 3 || data.size() == 2) && weight.size() == 2 &&
                      recurrent.size() == 2 && data.back() == weight[1] &&
                      recurrent[0] == weight[0];
    if (!fits) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the input (" + join(data, ", ") + ") does not fit weights of (" +
                      join(weight, ", ") + ") and (" + join(recurrent, ", ") + ")");
        return {};
    }
    out.inputs = weight[1];
    out.cells = weight[0];
    out.outputs = recurrent[1];
    out.steps = out.hasTime ? data[out.isTimeFirst ? 0 : 1] : 1;
    out.batch = out.hasTime ? data[out.isTimeFirst ? 1 : 0] : data[0];
    if (out.steps > kMostSteps)
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "a sequence of " + std::to_string(out.steps) + " steps is too long; up to " +
                      std::to_string(kMostSteps) + " are supported");
    else if (out.steps < 1)
        node.fail(DiagnosticCode::ShapeMismatch, "a sequence without steps has no result");
    return out;
}

ValueRef timeFirst(TfliteNode& node, ValueRef input, const SequenceShape& shape)
{
    Formula f(node);
    if (!shape.hasTime) return f.expand(input, 0);
    return shape.isTimeFirst ? input : f.transpose(input, {1, 0, 2});
}

ValueRef stepOf(TfliteNode& node, ValueRef input, int64_t t, const SequenceShape& shape)
{
    Formula f(node);
    return f.reshape(f.slice(input, 0, t, t + 1), {shape.batch, shape.inputs});
}

ValueRef joinedSteps(TfliteNode& node, const std::vector<ValueRef>& steps,
                     const SequenceShape& shape)
{
    Formula f(node);
    if (!shape.hasTime) return steps[0];
    const int64_t axis = shape.isTimeFirst ? 0 : 1;
    std::vector<ValueRef> parts;
    for (const ValueRef step : steps) parts.push_back(f.expand(step, axis));
    return f.concat(parts, axis);
}

std::vector<int64_t> stepOrder(const SequenceShape& shape, Direction direction)
{
    std::vector<int64_t> order = counted(0, shape.steps);
    if (direction == Direction::Backward) std::reverse(order.begin(), order.end());
    return order;
}

void noteStartOfState(TfliteNode& node, size_t input)
{
    const TfliteTensor* state = node.inputTensor(input);
    if (!state || !state->isVariable) return;
    node.notes().push_back(makeWarning(
        DiagnosticCode::UnsupportedFeature,
        "the state " + quoted(state->name) +
            " starts anew with every run; what TensorFlow Lite keeps of earlier ones is not read"));
}

} // namespace tenon::compiler
