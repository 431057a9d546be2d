// SPDX-License-Identifier: Apache-2.0
// nn.lstm: a long short-term memory over time.
#include "compiler/ops/recurrent.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kCell = 1; ///< state index
constexpr size_t kPeepholes = 5;

Result<Types> infer(const OpView& op)
{
    auto types = inferRecurrent(op, 4, 2);
    if (!types) return types.error();
    const Dim hidden = hiddenOf(op.operands[kWeightOperand]);
    if (op.isPresent(kPeepholes) &&
        op.operands[kPeepholes] != TensorType{op.operands[0].dtype, {Dim(3), hidden}})
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects peepholes [3, H] but got " + op.operands[kPeepholes].text());
    if (op.attrs.strings("activations", {}).size() != 3)
        return opError(op, DiagnosticCode::BadAttribute, "needs three activations");
    return types;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const RecurrentOptions options = recurrentOptions(op);
    const bool isCoupled = flagAttr(op, "input_forget");
    const auto stepOf = [&](const RecurrentStep& one, const std::vector<tir::Buffer>& operands) {
        return forUnits(one.hidden, [&](const Expr& unit) -> tir::Stmt {
            const auto peeped = [&](int64_t part, int64_t row, const Expr& cell) {
                const Expr sum = one.gate(part, unit);
                if (!op.isPresent(kPeepholes)) return sum;
                return sum + tir::load(operands[kPeepholes], {Expr(row), unit}) * cell;
            };
            const DataType dtype = one.gates->dtype;
            // The states change in place, so what is read again is named first.
            const Expr old = one.state(kCell, unit);
            const Expr input = activated(options, 0, peeped(0, 0, old));
            const Expr forget =
                isCoupled ? tir::oneOf(dtype) - input : activated(options, 0, peeped(2, 2, old));
            const Expr candidate = activated(options, 1, one.gate(3, unit));
            const tir::Stmt cell = tir::store(one.states[kCell], {one.sequence, unit},
                                              forget * old + input * candidate);
            const Expr next = one.state(kCell, unit);
            const Expr output = activated(options, 0, peeped(1, 1, next));
            RecurrentOptions plain = options;
            plain.clip = 0;
            return tir::seq({cell, tir::store(one.states[0], {one.sequence, unit},
                                              output * activated(plain, 2, next))});
        });
    };
    const auto step = [&](const RecurrentGroup& group, const std::vector<tir::Buffer>& operands) {
        return group.forEach([&](const RecurrentStep& one) { return stepOf(one, operands); });
    };
    return lowerRecurrent(op, in, {.parts = 4, .productParts = 4, .stateCount = 2}, step);
}

constexpr OperandSpec kOperands[] = {
    {"gates", "[S, B, 4H]: what the input adds to gates i, o, f, c, with all biases"},
    {"weight", "[H, 4H] or, in tiles, [4H/w, H, w]: recurrent weights"},
    kHiddenOperand,
    {"cell", "[B, H]: cell before the first step"},
    kLengthsOperand,
    {"peepholes", "[3, H]: weights of the cell for i, o, f", OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {
    {"activations", "string[]", "three functions: of the gates, of the candidate, of the cell"},
    kAlphasAttr,
    kBetasAttr,
    kGateClipAttr,
    {"input_forget", "int", "1: the forget gate is 1 - i", "0"},
    kReverseAttr};

} // namespace

extern constinit const OpDef lstmOp = {
    .name = "nn.lstm",
    .doc = "per step, with [i o f c] = gates + hidden * weight: cell = f(f + pf.cell).cell + f(i + "
           "pi.cell).g(c), hidden = f(o + po.cell).h(cell); y has hidden of every step, zero "
           "behind a sequence's end",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .isRecurrent = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = recurrentCost,
    .example = "%x: Tensor[(3, 2, 16), float32], %w: Tensor[(4, 16), float32], %h: Tensor[(2, 4), "
               "float32], %c: Tensor[(2, 4), float32] => nn.lstm(%x, %w, %h, %c, "
               "activations=s[\"sigmoid\", \"tanh\", \"tanh\"], reverse=1)",
};

} // namespace tenon::compiler
