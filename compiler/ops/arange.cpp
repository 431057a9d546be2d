// SPDX-License-Identifier: Apache-2.0
// arange: equally spaced numbers.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const auto sizes = sizesAttr(op);
    if (!sizes || sizes->size() != 1)
        return opError(op, DiagnosticCode::BadAttribute, "needs the result's length in sizes");
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    for (size_t i = 0; i < 2; ++i)
        if (const Status ok = needRank(op, i, 0); !ok) return ok.error();
    return Types{{op.operands[0].dtype, *sizes}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    return te::Tensors{te::compute(
        "arange", extents(op.results[0].shape),
        [&](const Exprs& i) {
            return te::at(in[0], {}) + tir::cast(in[0]->dtype(), i[0]) * te::at(in[1], {});
        },
        "injective")};
}

constexpr OperandSpec kOperands[] = {{"start", "a scalar"}, {"step", "a scalar"}};
constexpr AttrSpec kAttrs[] = {{"sizes", "string[]", "the result's length"}};

} // namespace

extern constinit const OpDef arangeOp = {
    .name = "arange",
    .doc = "y[i] = start + i * step",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Rounding,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%a: Tensor[(), float32], %d: Tensor[(), float32] => arange(%a, %d, sizes=s[\"5\"])",
};

} // namespace tenon::compiler
