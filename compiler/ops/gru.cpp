// SPDX-License-Identifier: Apache-2.0
// nn.gru: gated recurrent units over time.
#include "compiler/ops/recurrent.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kHiddenBias = 4;

Result<Types> infer(const OpView& op)
{
    auto types = inferRecurrent(op, 3, 1);
    if (!types) return types.error();
    const Dim hidden = hiddenOf(op.operands[kWeightOperand]);
    if (op.isPresent(kHiddenBias) &&
        op.operands[kHiddenBias] != TensorType{op.operands[0].dtype, {hidden}})
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects a hidden bias [H] but got " + op.operands[kHiddenBias].text());
    if (op.attrs.strings("activations", {}).size() != 2)
        return opError(op, DiagnosticCode::BadAttribute, "needs two activations");
    return types;
}

/// hidden = (1 - z) * candidate + z * hidden.
tir::Stmt mixed(const RecurrentOptions& options, const RecurrentStep& one, const Expr& unit,
                const Expr& candidate)
{
    const Expr update = activated(options, 0, one.gate(0, unit));
    return tir::store(one.states[0], {one.sequence, unit},
                      (tir::oneOf(candidate->dtype) - update) * candidate +
                          update * one.state(0, unit));
}

/// The reset gate acts on the product: one product makes all parts, the candidate's apart.
/// The reset gate multiplies the candidate's product, which was made with the other two.
tir::Stmt resetAfter(const RecurrentOptions& options, const RecurrentGroup& group)
{
    return group.forEach([&](const RecurrentStep& one) {
        return forUnits(one.hidden, [&](const Expr& unit) {
            const Expr reset = activated(options, 0, one.gate(1, unit));
            const Expr sum = one.gate(3, unit) + reset * one.gate(2, unit);
            return mixed(options, one, unit, activated(options, 1, sum));
        });
    });
}

tir::Stmt resetBefore(const RecurrentOptions& options, const RecurrentGroup& group,
                      const std::vector<tir::Buffer>& operands)
{
    const RecurrentStep any = group.at(Expr(0));
    const int64_t hidden = any.hidden;
    const tir::Buffer gated =
        tir::makeBuffer("gated", {Expr(group.product.sequences), Expr(hidden)}, any.gates->dtype,
                        tir::Scope::Local);
    const tir::Stmt reset = group.forEach([&](const RecurrentStep& one) {
        return forUnits(hidden, [&](const Expr& unit) {
            return tir::store(gated, {one.member, unit},
                              activated(options, 0, one.gate(1, unit)) * one.state(0, unit));
        });
    });
    const tir::Stmt multiply = addProduct(
        operands[kWeightOperand], any.gates,
        [&](const Expr& member, const Expr& k) {
            return tir::load(gated, {member, k});
        },
        group.product, 2 * hidden, 3 * hidden);
    const tir::Stmt mix = group.forEach([&](const RecurrentStep& one) {
        return forUnits(hidden, [&](const Expr& unit) {
            return mixed(options, one, unit, activated(options, 1, one.gate(2, unit)));
        });
    });
    return tir::allocate(gated, tir::seq({reset, multiply, mix}));
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const RecurrentOptions options = recurrentOptions(op);
    const bool isAfter = flagAttr(op, "linear_before_reset");
    const auto step = [&](const RecurrentGroup& group, const std::vector<tir::Buffer>& operands) {
        return isAfter ? resetAfter(options, group) : resetBefore(options, group, operands);
    };
    RecurrentPlan plan{.parts = 3, .productParts = 2};
    if (isAfter) plan.productParts = 3;
    if (isAfter) plan.lastBias = kHiddenBias;
    return lowerRecurrent(op, in, plan, step);
}

constexpr OperandSpec kOperands[] = {
    {"gates", "[S, B, 3H]: what the input adds to gates z, r, h, with their biases"},
    {"weight", "[H, 3H] or, in tiles, [3H/w, H, w]: recurrent weights"},
    kHiddenOperand,
    kLengthsOperand,
    {"hidden_bias", "[H]: added to the candidate's product where linear_before_reset is 1",
     OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {
    {"activations", "string[]", "two functions: of the gates, of the candidate"},
    kAlphasAttr,
    kBetasAttr,
    kGateClipAttr,
    {"linear_before_reset", "int", "1: r multiplies the product, not the state", "0"},
    kReverseAttr};

} // namespace

extern constinit const OpDef gruOp = {
    .name = "nn.gru",
    .doc = "per step, with z, r = f(gates + hidden * weight): n = g(gates + (r . hidden) * weight) "
           "or g(gates + r . (hidden * weight + hidden_bias)); hidden = (1 - z) . n + z . hidden; "
           "y has hidden of every step, zero behind a sequence's end",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .isRecurrent = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = recurrentCost,
    .example = "%x: Tensor[(3, 2, 15), float32], %w: Tensor[(5, 15), float32], %h: Tensor[(2, 5), "
               "float32], %n: Tensor[(2,), int32], %b: Tensor[(5,), float32] => nn.gru(%x, %w, %h, "
               "%n, %b, activations=s[\"sigmoid\", \"tanh\"], linear_before_reset=1)",
};

} // namespace tenon::compiler
