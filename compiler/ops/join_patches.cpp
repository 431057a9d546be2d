// SPDX-License-Identifier: Apache-2.0
// join_patches: patches of one size, which lie behind one another, as the image that they cover.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/patches.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const auto sizes = sizesAttr(op);
    TensorType out = op.operands[0];
    if (out.shape.size() < 4 || !out.shape[kPatchRow].isConst() ||
        !out.shape[kPatchColumn].isConst())
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs patches of constant size, not " + out.text());
    if (!sizes || sizes->size() != 3)
        return opError(op, DiagnosticCode::BadAttribute, "needs sizes of three dimensions");
    const Dim count = (*sizes)[0] * patchCount((*sizes)[1], out.shape[kPatchRow]) *
                      patchCount((*sizes)[2], out.shape[kPatchColumn]);
    if (count.isConst() && out.shape[0].isConst() && !(count == out.shape[0]))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs " + count.text() + " patches for " + shapeText(*sizes) + ", not " +
                           out.text());
    out.shape[0] = (*sizes)[0];
    for (const size_t i : {0, 1}) out.shape[kPatchRow + i] = (*sizes)[1 + i];
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Shape& patches = op.operands[0].shape;
    const Shape& images = op.results[0].shape;
    const auto along = [&](const Exprs& i, size_t axis) {
        return elementOfPatches(i[axis], patches[axis].value());
    };
    const auto element = [&](const Exprs& i) {
        return te::at(in[0],
                      inPatches(i, along(i, kPatchRow), along(i, kPatchColumn), patches, images));
    };
    return te::Tensors{te::compute("join_patches", extents(images), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N * rows * columns, C, H, W] or blocked"}};
constexpr AttrSpec kAttrs[] = {
    {"sizes", "string[]", "images, their rows and columns; may be symbolic"}};

} // namespace

extern constinit const OpDef joinPatchesOp = {
    .name = "join_patches",
    .doc = "y[n, c, h, w, ..] = data[(n * rows + h / H) * columns + w / W, c, h % H, w % W, ..] "
           "with as many rows and columns of patches as cover the image",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    // Alone: what is fused with it would depend on the size of the image, too.
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(6, 2, 4, 4), float32] "
               "=> join_patches(%x, sizes=s[\"1\", \"5\", \"9\"])",
};

} // namespace tenon::compiler
