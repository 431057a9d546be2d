// SPDX-License-Identifier: Apache-2.0
// nn.rnn: the plain recurrence over time.
#include "compiler/ops/recurrent.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    auto types = inferRecurrent(op, 1, 1);
    if (!types) return types.error();
    if (op.attrs.strings("activations", {}).size() != 1)
        return opError(op, DiagnosticCode::BadAttribute, "needs one activation");
    return types;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const RecurrentOptions options = recurrentOptions(op);
    const auto step = [&](const RecurrentGroup& group, const std::vector<tir::Buffer>&) {
        return group.forEach([&](const RecurrentStep& one) {
            return forUnits(one.hidden, [&](const Expr& unit) {
                return tir::store(one.states[0], {one.sequence, unit},
                                  activated(options, 0, one.gate(0, unit)));
            });
        });
    };
    return lowerRecurrent(op, in, {.parts = 1, .productParts = 1}, step);
}

constexpr OperandSpec kOperands[] = {
    {"gates", "[S, B, H]: what the input adds, with all biases"},
    {"weight", "[H, H] or, in tiles, [H/w, H, w]: recurrent weights"},
    kHiddenOperand,
    kLengthsOperand};
constexpr AttrSpec kAttrs[] = {
    {"activations", "string[]", "one function"},
    {"alphas", "float[]", "first parameter of the function; empty: its default", "[]"},
    {"betas", "float[]", "second parameter of the function; empty: its default", "[]"},
    {"clip", "float", "limit of what enters the function; 0: none", "0"},
    kReverseAttr};

} // namespace

extern constinit const OpDef rnnOp = {
    .name = "nn.rnn",
    .doc = "per step: hidden = f(gates + hidden * weight); y has hidden of every step, zero behind "
           "a sequence's end",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .isRecurrent = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = recurrentCost,
    .example = "%x: Tensor[(3, 2, 6), float32], %w: Tensor[(6, 6), float32], %h: Tensor[(2, 6), "
               "float32], %n: Tensor[(2,), int32] "
               "=> nn.rnn(%x, %w, %h, %n, activations=s[\"tanh\"], clip=0.5f)",
};

} // namespace tenon::compiler
