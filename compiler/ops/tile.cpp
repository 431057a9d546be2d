// SPDX-License-Identifier: Apache-2.0
// tile: a tensor repeated along its axes.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    TensorType out = op.operands[0];
    if (const auto sizes = sizesAttr(op)) return Types{{out.dtype, *sizes}};
    const std::vector<int64_t> reps = intsAttr(op, "reps");
    if (reps.size() > out.shape.size())
        out.shape.insert(out.shape.begin(), reps.size() - out.shape.size(), Dim(1));
    for (size_t i = 0; i < reps.size(); ++i) {
        if (reps[i] < 0)
            return opError(op, DiagnosticCode::BadAttribute, "has a negative entry in reps");
        Dim& dim = out.shape[out.shape.size() - reps.size() + i];
        dim = dim * Dim(reps[i]);
    }
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs& source = in[0]->shape();
    const Exprs shape = extents(op.results[0].shape);
    const size_t added = shape.size() - source.size();
    std::vector<int64_t> reps = intsAttr(op, "reps");
    if (!sizesAttr(op)) reps.insert(reps.begin(), shape.size() - reps.size(), 1);
    return te::Tensors{te::compute(
        "tile", shape,
        [&](const Exprs& i) {
            Exprs out;
            for (size_t d = 0; d < source.size(); ++d) {
                const bool isWhole = d + added < reps.size() && reps[d + added] == 1;
                out.push_back(isWhole ? i[d + added] : floorMod(i[d + added], source[d]));
            }
            return te::at(in[0], out);
        },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"reps", "int[]", "repetitions per axis, counted from the last"},
    {"sizes", "string[]", "the result's shape when it has symbolic dimensions", "[]"}};

} // namespace

extern constinit const OpDef tileOp = {
    .name = "tile",
    .doc = "y[i] = data[i mod extent], each axis `reps` times as long",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3), float32] => tile(%x, reps=[2, 1, 2])",
};

} // namespace tenon::compiler
