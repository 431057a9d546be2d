// SPDX-License-Identifier: Apache-2.0
// cut_patches: an image of any size as patches of one size, which lie behind one another. The image
// itself may be patches of another size, so that it is not joined before it is cut again.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/patches.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kCounts = 2, kCountsAndImages = 5;

/// Images, their channels, rows and columns, which the data are patches of where `sizes` has them.
Shape imagesOf(const OpView& op, const Shape& sizes)
{
    Shape images = op.operands[0].shape;
    if (sizes.size() == kCounts) return images;
    images[0] = sizes[kCounts];
    for (const size_t i : {0, 1}) images[kPatchRow + i] = sizes[kCounts + 1 + i];
    return images;
}

/// True where the data are as many patches as cover the images.
bool arePatchesOf(const Shape& images, const Shape& data)
{
    if (!data[kPatchRow].isConst() || !data[kPatchColumn].isConst()) return false;
    const Dim count = images[0] * patchCount(images[kPatchRow], data[kPatchRow]) *
                      patchCount(images[kPatchColumn], data[kPatchColumn]);
    return !count.isConst() || !data[0].isConst() || count == data[0];
}

bool areGood(const Shape& sizes, const OpView& op)
{
    return sizes.size() == kCounts || (sizes.size() == kCountsAndImages &&
                                       arePatchesOf(imagesOf(op, sizes), op.operands[0].shape));
}

Result<Types> infer(const OpView& op)
{
    const std::vector<int64_t> patch = intsAttr(op, "patch"), step = intsAttr(op, "step");
    const auto sizes = sizesAttr(op);
    TensorType out = op.operands[0];
    if (out.shape.size() < 4)
        return opError(op, DiagnosticCode::ShapeMismatch, "needs images, not " + out.text());
    if (!sizes || !areGood(*sizes, op) || std::min({patch[0], patch[1], step[0], step[1]}) < 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot cut " + out.text() + " into patches [" + join(patch, ", ") +
                           "] at steps [" + join(step, ", ") + "]");
    out.shape[0] = imagesOf(op, *sizes)[0] * (*sizes)[0] * (*sizes)[1];
    for (const size_t i : {0, 1}) out.shape[kPatchRow + i] = Dim(patch[i]);
    return Types{out};
}

/// Along one axis of the images, the element so many steps from the first and `behind`. Where steps
/// are whole patches of the data, these begin and end at the same places of each patch.
PatchElement behindSteps(const Expr& steps, int64_t step, const Expr& behind, int64_t side)
{
    if (step % side != 0) return elementOfPatches(steps * Expr(step) + behind, side);
    PatchElement found = elementOfPatches(behind, side);
    found.patch = steps * Expr(step / side) + found.patch;
    return found;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> step = intsAttr(op, "step"), before = intsAttr(op, "before");
    const Shape sizes = *sizesAttr(op), images = imagesOf(op, sizes);
    const Shape& data = op.operands[0].shape;
    const Exprs extent = extents(images);
    const DataType dtype = in[0]->dtype();
    const double fill = floatAttr(op, "pad_value");
    const Expr beyond = dtype.isFloat() ? tir::floatImm(fill, dtype)
                                        : tir::intImm(static_cast<int64_t>(fill), dtype);
    const auto element = [&](const Exprs& i) {
        const PatchPlace place = placeOfPatch(i[0], extentOf(sizes[0]), extentOf(sizes[1]));
        const Expr row = i[kPatchRow] - Expr(before[0]);
        const Expr column = i[kPatchColumn] - Expr(before[1]);
        Exprs source = i;
        source[0] = place.image;
        source[kPatchRow] = place.row * Expr(step[0]) + row;
        source[kPatchColumn] = place.column * Expr(step[1]) + column;
        const Expr isThere =
            source[kPatchRow] >= Expr(0) && source[kPatchRow] < extent[kPatchRow] &&
            source[kPatchColumn] >= Expr(0) && source[kPatchColumn] < extent[kPatchColumn];
        if (sizes.size() == kCountsAndImages)
            source =
                inPatches(source, behindSteps(place.row, step[0], row, data[kPatchRow].value()),
                          behindSteps(place.column, step[1], column, data[kPatchColumn].value()),
                          data, images);
        return tir::call(tir::Intrinsic::IfThenElse, dtype,
                         {isThere, te::at(in[0], source), beyond});
    };
    return te::Tensors{
        te::compute("cut_patches", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W] or blocked"}};
constexpr AttrSpec kAttrs[] = {
    {"patch", "int[2]", "rows and columns of a patch"},
    {"step", "int[2]", "rows and columns from one patch to the next"},
    {"before", "int[2]", "rows and columns of the first patch before the image", "[0, 0]"},
    {"pad_value", "float", "value beyond the edges of the image", "0"},
    {"images", "string[]",
     "rows and columns of the images that are computed of the patches; may be symbolic", "[]"},
    {"sides", "int[2]", "rows and columns of these that each patch is for", "[0, 0]"},
    {"sizes", "string[]",
     "patches of a column and of a row; and where the data are patches, too, the images, rows and "
     "columns that they are of; may be symbolic"}};

} // namespace

extern constinit const OpDef cutPatchesOp = {
    .name = "cut_patches",
    .doc = "y[(n * rows + r) * columns + q, c, h, w, ..] = data[n, c, r * step[0] + h - before[0], "
           "q * step[1] + w - before[1], ..]; pad_value beyond its edges; with five sizes of the "
           "image that join_patches makes of the data",
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
    .example = "%x: Tensor[(1, 2, 5, 6), float32] => cut_patches(%x, before=[1, 1], "
               "patch=[4, 4], sizes=s[\"3\", \"3\"], step=[2, 2])",
};

} // namespace tenon::compiler
