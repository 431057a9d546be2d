// SPDX-License-Identifier: Apache-2.0
// nn.bias_add: one value per channel added.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 1); !ok) return ok.error();
    const TensorType& data = op.operands[0];
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    const Dim& channels = data.shape[static_cast<size_t>(*axis)];
    if (!(op.operands[1].shape[0] == channels))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects a bias of " + channels.text() + " values but it has " +
                           op.operands[1].shape[0].text());
    return Types{data};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axis = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    return te::Tensors{te::compute(
        "bias_add", in[0]->shape(),
        [&](const Exprs& i) {
            return te::at(in[0], i) + te::at(in[1], {i[static_cast<size_t>(*axis)]});
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"data", "any shape"}, {"bias", "one value per channel"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the channel axis", "1"}};

} // namespace

extern constinit const OpDef biasAddOp = {
    .name = "nn.bias_add",
    .doc = "y = data + bias[c], c the index along `axis`",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example =
        "%x: Tensor[(1, 4, 2, 2), float32], %b: Tensor[(4,), float32] => nn.bias_add(%x, %b)",
};

} // namespace tenon::compiler
