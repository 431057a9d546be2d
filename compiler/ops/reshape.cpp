// SPDX-License-Identifier: Apache-2.0
// reshape, squeeze and expand_dims: the same row-major values under another shape.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"
#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

Result<Types> inferReshape(const OpView& op)
{
    const TensorType& data = op.operands[0];
    if (const auto sizes = sizesAttr(op)) return Types{{data.dtype, *sizes}};
    const std::vector<int64_t> wanted = intsAttr(op, "newshape");
    Shape shape;
    int64_t open = -1;
    Dim known(1);
    for (size_t i = 0; i < wanted.size(); ++i) {
        const auto bad = [&](const std::string& why) {
            return opError(op, DiagnosticCode::BadAttribute,
                           "newshape [" + join(wanted, ", ") + "] " + why);
        };
        if (wanted[i] < -1) return bad("has a negative entry");
        if (wanted[i] == 0 && i >= data.shape.size())
            return bad("keeps a dimension that is absent");
        if (wanted[i] == -1) {
            if (open >= 0) return bad("has two entries of -1");
            open = static_cast<int64_t>(i);
        }
        shape.push_back(wanted[i] == 0 ? data.shape[i] : Dim(std::max<int64_t>(1, wanted[i])));
        known = known * shape.back();
    }
    const Dim total = product(data.shape);
    // An empty tensor may be reshaped to literal zeros (ONNX's allowzero).
    if (total == Dim(0) && open < 0 && !(known == Dim(0)) && product(makeShape(wanted)) == Dim(0))
        return Types{{data.dtype, makeShape(wanted)}};
    if (open >= 0) {
        if (total == Dim(0) || known == Dim(0))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot find the entry -1 for the empty shape " + shapeText(data.shape));
        shape[static_cast<size_t>(open)] = floorDiv(total, known);
        known = product(shape);
    }
    if (total.isConst() && known.isConst() && !(total == known))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot make " + shapeText(data.shape) + " (" + total.text() +
                           " elements) into [" + join(wanted, ", ") + "] (" + known.text() + ")");
    return Types{{data.dtype, shape}};
}

Result<Types> inferSqueeze(const OpView& op)
{
    const TensorType& data = op.operands[0];
    auto axes = normalAxes(op, intsAttr(op, "axis"), data.shape.size());
    if (!axes) return axes.error();
    Shape shape;
    for (size_t i = 0; i < data.shape.size(); ++i) {
        const bool isNamed =
            std::find(axes->begin(), axes->end(), static_cast<int64_t>(i)) != axes->end();
        const bool isDropped = axes->empty() ? data.shape[i] == Dim(1) : isNamed;
        if (isNamed && data.shape[i].isConst() && !(data.shape[i] == Dim(1)))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot drop axis " + std::to_string(i) + " of " +
                               shapeText(data.shape) + "; only dimensions of 1 can go");
        if (!isDropped) shape.push_back(data.shape[i]);
    }
    return Types{{data.dtype, shape}};
}

Result<Types> inferExpandDims(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const int64_t count = intAttr(op, "num_newaxis");
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.shape.size() + 1);
    if (!axis) return axis.error();
    if (count < 0 || count > 64)
        return opError(op, DiagnosticCode::BadAttribute, "num_newaxis is " + std::to_string(count));
    Shape shape = data.shape;
    shape.insert(shape.begin() + *axis, static_cast<size_t>(count), Dim(1));
    return Types{{data.dtype, shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    return te::Tensors{te::compute(
        "reshape", shape, [&](const Exprs& i) { return atSamePosition(in[0], shape, i); },
        "injective")};
}

Cost noWork(const OpView&) { return {}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kReshapeAttrs[] = {
    {"newshape", "int[]",
     "the new shape; 0 keeps a dimension (in empty tensors it may be 0 itself), one -1 takes what "
     "is left"},
    {"sizes", "string[]", "the new shape when it has symbolic dimensions", "[]"}};
constexpr AttrSpec kSqueezeAttrs[] = {
    {"axis", "int[]", "dimensions of 1 to drop; empty: all of them", "[]"}};
constexpr AttrSpec kExpandAttrs[] = {{"axis", "int", "where the new dimensions stand"},
                                     {"num_newaxis", "int", "how many", "1"}};

} // namespace

extern constinit const OpDef expandDimsOp = {
    .name = "expand_dims",
    .doc = "the same values with `num_newaxis` dimensions of 1 inserted at `axis`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kExpandAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .onlyReshapes = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = inferExpandDims,
    .lower = lower,
    .cost = noWork,
    .example = "%x: Tensor[(2, 8), float32] => expand_dims(%x, axis=1, num_newaxis=2)",
};

extern constinit const OpDef reshapeOp = {
    .name = "reshape",
    .doc = "the same values in row-major order under the shape `newshape`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kReshapeAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .standsAlone = true, // its storage is an alias, but it spoils the indices of a kernel
    .onlyReshapes = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = inferReshape,
    .lower = lower,
    .cost = noWork,
    .example = "%x: Tensor[(2, 3, 4), float32] => reshape(%x, newshape=[0, -1])",
};

extern constinit const OpDef squeezeOp = {
    .name = "squeeze",
    .doc = "the same values without the dimensions of 1 named by `axis`",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kSqueezeAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .onlyReshapes = true,
    .choosesValues = true,
    .takesSymbols = true,
    .infer = inferSqueeze,
    .lower = lower,
    .cost = noWork,
    .example = "%x: Tensor[(2, 1, 4, 1), float32] => squeeze(%x, axis=[1])",
};

} // namespace tenon::compiler
