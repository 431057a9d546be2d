// SPDX-License-Identifier: Apache-2.0
// unstack_phases: images that lie behind one another as every s-th row and column of one.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kRow = 2, kColumn = 3;

Result<Types> infer(const OpView& op)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides"), size = intsAttr(op, "size");
    TensorType out = op.operands[0];
    if (out.shape.size() < 4 || !out.shape[0].isConst() || !out.shape[kRow].isConst() ||
        !out.shape[kColumn].isConst())
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a known number of images of constant size, not " +
                           op.operands[0].text());
    const int64_t phases = std::max<int64_t>(0, strides[0] * strides[1]);
    if (std::min(strides[0], strides[1]) < 1 || out.shape[0].value() % phases != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot join " + out.shape[0].text() + " images by strides [" +
                           join(strides, ", ") + "]");
    out.shape[0] = Dim(out.shape[0].value() / phases);
    for (const size_t i : {0, 1}) {
        Dim& extent = out.shape[kRow + i];
        if (size[i] < 1 || size[i] > extent.value() * strides[i])
            return opError(op, DiagnosticCode::BadAttribute,
                           "cannot make size [" + join(size, ", ") + "] of " +
                               op.operands[0].text() + " by strides [" + join(strides, ", ") + "]");
        extent = Dim(size[i]);
    }
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const Expr down(strides[0]), right(strides[1]);
    const auto element = [&](const Exprs& i) {
        Exprs source = i;
        source[0] = (i[0] * down + floorMod(i[kRow], down)) * right + floorMod(i[kColumn], right);
        source[kRow] = floorDiv(i[kRow], down);
        source[kColumn] = floorDiv(i[kColumn], right);
        return te::at(in[0], source);
    };
    return te::Tensors{
        te::compute("unstack_phases", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N * s0 * s1, C, H, W] or blocked"}};
constexpr AttrSpec kAttrs[] = {{"strides", "int[2]", "phases of rows and of columns"},
                               {"size", "int[2]", "rows and columns of the result"}};

} // namespace

extern constinit const OpDef unstackPhasesOp = {
    .name = "unstack_phases",
    .doc = "y[n, c, h, w, ..] = data[(n * s0 + h % s0) * s1 + w % s1, c, h / s0, w / s1, ..]",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(4, 2, 2, 3), float32] "
               "=> unstack_phases(%x, size=[4, 5], strides=[2, 2])",
};

} // namespace tenon::compiler
