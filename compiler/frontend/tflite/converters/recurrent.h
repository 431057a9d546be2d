// SPDX-License-Identifier: Apache-2.0
// What sequences of recurrent steps share: where operands stand, steps of the input, joining
// results.
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
    /// `shift` leads from the operands of one direction to those of the other.
    explicit LstmInputs(LstmGate gate, size_t shift = 0);

    static constexpr size_t kProjection = 16, kProjectionBias = 17, kHidden = 18, kCellState = 19;

    size_t input, recurrent, bias;
    size_t norm;                    ///< where the operator has one direction only
    std::optional<size_t> peephole; ///< the candidate has none
};

struct SequenceShape
{
    int64_t steps = 0, batch = 0, inputs = 0, cells = 0, outputs = 0;
    bool isTimeFirst = false;
    bool hasTime = true; ///< false: one step, without an axis for it
};

/// Which inputs decide the shape, and whether time stands before the batch.
struct SequenceOperands
{
    size_t data, weight, recurrent;
    bool isTimeFirst = false;
};

/// Fails for what does not fit or is too long to write out.
SequenceShape sequenceShape(TfliteNode& node, const SequenceOperands& operands);
/// [time, batch, features].
ValueRef timeFirst(TfliteNode& node, ValueRef input, const SequenceShape& shape);
/// [batch, features] of step `t`.
ValueRef stepOf(TfliteNode& node, ValueRef input, int64_t t, const SequenceShape& shape);
/// The results of all steps in the file's order.
ValueRef joinedSteps(TfliteNode& node, const std::vector<ValueRef>& steps,
                     const SequenceShape& shape);

enum class Direction : uint8_t
{
    Forward,
    Backward
};
/// Steps in the order in which they are computed.
std::vector<int64_t> stepOrder(const SequenceShape& shape, Direction direction);

/// Data besides a sequence's own, a step at a time, and the first of the weights for it.
struct AuxiliaryData
{
    size_t data, weight;
};

/// Inputs of an operator of both directions and the options that it calls by number.
struct BothDirections
{
    size_t auxiliary;         ///< data for both, or for the one backward where it has no weights
    size_t forwardAuxiliary;  ///< the first of its weights
    size_t backwardAuxiliary; ///< the same
    int mergeField;
};
/// What the direction reads besides its own data, if anything.
std::optional<AuxiliaryData> auxiliaryOf(TfliteNode& node, const BothDirections& both,
                                         Direction direction);
/// The input that the direction reads.
size_t dataOf(TfliteNode& node, const BothDirections& both, Direction direction);
/// Both results, joined where the file wants one.
void outputBoth(TfliteNode& node, const BothDirections& both, ValueRef forward, ValueRef backward);
/// [batch, features] of each step of auxiliary data; fails when they do not fit.
std::vector<ValueRef> auxiliarySteps(TfliteNode& node, const AuxiliaryData& auxiliary,
                                     const SequenceShape& shape);

/// Says that what the variable at this input holds is not kept for the next run, where there is
/// one.
void noteStartOfState(TfliteNode& node, size_t input);

/// One direction of an LSTM in floats, whose state starts at zero.
struct LstmPass
{
    SequenceShape shape;
    size_t data = 0;
    size_t shift = 0; ///< see LstmInputs
    bool canHaveNorms = true;
    std::optional<AuxiliaryData> auxiliary;
    Direction direction = Direction::Forward;
};
/// Its results in the file's order.
ValueRef floatLstm(TfliteNode& node, const LstmPass& pass);

/// 8-bit values with a 16-bit cell and 16-bit gates.
void integerLstm(TfliteNode& node, const SequenceShape& shape);

} // namespace tenon::compiler
