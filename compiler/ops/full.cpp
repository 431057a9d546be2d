// SPDX-License-Identifier: Apache-2.0
// full: a tensor of one repeated value.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    if (!op.operands[0].shape.empty())
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects a scalar but it is " + op.operands[0].text());
    if (const auto sizes = sizesAttr(op)) return Types{{op.operands[0].dtype, *sizes}};
    const std::vector<int64_t> shape = intsAttr(op, "shape");
    for (const int64_t extent : shape)
        if (extent < 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           "has the shape [" + join(shape, ", ") + "]");
    return Types{{op.operands[0].dtype, makeShape(shape)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    return te::Tensors{te::compute(
        "full", extents(op.results[0].shape), [&](const Exprs&) { return te::at(in[0], {}); },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"fill_value", "a scalar"}};
constexpr AttrSpec kAttrs[] = {
    {"shape", "int[]", "the result's shape"},
    {"sizes", "string[]", "the result's shape when it has symbolic dimensions", "[]"}};

} // namespace

extern constinit const OpDef fullOp = {
    .name = "full",
    .doc = "y[..] = fill_value",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%v: Tensor[(), float32] => full(%v, shape=[2, 3])",
};

} // namespace tenon::compiler
