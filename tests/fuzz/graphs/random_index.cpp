// SPDX-License-Identifier: Apache-2.0
// Nodes that choose, move and count elements.
#include "tests/fuzz/graphs/graph_builder.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tenon::test {
namespace {

using core::kInt64;

/// A value with at least one axis, and one of its axes.
std::pair<GraphValue, size_t> valueAndAxis(GraphBuilder& b, bool mustBeExact = false)
{
    GraphValue x = mustBeExact ? b.exactValue() : b.anyValue();
    if (x.shape.empty() || core::elementCount(x.shape) > 4000)
        x = b.addInput({b.pick(1, 6), b.pick(1, 6)});
    return {x, static_cast<size_t>(b.pick(0, static_cast<int64_t>(x.shape.size()) - 1))};
}

int64_t negativeOrNot(GraphBuilder& b, size_t axis, size_t rank)
{
    return static_cast<int64_t>(axis) - (b.chance(30) ? static_cast<int64_t>(rank) : 0);
}

void argument(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b, true);
    const bool keeps = b.chance(50);
    Dims shape = x.shape;
    if (keeps)
        shape[axis] = 1;
    else
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    auto& node = b.applyTyped(b.chance(50) ? "ArgMax" : "ArgMin", {x}, kInt64, shape, true);
    setInt(node, "axis", negativeOrNot(b, axis, x.shape.size()));
    setInt(node, "keepdims", keeps);
    setInt(node, "select_last_index", b.chance(30));
    b.cast(b.last(), core::kFloat32);
}

void topK(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b, true);
    Dims shape = x.shape;
    shape[axis] = b.pick(1, x.shape[axis]);
    const std::string values = b.newName(), indices = b.newName();
    auto& node = b.addNode("TopK", {x, b.addIntegers({shape[axis]})}, {values, indices});
    setInt(node, "axis", negativeOrNot(b, axis, x.shape.size()));
    setInt(node, "largest", b.chance(50));
    b.remember({values, core::kFloat32, shape});
    b.remember({indices, kInt64, shape});
    b.cast(b.last(), core::kFloat32);
}

void gatherElements(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b);
    Dims shape = x.shape;
    for (int64_t& dim : shape) dim = b.pick(1, dim);
    const GraphValue at = b.addWhole(kInt64, shape, -x.shape[axis], x.shape[axis] - 1);
    setInt(b.apply("GatherElements", {x, at}, shape, true), "axis",
           negativeOrNot(b, axis, x.shape.size()));
}

void gatherNd(GraphBuilder& b)
{
    const auto [x, ignored] = valueAndAxis(b);
    const int64_t least = *std::min_element(x.shape.begin(), x.shape.end());
    const int64_t depth = b.pick(1, static_cast<int64_t>(x.shape.size())), count = b.pick(1, 4);
    Dims shape{count};
    shape.insert(shape.end(), x.shape.begin() + depth, x.shape.end());
    b.apply("GatherND", {x, b.addWhole(kInt64, {count, depth}, 0, least - 1)}, shape, true);
}

void scatterElements(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b);
    static const char* const kReductions[] = {"none", "add", "mul", "max", "min"};
    // One index per line along the axis: without a reduction indices must differ.
    Dims shape = x.shape;
    shape[axis] = 1;
    const int64_t reduction = b.pick(0, b.opset() >= 18 ? 4 : b.opset() >= 16 ? 2 : 0);
    auto& node = b.apply(
        "ScatterElements",
        {x, b.addWhole(kInt64, shape, -x.shape[axis], x.shape[axis] - 1), b.addConstant(shape)},
        x.shape, reduction == 0 || reduction > 2);
    setInt(node, "axis", static_cast<int64_t>(axis));
    if (b.opset() >= 16) setText(node, "reduction", kReductions[reduction]);
}

void scatterNd(GraphBuilder& b)
{
    const auto [x, ignored] = valueAndAxis(b);
    const int64_t count = b.opset() >= 16 ? b.pick(1, 3) : 1;
    Dims updates{count};
    updates.insert(updates.end(), x.shape.begin() + 1, x.shape.end());
    auto& node = b.apply(
        "ScatterND", {x, b.addWhole(kInt64, {count, 1}, 0, x.shape[0] - 1), b.addConstant(updates)},
        x.shape, count == 1);
    if (b.opset() >= 16) setText(node, "reduction", count == 1 ? "none" : "add");
}

void oneHot(GraphBuilder& b)
{
    const Dims base{b.pick(1, 5), b.pick(1, 4)};
    const int64_t depth = b.pick(1, 5), axis = b.pick(0, 2);
    Dims shape = base;
    shape.insert(shape.begin() + axis, depth);
    auto& node = b.apply(
        "OneHot",
        {b.addWhole(kInt64, base, -depth, depth - 1), b.addIntegers({depth}), b.addConstant({2})},
        shape, true);
    setInt(node, "axis", axis);
}

void triangle(GraphBuilder& b)
{
    GraphValue x = b.anyValue();
    if (x.shape.size() < 2) x = b.valueOfRank(2);
    if (b.opset() < 14) return;
    setInt(b.apply("Trilu", {x, b.addIntegers({b.pick(-2, 2)}, true)}, x.shape, true), "upper",
           b.chance(50));
}

void split(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b);
    if (x.shape[axis] < 2) return triangle(b);
    const int64_t first = b.pick(1, x.shape[axis] - 1);
    const std::string names[] = {b.newName(), b.newName()};
    auto& node = b.addNode("Split", {x, b.addIntegers({first, x.shape[axis] - first})},
                           {names[0], names[1]});
    setInt(node, "axis", static_cast<int64_t>(axis));
    Dims shape = x.shape;
    shape[axis] = first;
    b.remember({names[0], core::kFloat32, shape, x.isExact});
    shape[axis] = x.shape[axis] - first;
    b.remember({names[1], core::kFloat32, shape, x.isExact});
}

void rank(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    const auto size = static_cast<int64_t>(x.shape.size());
    if (b.chance(40) && size > 0 && size < 5) {
        const int64_t axis = b.pick(0, size);
        Dims shape = x.shape;
        shape.insert(shape.begin() + axis, 1);
        b.apply("Unsqueeze", {x, b.addIntegers({axis})}, shape, true);
        if (b.chance(40)) b.apply("Squeeze", {b.last(), b.addIntegers({axis})}, x.shape, true);
        return;
    }
    const int64_t axis = b.pick(0, size);
    const auto product = [&](int64_t first, int64_t last) {
        return std::accumulate(x.shape.begin() + first, x.shape.begin() + last, int64_t{1},
                               std::multiplies<>());
    };
    setInt(b.apply("Flatten", {x}, {product(0, axis), product(axis, size)}, true), "axis", axis);
}

void blocks(GraphBuilder& b)
{
    const int64_t block = b.pick(1, 3), n = b.pick(1, 2), c = b.pick(1, 3), h = b.pick(1, 4),
                  w = b.pick(1, 4);
    if (b.chance(50)) {
        const GraphValue x = b.addInput({n, c * block * block, h, w});
        auto& node = b.apply("DepthToSpace", {x}, {n, c, h * block, w * block}, true);
        setInt(node, "blocksize", block);
        setText(node, "mode", b.chance(50) ? "DCR" : "CRD");
    } else {
        const GraphValue x = b.addInput({n, c, h * block, w * block});
        setInt(b.apply("SpaceToDepth", {x}, {n, c * block * block, h, w}, true), "blocksize",
               block);
    }
}

void reverse(GraphBuilder& b)
{
    const GraphValue x = b.addInput({b.pick(1, 5), b.pick(1, 4), b.pick(1, 3)});
    auto& node = b.apply("ReverseSequence", {x, b.addWhole(kInt64, {x.shape[1]}, 1, x.shape[0])},
                         x.shape, true);
    setInt(node, "time_axis", 0);
    setInt(node, "batch_axis", 1);
}

/// Shapes as numbers.
void shapes(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (b.chance(50) && !x.shape.empty()) {
        b.applyTyped("Shape", {x}, kInt64, {static_cast<int64_t>(x.shape.size())}, true);
        const GraphValue shape = b.cast(b.last(), core::kFloat32);
        b.apply("Mul", {shape, b.addConstant({}, 0.1, 0.2)}, shape.shape);
    } else {
        b.applyTyped("Size", {x}, kInt64, {}, true);
        b.apply("Reciprocal", {b.cast(b.last(), core::kFloat32)}, {});
    }
}

void made(GraphBuilder& b)
{
    const Dims shape{b.pick(1, 4), b.pick(1, 4)};
    if (b.chance(35)) {
        b.apply("ConstantOfShape", {b.addIntegers(shape)}, shape, true);
    } else if (b.chance(50)) {
        setInt(b.apply("EyeLike", {b.addInput(shape)}, shape, true), "k", b.pick(-2, 2));
    } else {
        const int64_t count = b.pick(1, 9);
        b.apply("Range",
                {b.addWhole(core::kFloat32, {}, -3, -3),
                 b.addWhole(core::kFloat32, {}, count - 3, count - 3),
                 b.addWhole(core::kFloat32, {}, 1, 1)},
                {count}, true);
    }
    const GraphValue x = b.last();
    b.apply("Add", {x, b.addConstant({})}, x.shape);
}

void keepListed(GraphBuilder& b)
{
    const auto [x, axis] = valueAndAxis(b);
    const GraphValue condition = b.addWhole(core::kBool, {x.shape[axis]}, 1, 1);
    setInt(b.apply("Compress", {x, condition}, x.shape, true), "axis", static_cast<int64_t>(axis));
}

} // namespace

void addIndexNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {
        argument, topK, gatherElements, gatherNd, scatterElements, scatterNd, oneHot,    triangle,
        split,    rank, blocks,         reverse,  shapes,          made,      keepListed};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
