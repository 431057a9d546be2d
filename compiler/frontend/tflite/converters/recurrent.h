// SPDX-License-Identifier: Apache-2.0
// What sequences of LSTM steps share: where operands stand, steps of the input, joining results.
#pragma once

#include "compiler/frontend/tflite/converters/quantized.h"

#include <optional>

namespace tenon::compiler {

enum class LstmGate : uint8_t
{
    Input,
    Forget,
    Cell,
    Output
};

/// Inputs of the operator that belong to a gate.
struct LstmInputs
{
    explicit LstmInputs(LstmGate gate);

    static constexpr size_t kProjection = 16, kProjectionBias = 17, kHidden = 18, kCellState = 19;

    size_t input, recurrent, bias, norm;
    std::optional<size_t> peephole; ///< the candidate has none
};

struct SequenceShape
{
    int64_t steps = 0, batch = 0, inputs = 0, cells = 0, outputs = 0;
    bool isTimeFirst = false;
    bool hasTime = true; ///< false: one step, without an axis for it
};

/// Of the operator's input and weights; fails for what does not fit or is too long to write out.
SequenceShape sequenceShape(TfliteNode& node);
/// [time, batch, features].
ValueRef timeFirst(TfliteNode& node, ValueRef input, const SequenceShape& shape);
/// [batch, features] of step `t`.
ValueRef stepOf(TfliteNode& node, ValueRef input, int64_t t, const SequenceShape& shape);
/// The results of all steps in the file's order.
ValueRef joinedSteps(TfliteNode& node, const std::vector<ValueRef>& steps,
                     const SequenceShape& shape);

/// Says that what the variable at this input holds is not kept for the next run, where there is
/// one.
void noteStartOfState(TfliteNode& node, size_t input);

/// 8-bit values with a 16-bit cell and 16-bit gates.
void integerLstm(TfliteNode& node, const SequenceShape& shape);

} // namespace tenon::compiler
