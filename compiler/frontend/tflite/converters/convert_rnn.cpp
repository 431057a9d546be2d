// SPDX-License-Identifier: Apache-2.0
// RNN of one step, and sequences of steps in one direction or both, in floats.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/recurrent.h"

namespace tenon::compiler {
namespace {

constexpr BothDirections kBoth{
    .auxiliary = 9, .forwardAuxiliary = 10, .backwardAuxiliary = 11, .mergeField = 2};

/// One direction: its input, and where its weight, recurrent weight, bias and state follow.
struct RnnPass
{
    size_t data = 0, first = 1;
    bool isTimeFirst = false;
    int activationField = 0;
    std::optional<AuxiliaryData> auxiliary = std::nullopt;
    Direction direction = Direction::Forward;
};

ValueRef rnn(TfliteNode& node, const RnnPass& pass)
{
    const size_t recurrent = pass.first + 1, bias = pass.first + 2, state = pass.first + 3;
    const FusedActivation activation = activationAt(node, pass.activationField);
    const SequenceShape shape =
        sequenceShape(node, {pass.data, pass.first, recurrent, pass.isTimeFirst});
    if (node.hasFailed()) return {};
    noteStartOfState(node, state);
    Formula f(node);
    const auto dense = [&](ValueRef x, size_t weight) {
        return f.call("nn.dense", {x, realInput(node, weight)});
    };
    const ValueRef input = timeFirst(node, realInput(node, pass.data), shape);
    std::vector<ValueRef> auxiliary;
    if (pass.auxiliary) auxiliary = auxiliarySteps(node, *pass.auxiliary, shape);
    ValueRef hidden = f.broadcast(node.scalar(0, kFloat32), {shape.batch, shape.outputs});
    std::vector<ValueRef> steps(static_cast<size_t>(shape.steps));
    for (const int64_t t : stepOrder(shape, pass.direction)) {
        if (node.hasFailed()) return {};
        const auto at = static_cast<size_t>(t);
        ValueRef sum =
            f.add(dense(stepOf(node, input, t, shape), pass.first), dense(hidden, recurrent));
        if (pass.auxiliary) sum = f.add(sum, dense(auxiliary[at], pass.auxiliary->weight));
        sum = f.call("nn.bias_add", {sum, realInput(node, bias)}, {{"axis", int64_t{1}}});
        hidden = activated(node, sum, activation);
        steps[at] = hidden;
    }
    return node.hasFailed() ? ValueRef{} : joinedSteps(node, steps, shape);
}

void oneDirection(TfliteNode& node, const RnnPass& pass)
{
    const ValueRef out = rnn(node, pass);
    if (!node.hasFailed()) outputReal(node, 0, out);
}

ValueRef oneOfBoth(TfliteNode& node, Direction direction)
{
    return rnn(node, {.data = dataOf(node, kBoth, direction),
                      .first = direction == Direction::Forward ? size_t{1} : size_t{5},
                      .isTimeFirst = node.flag(0),
                      .activationField = 1,
                      .auxiliary = auxiliaryOf(node, kBoth, direction),
                      .direction = direction});
}

} // namespace

void convertRnn(TfliteNode& node)
{
    if (node.rank(0) != 2 && !node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "one step [batch, features] is needed but the input is " + node.type(0).text());
    oneDirection(node, {});
}

void convertUnidirectionalSequenceRnn(TfliteNode& node)
{
    oneDirection(node, {.isTimeFirst = node.flag(0), .activationField = 1});
}

void convertBidirectionalSequenceRnn(TfliteNode& node)
{
    const ValueRef forward = oneOfBoth(node, Direction::Forward);
    const ValueRef backward = oneOfBoth(node, Direction::Backward);
    outputBoth(node, kBoth, forward, backward);
}

} // namespace tenon::compiler
