// SPDX-License-Identifier: Apache-2.0
// Recurrent: the loop over time that rnn, gru and lstm share, written as statements: one product of
// the states with the recurrent weights per step and group of sequences, its sums in registers.
#pragma once

#include "compiler/ops/recurrent_product.h"
#include "compiler/ops/shapes.h"

#include <functional>
#include <optional>

namespace tenon::compiler {

inline constexpr OperandSpec kHiddenOperand = {"hidden", "[B, H]: state before the first step"};
inline constexpr OperandSpec kLengthsOperand = {
    "lengths", "[B], int32: steps of each sequence; absent: S", OperandSpec::Optional};
// Of operators with several activations.
inline constexpr AttrSpec kAlphasAttr = {
    "alphas", "float[]", "first parameter of each function; empty: its default", "[]"};
inline constexpr AttrSpec kBetasAttr = {
    "betas", "float[]", "second parameter of each function; empty: its default", "[]"};
inline constexpr AttrSpec kGateClipAttr = {"clip", "float", "limit of what enters a gate; 0: none",
                                           "0"};
inline constexpr AttrSpec kReverseAttr = {"reverse", "int", "1: time runs backwards", "0"};

inline constexpr size_t kGatesOperand = 0, kWeightOperand = 1, kStateOperand = 2;
/// Operand with the steps of each sequence, behind the states.
size_t lengthsOperand(const OpView& op);

/// One activation function with its parameters.
struct Activation
{
    std::string name; ///< in lower case
    double alpha;
    double beta;
};

/// What the three operators read from their attributes.
struct RecurrentOptions
{
    std::vector<Activation> activations;
    double clip; ///< limit of what enters an activation; 0: none
    bool isReverse;
};

/// Recurrent weights [H, columns], or packed [columns/w, H, w].
Dim hiddenOf(const TensorType& weight);
Dim columnsOf(const TensorType& weight);

/// Checks `gates` [S, B, parts * H], `weight` and states [B, H] (`stateCount` of
/// them, from operand 2), lengths [B] of int32; BadAttribute for an unknown
/// activation. The result has types of y [S, B, H] and of every final state.
Result<Types> inferRecurrent(const OpView& op, int64_t parts, size_t stateCount);
RecurrentOptions recurrentOptions(const OpView& op);
/// `f(x)`, with x limited by `clip` first.
tir::Expr activated(const RecurrentOptions& options, size_t which, const tir::Expr& x);

/// Buffers and indices of one step of one sequence.
struct RecurrentStep
{
    tir::Buffer gates;               ///< [G, parts * H], the sums of this step (see lastBias)
    std::vector<tir::Buffer> states; ///< [B, H], read and written in place
    tir::Expr member;                ///< which of the G sequences of its group
    tir::Expr sequence;              ///< which of the B sequences
    int64_t hidden;

    tir::Expr gate(int64_t part, const tir::Expr& unit) const;
    tir::Expr state(size_t which, const tir::Expr& unit) const;
};

/// One step of several sequences: a weight that was loaded serves all of them.
struct RecurrentGroup
{
    ProductPlan product;
    std::function<RecurrentStep(const tir::Expr& member)> at;

    /// `body` for every sequence of the group.
    tir::Stmt forEach(const std::function<tir::Stmt(const RecurrentStep&)>& body) const;
};

/// Statements that turn the sums, which hold all parts, into the new states; called once. `in` are
/// the operator's operands.
using RecurrentStepFn =
    std::function<tir::Stmt(const RecurrentGroup&, const std::vector<tir::Buffer>& in)>;

/// `body(unit)` for all units, in vectors.
tir::Stmt forUnits(int64_t hidden, const std::function<tir::Stmt(const tir::Expr&)>& body);

struct RecurrentPlan
{
    int64_t parts;            ///< gates per unit
    int64_t productParts = 0; ///< gates whose product is made before `step`; the others by `step`
    size_t stateCount = 1;
    /// Operand that the last gate's product begins with; what the input adds to that gate then
    /// stands apart, as part `parts` of the sums.
    std::optional<size_t> lastBias = std::nullopt;
};

/// What one step multiplies, for so many sequences at a time as run together.
ProductSize productOfStep(const OpView& op, const TargetFacts& facts);
/// The operator's tensors: y and the final states.
te::Tensors lowerRecurrent(const OpView& op, const te::Tensors& in, const RecurrentPlan& plan,
                           const RecurrentStepFn& step);
Cost recurrentCost(const OpView& op);

} // namespace tenon::compiler
