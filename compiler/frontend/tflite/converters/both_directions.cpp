// SPDX-License-Identifier: Apache-2.0
// Operators that walk a sequence forward and backward: what each direction reads, and their
// results.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/recurrent.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// Auxiliary data without weights are what the backward direction reads.
bool isForBackwardOnly(TfliteNode& node, const BothDirections& both)
{
    // An LSTM whose gates are coupled has no first weight, but all of the others.
    return node.has(both.auxiliary) && !node.has(both.forwardAuxiliary) &&
           !node.has(both.forwardAuxiliary + 1);
}

} // namespace

size_t dataOf(TfliteNode& node, const BothDirections& both, Direction direction)
{
    return direction == Direction::Backward && isForBackwardOnly(node, both) ? both.auxiliary : 0;
}

std::optional<AuxiliaryData> auxiliaryOf(TfliteNode& node, const BothDirections& both,
                                         Direction direction)
{
    if (!node.has(both.auxiliary) || isForBackwardOnly(node, both)) return std::nullopt;
    return AuxiliaryData{both.auxiliary, direction == Direction::Forward ? both.forwardAuxiliary
                                                                         : both.backwardAuxiliary};
}

std::vector<ValueRef> auxiliarySteps(TfliteNode& node, const AuxiliaryData& auxiliary,
                                     const SequenceShape& shape)
{
    const std::vector<int64_t> data = node.shape(auxiliary.data);
    if (node.hasFailed()) return {};
    const bool isFit = data.size() == 3 && shape.hasTime &&
                       data[shape.isTimeFirst ? 0 : 1] == shape.steps &&
                       data[shape.isTimeFirst ? 1 : 0] == shape.batch;
    if (!isFit) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the auxiliary input (" + join(data, ", ") + ") does not fit " +
                      std::to_string(shape.steps) + " steps of " + std::to_string(shape.batch));
        return {};
    }
    SequenceShape own = shape;
    own.inputs = data[2];
    const ValueRef all = timeFirst(node, realInput(node, auxiliary.data), own);
    std::vector<ValueRef> steps;
    for (int64_t t = 0; t < shape.steps; ++t) steps.push_back(stepOf(node, all, t, own));
    return steps;
}

void outputBoth(TfliteNode& node, const BothDirections& both, ValueRef forward, ValueRef backward)
{
    if (node.hasFailed()) return;
    Formula f(node);
    if (node.flag(both.mergeField))
        return outputReal(node, 0, f.concat({forward, backward}, f.rank(forward) - 1));
    outputReal(node, 0, forward);
    if (node.usesOutput(1)) outputReal(node, 1, backward);
}

} // namespace tenon::compiler
