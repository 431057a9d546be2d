// SPDX-License-Identifier: Apache-2.0
// Rows become columns and columns rows, of images and of kernels.
#include "compiler/passes/layout/turned_windows.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/shape_attrs.h"

#include <cstring>
#include <span>
#include <utility>

namespace tenon::compiler {
namespace {

using Extents = std::vector<int64_t>;

constexpr size_t kWeight = 1; ///< among operands
constexpr int64_t kChannel = 1, kRow = 2, kColumn = 3;

/// Sizes of rows and columns, and padding at top, left, bottom and right.
Attrs turnedAttrs(const NodeRecord& node)
{
    Attrs attrs = node.attrs;
    for (const AttrSpec& spec : factsOf(node).attrs) {
        if (spec.type != "int[2]" && spec.type != "int[4]") continue;
        Extents sizes = node.attrs.integers(spec.name, {});
        for (size_t i = 0; i + 1 < sizes.size(); i += 2) std::swap(sizes[i], sizes[i + 1]);
        if (!sizes.empty()) attrs.set(std::string(spec.name), std::move(sizes));
    }
    return attrs;
}

/// [N, C, H, W] -> [N, C, W, H]
Tensor turned(const Tensor& constant)
{
    Extents shape = constant.shape();
    const auto rows = static_cast<size_t>(shape[kRow]),
               columns = static_cast<size_t>(shape[kColumn]);
    std::swap(shape[kRow], shape[kColumn]);
    const size_t size = constant.dtype().bytes();
    const std::span<const std::byte> from = constant.bytes();
    return Tensor::make(constant.dtype(), std::move(shape), [&](std::span<std::byte> to) {
        for (size_t plane = 0; plane < from.size(); plane += rows * columns * size)
            for (size_t i = 0; i < rows * columns; ++i)
                std::memcpy(to.data() + plane + (i % columns * rows + i / columns) * size,
                            from.data() + plane + i * size, size);
    });
}

/// The same of any value; constants stay some, for the passes that fold scales into weights.
ValueRef turned(const Module& module, PatchWriter& patch, ValueRef value)
{
    if (const Tensor* constant = constantOf(module, value))
        return patch.constant(turned(*constant), module.node(value.node).name);
    return patch.op(transposeOp, {value}, {{"axes", Extents{0, 1, kColumn, kRow}}});
}

/// [N, C, H, W] -> [N, C * W, 1, H]
ValueRef withColumnsAsChannels(const Module& module, PatchWriter& patch, ValueRef value)
{
    const Shape& shape = module.type(value).shape;
    const Shape wanted{shape[0], shape[kChannel] * shape[kColumn], Dim(1), shape[kRow]};
    if (const Tensor* constant = constantOf(module, value))
        return patch.constant(turned(*constant).reshaped(*constantShape(wanted)),
                              module.node(value.node).name);
    return patch.op(reshapeOp, {turned(module, patch, value)}, shapeAttrs(wanted));
}

} // namespace

bool isPlainConvolution(const NodeRecord& node)
{
    return isOneOf(node, conv2dOp, conv2dTransposeOp, qnnConv2dOp);
}

bool isPlainPool(const NodeRecord& node)
{
    return isOneOf(node, maxPool2dOp, avgPool2dOp, globalAvgPool2dOp, globalMaxPool2dOp) &&
           node.attrs.string("layout", "NCHW") == "NCHW";
}

ValueRef turnedWindow(const Module& module, PatchWriter& patch, const NodeRecord& node,
                      ValueRef image)
{
    std::vector<ValueRef> operands = node.operands;
    operands[0] = image;
    if (isPlainConvolution(node)) operands[kWeight] = turned(module, patch, operands[kWeight]);
    return patch.op(factsOf(node), std::move(operands), turnedAttrs(node));
}

bool spansRows(const Module& module, const NodeRecord& node)
{
    if (!isOneOf(node, conv2dOp, qnnConv2dOp) || node.attrs.integer("groups", 1) != 1) return false;
    const Shape &image = module.type(node.operands[0]).shape,
                &kernel = module.type(node.operands[kWeight]).shape, &result = node.types[0].shape;
    const Extents padding = node.attrs.integers("padding", {0, 0, 0, 0}),
                  dilation = node.attrs.integers("dilation", {1, 1});
    return image[kColumn].isConst() && image[kColumn] == kernel[kColumn] &&
           image[kColumn] != Dim(1) && image[kChannel].isConst() && result[kRow] != Dim(1) &&
           padding[1] == 0 && padding[3] == 0 && dilation[1] == 1;
}

ValueRef columnsAsChannels(const Module& module, PatchWriter& patch, const NodeRecord& node)
{
    std::vector<ValueRef> operands = node.operands;
    for (const size_t i : {size_t{0}, kWeight})
        operands[i] = withColumnsAsChannels(module, patch, operands[i]);
    return patch.op(factsOf(node), std::move(operands), turnedAttrs(node));
}

} // namespace tenon::compiler
