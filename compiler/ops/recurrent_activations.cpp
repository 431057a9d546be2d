// SPDX-License-Identifier: Apache-2.0
// A row for each function, with the defaults of its parameters.
#include "compiler/ops/recurrent_activations.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Expr exponential(const Expr& x) { return tir::call(tir::Intrinsic::Exp, x); }

constexpr ActivationRow kActivations[] = {
    {"affine", 1, 0, [](const Expr& x, const Expr& a, const Expr& b) { return a * x + b; }},
    {"elu", 1, 0,
     [](const Expr& x, const Expr& a, const Expr&) {
         const Expr zero = tir::zeroOf(x->dtype);
         return tir::select(x < zero, a * (exponential(x) - tir::oneOf(x->dtype)), x);
     }},
    {"hardsigmoid", 0.2, 0.5,
     [](const Expr& x, const Expr& a, const Expr& b) {
         return minimum(maximum(a * x + b, tir::zeroOf(x->dtype)), tir::oneOf(x->dtype));
     }},
    {"leakyrelu", 0.01, 0,
     [](const Expr& x, const Expr& a, const Expr&) {
         return tir::select(x < tir::zeroOf(x->dtype), a * x, x);
     }},
    {"relu", 0, 0,
     [](const Expr& x, const Expr&, const Expr&) { return maximum(x, tir::zeroOf(x->dtype)); }},
    {"scaledtanh", 1, 1,
     [](const Expr& x, const Expr& a, const Expr& b) {
         return a * tir::call(tir::Intrinsic::Tanh, b * x);
     }},
    {"sigmoid", 0, 0,
     [](const Expr& x, const Expr&, const Expr&) { return tir::call(tir::Intrinsic::Sigmoid, x); }},
    {"softplus", 0, 0,
     [](const Expr& x, const Expr&, const Expr&) {
         // log(1 + exp(x)) without overflow.
         const Expr zero = tir::zeroOf(x->dtype);
         const Expr tail = exponential(zero - tir::call(tir::Intrinsic::Abs, x));
         return maximum(x, zero) + tir::call(tir::Intrinsic::Log, tir::oneOf(x->dtype) + tail);
     }},
    {"softsign", 0, 0,
     [](const Expr& x, const Expr&, const Expr&) {
         return x / (tir::oneOf(x->dtype) + tir::call(tir::Intrinsic::Abs, x));
     }},
    {"tanh", 0, 0,
     [](const Expr& x, const Expr&, const Expr&) { return tir::call(tir::Intrinsic::Tanh, x); }},
    {"thresholdedrelu", 1, 0,
     [](const Expr& x, const Expr& a, const Expr&) {
         return tir::select(x > a, x, tir::zeroOf(x->dtype));
     }},
};

} // namespace

const ActivationRow* findActivation(std::string_view name)
{
    for (const ActivationRow& row : kActivations)
        if (row.name == name) return &row;
    return nullptr;
}

Expr activated(const RecurrentOptions& options, size_t which, const Expr& x)
{
    Expr limited = x;
    if (options.clip > 0)
        limited = minimum(maximum(x, tir::floatImm(-options.clip, x->dtype)),
                          tir::floatImm(options.clip, x->dtype));
    const Activation& activation = options.activations.at(which);
    return findActivation(activation.name)
        ->apply(limited, tir::floatImm(activation.alpha, x->dtype),
                tir::floatImm(activation.beta, x->dtype));
}

} // namespace tenon::compiler
