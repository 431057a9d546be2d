// SPDX-License-Identifier: Apache-2.0
// split: one tensor cut along an axis into several results.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size());
    if (!axis) return axis.error();
    const Dim& total = data.shape[static_cast<size_t>(*axis)];
    std::vector<int64_t> indices = intsAttr(op, "indices");
    Types out;
    Dim from(0);
    for (size_t i = 0; i <= indices.size(); ++i) {
        const Dim to = i < indices.size() ? Dim(indices[i]) : total;
        const Dim extent = to - from;
        if (extent.isConst() && extent.value() < 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           "indices [" + join(indices, ", ") + "] must rise within " +
                               total.text());
        TensorType part = data;
        part.shape[static_cast<size_t>(*axis)] = extent;
        out.push_back(std::move(part));
        from = to;
    }
    return out;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axis = normalAxis(op, intAttr(op, "axis"), in[0]->shape().size());
    const std::vector<int64_t> indices = intsAttr(op, "indices");
    te::Tensors out;
    for (size_t part = 0; part < op.results.size(); ++part) {
        const tir::Expr start(part == 0 ? int64_t{0} : indices[part - 1]);
        out.push_back(te::compute(
            "split", extents(op.results[part].shape),
            [&](const Exprs& i) {
                Exprs source = i;
                source[static_cast<size_t>(*axis)] = i[static_cast<size_t>(*axis)] + start;
                return te::at(in[0], source);
            },
            "injective"));
    }
    return out;
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"indices", "int[]", "where the second and later parts begin, rising"},
    {"axis", "int", "the dimension that is cut", "0"}};

} // namespace

extern constinit const OpDef splitOp = {
    .name = "split",
    .doc = "data cut before each of `indices` along `axis`; one result per part",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32] => split(%x, axis=1, indices=[3, 5])",
};

} // namespace tenon::compiler
