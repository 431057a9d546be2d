// SPDX-License-Identifier: Apache-2.0
// nn.batch_norm: inference-time normalisation by stored statistics.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr OperandSpec kOperands[] = {{"data", "any shape, floats"},
                                     {"gamma", "scale per channel"},
                                     {"beta", "shift per channel"},
                                     {"moving_mean", "mean per channel"},
                                     {"moving_var", "variance per channel"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the channel axis", "1"},
                               {"epsilon", "float", "added to the variance", "1e-05"}};

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    if (!data.dtype.isFloat()) return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    const Dim& channels = data.shape[static_cast<size_t>(*axis)];
    for (size_t i = 1; i < 5; ++i) {
        if (const Status ok = needRank(op, i, 1); !ok) return ok.error();
        if (const Status ok = needSameDtype(op, 0, i); !ok) return ok.error();
        if (!agreedDim(op.operands[i].shape[0], channels))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "expects " + channels.text() + " values of " +
                               quoted(kOperands[i].name) + " but got " +
                               op.operands[i].shape[0].text());
    }
    return Types{data};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axis = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    const DataType dtype = in[0]->dtype();
    const tir::Expr epsilon = tir::floatImm(floatAttr(op, "epsilon"), dtype);
    return te::Tensors{te::compute(
        "batch_norm", in[0]->shape(),
        [&](const Exprs& i) {
            const tir::Expr c = i[static_cast<size_t>(*axis)];
            const tir::Expr deviation =
                tir::call(tir::Intrinsic::Sqrt, te::at(in[4], {c}) + epsilon);
            return (te::at(in[0], i) - te::at(in[3], {c})) / deviation * te::at(in[1], {c}) +
                   te::at(in[2], {c});
        },
        "elemwise")};
}

Cost cost(const OpView& op) { return {4 * elements(op.results[0]), bytesMoved(op)}; }

} // namespace

extern constinit const OpDef batchNormOp = {
    .name = "nn.batch_norm",
    .doc = "y = (data - mean[c]) / sqrt(var[c] + epsilon) * gamma[c] + beta[c]",
    .family = Family::Normalization,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 2, 2), float32], %g: Tensor[(4,), float32], "
               "%b: Tensor[(4,), float32], %m: Tensor[(4,), float32], %v: Tensor[(4,), float32] "
               "=> nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0.001f)",
};

} // namespace tenon::compiler
