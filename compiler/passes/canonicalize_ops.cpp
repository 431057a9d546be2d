// SPDX-License-Identifier: Apache-2.0
// CanonicalizeOps: writes special operators through general ones and drops those without effect.
// Needs types. Stands before folding and fusion, which then know fewer operators. Only rewrites
// that keep every bit of every result are here.
#include "compiler/ops/ops.h"
#include "compiler/ops/shape_attrs.h"
#include "compiler/passes/filled_rows.h"
#include "compiler/passes/matmul_to_dense.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/slice_ranges.h"
#include "compiler/passes/transposed_factor.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tenon::compiler {
namespace {

struct Site
{
    const Module& module;
    const GraphFunction& function;
    const UseIndex& uses;
    const NodeRecord& node;

    PatchWriter patch(std::string rule, std::string reason) const
    {
        return {module, function.id, std::move(rule), std::move(reason), {node.id}};
    }
};

/// Constants are reshaped in place of a reshape node: their bytes are shared.
ValueRef reshaped(const Site& site, PatchWriter& patch, ValueRef value, const Shape& shape)
{
    const auto numbers = constantShape(shape);
    if (numbers && constantOf(site.module, value))
        return patch.reshapedConstant(value, *numbers, site.uses);
    return patch.op(reshapeOp, {value}, shapeAttrs(shape));
}

std::optional<Patch> biasAddToAdd(const Site& site)
{
    if (!isOp(site.node, biasAddOp)) return std::nullopt;
    const size_t rank = site.module.type(site.node.operands[0]).shape.size();
    const auto axis = static_cast<size_t>(normalizedAxis(site.node.attrs.integer("axis", 1), rank));
    const auto bias = knownShape(site.module, site.node.operands[1]);
    if (!bias || bias->size() != 1 || axis >= rank) return std::nullopt;
    PatchWriter patch =
        site.patch("bias-add-to-add", "a bias is an addition along axis " + std::to_string(axis));
    NodeRecord add = site.node;
    add.op = addOp.name;
    add.attrs = {};
    if (axis + 1 != rank) {
        Shape shape(rank - axis, Dim(1));
        shape[0] = Dim(bias->at(0));
        add.operands[1] = reshaped(site, patch, add.operands[1], shape);
    }
    patch.change(std::move(add));
    return patch.take();
}

std::optional<Patch> toReshape(const Site& site)
{
    if (!isOp(site.node, squeezeOp) && !isOp(site.node, expandDimsOp)) return std::nullopt;
    PatchWriter patch = site.patch("to-reshape", quoted(site.node.op) + " only changes the shape");
    NodeRecord reshape = site.node;
    reshape.op = reshapeOp.name;
    reshape.attrs = shapeAttrs(site.node.types.at(0).shape);
    patch.change(std::move(reshape));
    return patch.take();
}

std::optional<Patch> subtractToAdd(const Site& site)
{
    if (!isOp(site.node, subtractOp) || !constantOf(site.module, site.node.operands[1]))
        return std::nullopt;
    if (!site.module.type({site.node.id, 0}).dtype.isFloat()) return std::nullopt;
    PatchWriter patch = site.patch("subtract-to-add", "x - c equals x + (-c)");
    NodeRecord add = site.node;
    add.op = addOp.name;
    add.operands[1] = patch.op(negativeOp, {add.operands[1]});
    patch.change(std::move(add));
    return patch.take();
}

/// Powers of two whose reciprocal is a normal number of the dtype divide and multiply alike.
std::optional<Tensor> exactReciprocal(const Tensor& tensor)
{
    if (tensor.dtype() != kFloat32 && tensor.dtype() != kFloat64) return std::nullopt;
    const int limit = tensor.dtype() == kFloat32 ? 125 : 1020;
    for (const double value : tensor.numbers()) {
        int exponent = 0;
        if (!std::isfinite(value) || std::abs(std::frexp(value, &exponent)) != 0.5 ||
            std::abs(exponent) > limit)
            return std::nullopt;
    }
    return Tensor::make(tensor.dtype(), tensor.shape(), [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < tensor.size(); ++i)
            storeNumber(tensor.dtype(), bytes, i, 1 / tensor.number(i));
    });
}

std::optional<Patch> divideToMultiply(const Site& site)
{
    if (!isOp(site.node, divideOp)) return std::nullopt;
    const Tensor* divisor = constantOf(site.module, site.node.operands[1]);
    if (!divisor || divisor->size() == 0 || divisor->size() > 65536) return std::nullopt;
    std::optional<Tensor> reciprocal = exactReciprocal(*divisor);
    if (!reciprocal) return std::nullopt;
    PatchWriter patch =
        site.patch("divide-to-multiply", "the divisor is a power of two, so 1/c is exact");
    NodeRecord multiply = site.node;
    multiply.op = multiplyOp.name;
    multiply.operands[1] = patch.constant(std::move(*reciprocal));
    patch.change(std::move(multiply));
    return patch.take();
}

bool isIdentityPermutation(const NodeRecord& node)
{
    const std::vector<int64_t> axes = node.attrs.integers("axes", {});
    for (size_t i = 0; i < axes.size(); ++i)
        if (normalizedAxis(axes[i], axes.size()) != static_cast<int64_t>(i)) return false;
    return !axes.empty();
}

bool allEqual(const std::vector<int64_t>& values, int64_t wanted)
{
    for (const int64_t value : values)
        if (value != wanted) return false;
    return true;
}

/// The operand that the node passes on unchanged, if it does.
std::optional<ValueRef> passedOperand(const Site& site)
{
    const NodeRecord& node = site.node;
    if (node.kind != NodeKind::Op || node.operands.empty() || !node.operands[0].node.isValid() ||
        node.types.size() != 1)
        return std::nullopt;
    const auto same = [&](size_t i) { return site.module.type(node.operands[i]) == node.types[0]; };
    const ValueRef first = node.operands[0];
    if (isOp(node, multiplyOp) && node.operands.size() == 2) {
        if (scalarOf(site.module, node.operands[1]) == 1.0 && same(0)) return first;
        if (scalarOf(site.module, first) == 1.0 && same(1)) return node.operands[1];
    }
    if (!same(0)) return std::nullopt;
    if (isOp(node, divideOp) && scalarOf(site.module, node.operands[1]) == 1.0) return first;
    if (isOp(node, reshapeOp) || isOp(node, castOp) || isOp(node, broadcastToOp)) return first;
    if (isOp(node, transposeOp) && isIdentityPermutation(node)) return first;
    if (isOp(node, padOp) && allEqual(node.attrs.integers("pad_width", {1}), 0)) return first;
    if (isOp(node, concatenateOp) && node.operands.size() == 1) return first;
    if (isOp(node, stridedSliceOp) && allEqual(node.attrs.integers("strides", {}), 1)) return first;
    return std::nullopt;
}

std::optional<Patch> dropNop(const Site& site)
{
    const std::optional<ValueRef> operand = passedOperand(site);
    if (!operand) return std::nullopt;
    // A result keeps a node of its own, so that no two outside values share one tensor.
    if (site.uses.isResult(site.node.id) &&
        (site.module.node(operand->node).kind != NodeKind::Op || site.uses.isResult(operand->node)))
        return std::nullopt;
    PatchWriter patch = site.patch("drop-nop", quoted(site.node.op) + " changes nothing here");
    patch.replaceAndErase(site.node.id, *operand);
    return patch.take();
}

/// The operand of a concatenation that the slice takes whole, when it takes one so.
std::optional<ValueRef> slicedOperand(const Site& site)
{
    const auto ranges = slicesOf(site.module, site.node);
    if (!ranges) return std::nullopt;
    const NodeRecord& joined = site.module.node(site.node.operands[0].node);
    if (!isOp(joined, concatenateOp)) return std::nullopt;
    const int64_t axis = normalizedAxis(joined.attrs.integer("axis", 0), ranges->size());
    int64_t begin = 0;
    for (const ValueRef operand : joined.operands) {
        const auto shape = knownShape(site.module, operand);
        if (!shape) return std::nullopt;
        bool isWhole = true;
        for (size_t d = 0; d < shape->size(); ++d) {
            const SliceRange& range = ranges->at(d);
            const int64_t first = static_cast<int64_t>(d) == axis ? begin : 0;
            isWhole = isWhole && range.begin == first && range.stride == 1 &&
                      range.extent == shape->at(d);
        }
        if (isWhole) return operand;
        begin += shape->at(static_cast<size_t>(axis));
    }
    return std::nullopt;
}

/// A part of a concatenation is what was put there.
std::optional<Patch> sliceOfConcatenate(const Site& site)
{
    const std::optional<ValueRef> operand = slicedOperand(site);
    if (!operand || site.uses.isResult(site.node.id)) return std::nullopt;
    PatchWriter patch =
        site.patch("slice-of-concatenate", "the slice is one operand of the concatenation");
    patch.replaceAndErase(site.node.id, *operand);
    return patch.take();
}

std::vector<int64_t> composedAxes(const NodeRecord& inner, const NodeRecord& outer, size_t rank)
{
    const auto axesOf = [&](const NodeRecord& node) {
        std::vector<int64_t> axes = node.attrs.integers("axes", {});
        if (axes.empty())
            for (size_t i = rank; i-- > 0;) axes.push_back(static_cast<int64_t>(i));
        for (int64_t& axis : axes) axis = normalizedAxis(axis, rank);
        return axes;
    };
    const std::vector<int64_t> first = axesOf(inner);
    std::vector<int64_t> out;
    for (const int64_t axis : axesOf(outer)) out.push_back(first.at(static_cast<size_t>(axis)));
    return out;
}

/// reshape(reshape(x)) and transpose(transpose(x)) need one step only.
std::optional<Patch> mergeTwins(const Site& site)
{
    if (!isOp(site.node, reshapeOp) && !isOp(site.node, transposeOp)) return std::nullopt;
    const NodeRecord& inner = site.module.node(site.node.operands[0].node);
    if (!isOp(inner, factsOf(site.node))) return std::nullopt;
    const bool isPrivate = site.uses.hasOneUser(inner.id);
    std::vector<NodeId> from{site.node.id};
    if (isPrivate) from.insert(from.begin(), inner.id);
    PatchWriter patch(site.module, site.function.id, "merge-" + site.node.op,
                      "two in a row are one", std::move(from));
    NodeRecord merged = site.node;
    merged.operands = inner.operands;
    if (isPrivate) merged.origin = mergedOrigin(merged.origin, inner.origin);
    if (isOp(site.node, transposeOp))
        merged.attrs.set("axes", composedAxes(inner, site.node, inner.types.at(0).shape.size()));
    else
        merged.attrs = shapeAttrs(site.node.types.at(0).shape); // a 0 means a size of the inner one
    patch.change(std::move(merged));
    if (isPrivate) patch.erase(inner.id);
    return patch.take();
}

/// `value`, an operand of an elementwise operator on `shape`, as an operand of the same operator on
/// rows of the last dimension; nothing where that needs more than another shape.
std::optional<ValueRef> operandOfRows(const Site& site, PatchWriter& patch, ValueRef value,
                                      const Shape& shape, const Shape& rows)
{
    if (!value.node.isValid()) return std::nullopt;
    const Shape& own = site.module.type(value).shape;
    if (own == shape) return reshaped(site, patch, value, rows);
    if (own.size() <= 1) return value;
    const Dim one(1);
    const bool isRow =
        std::all_of(own.begin(), own.end() - 1, [&](const Dim& d) { return d == one; });
    // Of one row, a number may be its own, such as its mean: norms stay as they are of many rows.
    const bool isOfRow = rows[0] == one && own.back() == one && !constantOf(site.module, value);
    if (isRow && !isOfRow) return reshaped(site, patch, value, {own.back()});
    return std::nullopt;
}

/// What a dense layer computes becomes rows; elementwise operators behind that reshape compute on
/// the rows themselves, so that they can join the layer's kernel.
std::optional<Patch> sinkReshape(const Site& site)
{
    const OpDef* op = site.node.kind == NodeKind::Op ? findOp(site.node.op) : nullptr;
    if (!op || op->pattern > Pattern::Broadcast || site.node.types.size() != 1) return std::nullopt;
    const Shape& shape = site.node.types[0].shape;
    if (shape.size() < 3) return std::nullopt;
    const auto isRows = [&](ValueRef value) {
        if (!value.node.isValid() || !isOp(site.module.node(value.node), reshapeOp)) return false;
        const NodeRecord& reshape = site.module.node(value.node);
        const Shape& rows = site.module.type(reshape.operands[0]).shape;
        const NodeRecord& source = site.module.node(reshape.operands[0].node);
        return reshape.types[0].shape == shape && rows.size() == 2 && rows.back() == shape.back() &&
               source.kind == NodeKind::Op && !isOp(source, reshapeOp);
    };
    const auto& operands = site.node.operands;
    const auto found = std::find_if(operands.begin(), operands.end(), isRows);
    if (found == operands.end()) return std::nullopt;
    const NodeRecord& reshape = site.module.node(found->node);
    const Shape& rows = site.module.type(reshape.operands[0]).shape;
    std::vector<NodeId> from{site.node.id};
    if (site.uses.hasOneUser(reshape.id)) from.insert(from.begin(), reshape.id);
    PatchWriter patch(site.module, site.function.id, "sink-reshape",
                      quoted(site.node.op) + " computes on rows alike", from);
    std::vector<ValueRef> inner;
    for (const ValueRef& operand : operands) {
        if (operand.node == reshape.id) {
            inner.push_back(reshape.operands[0]);
            continue;
        }
        const auto value = operandOfRows(site, patch, operand, shape, rows);
        if (!value) return std::nullopt;
        inner.push_back(*value);
    }
    const ValueRef result = patch.op(factsOf(site.node), std::move(inner), site.node.attrs);
    patch.replaceAndErase(site.node.id, patch.op(reshapeOp, {result}, shapeAttrs(shape)));
    if (from.size() > 1) patch.erase(reshape.id);
    return patch.take();
}

/// What a pad adds around rows and columns, [top, left, bottom, right], when it adds zeros to
/// nothing else.
std::optional<std::array<int64_t, 4>> zerosAround(const NodeRecord& node)
{
    const std::vector<int64_t> width = node.attrs.integers("pad_width", {});
    if (!isOp(node, padOp) || width.size() != 8 || node.operands.size() != 1 ||
        node.attrs.number("pad_value", 0) != 0 ||
        node.attrs.string("pad_mode", "constant") != "constant" ||
        std::any_of(width.begin(), width.begin() + 4, [](int64_t wide) { return wide != 0; }) ||
        std::any_of(width.begin() + 4, width.end(), [](int64_t wide) { return wide < 0; }))
        return std::nullopt;
    return std::array<int64_t, 4>{width[4], width[6], width[5], width[7]};
}

/// A convolution adds the zeros itself. Of a dilated kernel they may be as wide as the image: then
/// most results are of a border, which kernels compute with conditions.
std::optional<Patch> foldPad(const Site& site)
{
    if (!isOp(site.node, conv2dOp) || site.node.attrs.string("data_layout", "NCHW") != "NCHW")
        return std::nullopt;
    const NodeRecord& pad = site.module.node(site.node.operands[0].node);
    const auto zeros = pad.kind == NodeKind::Op ? zerosAround(pad) : std::nullopt;
    const auto weight = knownShape(site.module, site.node.operands[1]);
    if (!zeros || !weight ||
        site.node.attrs.integers("dilation", {1, 1}) != std::vector<int64_t>{1, 1})
        return std::nullopt;
    std::vector<int64_t> padding = site.node.attrs.integers("padding", {0, 0, 0, 0});
    for (size_t i = 0; i < padding.size(); ++i) {
        padding[i] += zeros->at(i);
        if (padding[i] >= weight->at(2 + i % 2)) return std::nullopt;
    }
    PatchWriter patch = site.patch("fold-pad", "the convolution adds the zeros itself");
    NodeRecord conv = site.node;
    conv.operands[0] = pad.operands[0];
    conv.attrs.set("padding", std::move(padding));
    patch.change(std::move(conv));
    return patch.take();
}

std::optional<Patch> toDense(const Site& site)
{
    return matmulToDense(site.module, site.function, site.node);
}

std::optional<Patch> untranspose(const Site& site)
{
    return untransposeFactor(site.module, site.function, site.node);
}

std::optional<Patch> fillRows(const Site& site)
{
    return keepFilledRows(site.module, site.function, site.uses, site.node);
}

using Rule = std::optional<Patch> (*)(const Site&);
constexpr Rule kRules[] = {dropNop,          biasAddToAdd, toReshape,   subtractToAdd,
                           divideToMultiply, mergeTwins,   sinkReshape, sliceOfConcatenate,
                           foldPad,          toDense,      untranspose, fillRows};

} // namespace

Result<Patches> runCanonicalizeOps(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Op) continue;
            for (const Rule rule : kRules) {
                std::optional<Patch> patch = rule({module, *function, uses, node});
                if (!patch) continue;
                patches.push_back(std::move(*patch));
                break;
            }
        }
    }
    return patches;
}

} // namespace tenon::compiler
