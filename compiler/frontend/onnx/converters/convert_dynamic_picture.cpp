// SPDX-License-Identifier: Apache-2.0
// AffineGrid, CenterCropPad and Col2Im of sizes that are known when the model runs.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"
#include "core/tensor/dim_bounds.h"

namespace tenon::compiler {
namespace {

/// From -1 to 1 along an axis: the middles of its elements, or its first and last element.
ValueRef normalized(OnnxNode& node, const Dim& extent, bool isAligned)
{
    Formula f(node);
    const ValueRef at = f.multiply(f.cast(countedTo(node, extent), kFloat64), 2.0);
    const ValueRef count = f.cast(node.sizeOf(extent), kFloat64);
    if (!isAligned) return f.subtract(f.divide(f.add(at, 1.0), count), 1.0);
    const ValueRef steps = f.call("maximum", {f.subtract(count, 1.0), f.number(1, count)});
    // A single element stands in the middle.
    const ValueRef shift = f.cast(f.compare("greater", count, 1), kFloat64);
    return f.subtract(f.divide(at, steps), shift);
}

/// Where the blocks of Col2Im lie: everything per spatial axis, and products over the axes.
struct Blocks
{
    KernelWindow window;
    Shape image, kernel, counts;
};

/// Where each element of each block goes in the flat image, [1, elements * blocks]; behind its end
/// what falls into the padding.
ValueRef blockTargets(OnnxNode& node, const Blocks& blocks)
{
    Formula f(node);
    const auto axes = static_cast<int64_t>(blocks.image.size());
    const auto along = [&](const Dim& count, int64_t position) {
        const ValueRef places = countedTo(node, count);
        const int64_t behind = 2 * axes - 1 - position;
        return behind == 0 ? places : f.expand(places, 1, behind);
    };
    ValueRef flat, isInside;
    for (int64_t axis = 0; axis < axes; ++axis) {
        const auto i = static_cast<size_t>(axis);
        const ValueRef inBlock = f.multiply(along(blocks.kernel[i], axis),
                                            static_cast<double>(blocks.window.dilations[i]));
        const ValueRef block = f.multiply(along(blocks.counts[i], axes + axis),
                                          static_cast<double>(blocks.window.strides[i]));
        const ValueRef at =
            f.subtract(f.add(block, inBlock), static_cast<double>(blocks.window.padBegin[i]));
        const ValueRef extent = node.sizeOf(blocks.image[i]);
        const ValueRef isHere =
            f.both(f.compare("greater_equal", at, 0), f.call("less", {at, extent}));
        isInside = axis == 0 ? isHere : f.both(isInside, isHere);
        flat = axis == 0 ? at : f.add(f.multiply(flat, extent), at);
    }
    flat = f.where(isInside, flat, node.sizeOf(product(blocks.image)));
    return reshapedTo(node, flat, {Dim(1), product(blocks.kernel) * product(blocks.counts)});
}

} // namespace

void affineGridAtRunTime(OnnxNode& node, bool isAligned)
{
    Formula f(node);
    const Shape theta = node.type(0).shape;
    const Shape size = node.boundDims(1);
    if (node.hasFailed()) return;
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    if (axes < 1 || theta.size() != 3 || theta[1] != Dim(axes) || theta[2] != Dim(axes + 1))
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "theta " + shapeText(theta) + " does not fit a size of " +
                             std::to_string(size.size()) + " entries");
    // Column j of theta weighs the coordinate of the j-th axis, counted from the innermost.
    const auto column = [&](int64_t j) {
        return f.expand(f.squeeze(f.slice(node.input(0), 2, j, j + 1), {2}), 1, axes);
    };
    ValueRef sum;
    for (int64_t j = 0; j < axes; ++j) {
        const int64_t axis = axes - 1 - j;
        const ValueRef places = f.cast(
            normalized(node, size[static_cast<size_t>(axis + 2)], isAligned), node.type(0).dtype);
        const ValueRef part = f.multiply(column(j), f.expand(places, 1, axes - axis));
        sum = j == 0 ? part : f.add(sum, part);
    }
    Shape result{size[0]};
    result.insert(result.end(), size.begin() + 2, size.end());
    result.emplace_back(axes);
    // Whether theta has as many matrices as the size asks for is checked with the shape.
    node.output(0, reshapedTo(node, f.add(sum, column(axes)), result));
}

void centerCropPadAtRunTime(OnnxNode& node, const Shape& result)
{
    Formula f(node);
    const DataType dtype = node.type(0).dtype;
    const ValueRef gained = f.subtract(node.sizesOf(result), node.sizesOf(node.type(0).shape));
    // Half of it, rounded towards zero: the odd element goes to the end.
    const ValueRef isCropped = f.cast(f.compare("less", gained, 0), kInt64);
    const ValueRef before =
        f.call("floor_divide", {f.add(gained, isCropped), wholeNumber(node, 2)});
    node.output(0, emitSized(node, "dynamic_pad", {node.input(0), before, node.scalar(0, dtype)},
                             result, {{"pad_mode", std::string("constant")}}));
}

void col2ImAtRunTime(OnnxNode& node)
{
    Formula f(node);
    const Shape columns = node.type(0).shape;
    Blocks blocks{
        .window = {}, .image = node.boundDims(1), .kernel = node.boundDims(2), .counts = {}};
    if (node.hasFailed()) return;
    if (columns.size() != 3 || blocks.image.empty() || blocks.image.size() != blocks.kernel.size())
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "blocks of " + std::to_string(blocks.kernel.size()) +
                             " dimensions do not make an image of " +
                             std::to_string(blocks.image.size()) + " from " + shapeText(columns));
    const KernelWindow& window = blocks.window =
        readKernelWindow(node, std::vector<int64_t>(blocks.kernel.size(), 1));
    if (node.hasFailed()) return;
    for (size_t i = 0; i < blocks.image.size(); ++i) {
        const Dim reach = (blocks.kernel[i] - Dim(1)) * Dim(window.dilations[i]) + Dim(1);
        const Dim room = blocks.image[i] + Dim(window.padBegin[i] + window.padEnd[i]) - reach;
        blocks.counts.push_back(floorDiv(room, Dim(window.strides[i])) + Dim(1));
    }
    const Dim inBlock = product(blocks.kernel), points = product(blocks.image);
    const Dim channels = floorDiv(columns[1], inBlock), planes = columns[0] * channels;
    const Dim elements = inBlock * product(blocks.counts);
    // Two steps, so that the channels and the blocks are checked each.
    const ValueRef x = reshapedTo(
        node, reshapedTo(node, node.input(0), {columns[0], channels, inBlock, columns[2]}),
        {planes, elements});
    const Attrs none{{"shape", std::vector<int64_t>{}}};
    const ValueRef targets =
        emitSized(node, "broadcast_to", {blockTargets(node, blocks)}, {planes, elements}, none);
    const ValueRef zeros = emitSized(node, "full", {node.scalar(0, node.type(0).dtype)},
                                     {planes, points + Dim(1)}, none);
    ValueRef out = f.call("scatter_elements", {zeros, targets, x},
                          {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
    out = emitSized(node, "dynamic_slice", {out, node.sizesOf({Dim(0)})}, {planes, points},
                    {{"axes", std::vector<int64_t>{1}}, {"strides", std::vector<int64_t>{1}}});
    Shape result{columns[0], channels};
    result.insert(result.end(), blocks.image.begin(), blocks.image.end());
    node.output(0, reshapedTo(node, out, result));
}

} // namespace tenon::compiler
