// SPDX-License-Identifier: Apache-2.0
// nn.layer_norm: rows of the last dimension with mean 0 and variance 1, scaled and shifted. The
// variance is that of the differences from the mean, in a second pass over the row.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const TensorType& type = op.operands[0];
    if (!type.dtype.isFloat()) return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    if (type.shape.size() < 2)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects rank 2 or more but x is " + type.text());
    for (size_t i = 1; i < op.operands.size(); ++i) {
        if (!op.isPresent(i)) continue;
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
        if (op.operands[i].shape != Shape{type.shape.back()})
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "needs one value per element of a row of " + type.text() +
                               " but an operand is " + op.operands[i].text());
    }
    return Types{type};
}

Exprs rowOf(const Exprs& i) { return {i.begin(), i.end() - 1}; }

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = in[0]->shape();
    const Expr extent = shape.back();
    const DataType dtype = in[0]->dtype();
    const Expr count = tir::cast(dtype, extent);
    const auto axis = static_cast<int64_t>(shape.size()) - 1;
    const auto sumOf = [&](const std::string& name, const te::ElementFn& element) {
        return te::reduce(name, rowOf(shape), {extent}, te::Combiner::Sum,
                          [&](const Exprs& i, const Exprs& k) {
                              Exprs at = i;
                              at.push_back(k[0]);
                              return element(at);
                          },
                          "layer_norm", {{"axis", axis}});
    };
    const te::TensorRef sum =
        sumOf("layer_norm_sum", [&](const Exprs& i) { return te::at(in[0], i); });
    const auto difference = [&](const Exprs& i) {
        return te::at(in[0], i) - te::at(sum, rowOf(i)) / count;
    };
    const te::TensorRef squares = sumOf("layer_norm_squares", [&](const Exprs& i) {
        const Expr d = difference(i);
        return d * d;
    });
    const Expr epsilon = tir::floatImm(floatAttr(op, "epsilon"), dtype);
    const auto element = [&](const Exprs& i) {
        const Expr variance = te::at(squares, rowOf(i)) / count + epsilon;
        Expr y = difference(i) * (tir::oneOf(dtype) / tir::call(tir::Intrinsic::Sqrt, variance));
        if (op.isPresent(1)) y = y * te::at(in[1], {i.back()});
        if (op.isPresent(2)) y = y + te::at(in[2], {i.back()});
        return y;
    };
    return te::Tensors{te::compute("layer_norm", shape, element, "elemwise")};
}

Cost cost(const OpView& op) { return {8 * elements(op.results[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"x", "[.., N]"},
                                     {"gamma", "[N], factors; without: 1", OperandSpec::Optional},
                                     {"beta", "[N], added; without: 0", OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {{"epsilon", "float", "added to the variance", "1e-05"}};

} // namespace

extern constinit const OpDef layerNormOp = {
    .name = "nn.layer_norm",
    .doc = "y[.., n] = (x[.., n] - mean) / sqrt(variance + epsilon) * gamma[n] + beta[n], mean and "
           "variance of x[..]",
    .family = Family::Normalization,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example =
        "%x: Tensor[(3, 37), float32], %g: Tensor[(37,), float32], %b: Tensor[(37,), float32] "
        "=> nn.layer_norm(%x, %g, %b, epsilon=0.001f)",
};

} // namespace tenon::compiler
