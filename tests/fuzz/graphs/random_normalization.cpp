// SPDX-License-Identifier: Apache-2.0
// Normalizations and attention.
#include "tests/fuzz/graphs/graph_builder.h"

#include <cmath>
#include <iterator>

namespace tenon::test {
namespace {

/// Variances must not vanish, or rounding becomes the result.
GraphValue lively(GraphBuilder& b, size_t rank)
{
    Dims shape;
    for (size_t i = 0; i < rank; ++i) shape.push_back(b.pick(i == 0 ? 1 : 3, 6));
    return b.addInput(shape);
}

void layer(GraphBuilder& b)
{
    if (b.opset() < 17) return;
    const GraphValue x = lively(b, static_cast<size_t>(b.pick(2, 4)));
    const auto rank = static_cast<int64_t>(x.shape.size());
    const int64_t axis = b.pick(1, rank - 1);
    const Dims normalized(x.shape.begin() + axis, x.shape.end());
    std::vector<GraphValue> operands{x, b.addConstant(normalized)};
    const bool isRms = b.opset() >= 23 && b.chance(40);
    if (!isRms && b.chance(60)) operands.push_back(b.addConstant(normalized));
    setInt(b.apply(isRms ? "RMSNormalization" : "LayerNormalization", operands, x.shape), "axis",
           b.chance(50) ? axis : axis - rank);
}

void instance(GraphBuilder& b)
{
    const GraphValue x = lively(b, static_cast<size_t>(b.pick(3, 4)));
    const Dims channels{x.shape[1]};
    b.apply("InstanceNormalization", {x, b.addConstant(channels), b.addConstant(channels)},
            x.shape);
}

void group(GraphBuilder& b)
{
    if (b.opset() < 21) return instance(b);
    const int64_t groups = b.pick(1, 3), channels = groups * b.pick(1, 3);
    const GraphValue x = b.addInput({b.pick(1, 2), channels, b.pick(2, 4), b.pick(3, 4)});
    setInt(b.apply("GroupNormalization", {x, b.addConstant({channels}), b.addConstant({channels})},
                   x.shape),
           "num_groups", groups);
}

void local(GraphBuilder& b)
{
    const GraphValue x = lively(b, 4);
    auto& node = b.apply("LRN", {x}, x.shape);
    setInt(node, "size", 2 * b.pick(0, 2) + 1);
    setFloat(node, "alpha", 0.1);
}

void byLength(GraphBuilder& b)
{
    const GraphValue x = lively(b, 3);
    auto& node = b.apply("LpNormalization", {x}, x.shape);
    setInt(node, "axis", b.pick(0, 2));
    setInt(node, "p", b.pick(1, 2));
}

void moments(GraphBuilder& b)
{
    const GraphValue x = lively(b, 4);
    setInts(b.apply("MeanVarianceNormalization", {x}, x.shape), "axes", {0, 2, 3});
}

void attention(GraphBuilder& b)
{
    if (b.opset() < 23) return layer(b);
    const int64_t n = b.pick(1, 2), shared = b.pick(1, 2), heads = shared * b.pick(1, 3);
    const int64_t queries = b.pick(1, 5), keys = b.chance(30) ? b.pick(7, 70) : b.pick(1, 6),
                  size = 2 * b.pick(1, 9);
    const GraphValue q = b.addInput({n, heads, queries, size});
    std::vector<GraphValue> operands{q, b.addInput({n, shared, keys, size}),
                                     b.addInput({n, shared, keys, size})};
    if (b.chance(40)) operands.push_back(b.addConstant({queries, keys}));
    auto& node = b.apply("Attention", operands, q.shape);
    if (b.chance(40)) setInt(node, "is_causal", 1);
    if (b.chance(30)) setFloat(node, "softcap", 2);
}

/// The same out of single operators, as exporters write it.
void spelledOut(GraphBuilder& b)
{
    const int64_t n = b.pick(1, 3), length = b.pick(1, 7), size = b.pick(1, 9);
    const GraphValue q = b.addInput({n, length, size}), k = b.addInput({n, length, size});
    setInts(b.apply("Transpose", {k}, {n, size, length}, true), "perm", {0, 2, 1});
    b.apply("MatMul", {q, b.last()}, {n, length, length});
    const double root = std::sqrt(static_cast<double>(size));
    b.apply("Div", {b.last(), b.addConstant({}, root, root)}, {n, length, length});
    setInt(b.apply("Softmax", {b.last()}, {n, length, length}), "axis", -1);
    b.apply("MatMul", {b.last(), k}, {n, length, size});
}

/// Heads, some of which share their keys, and masks one behind the other.
void masked(GraphBuilder& b)
{
    const int64_t n = b.pick(1, 2), heads = b.pick(1, 3), queries = b.pick(1, 9),
                  keys = b.pick(1, 40), size = b.pick(1, 20);
    const GraphValue q = b.addInput({n, heads, queries, size});
    const GraphValue k = b.addInput({n, heads, keys, size});
    const GraphValue v = b.addInput({n, heads, keys, size});
    const std::vector<int64_t> scores{n, heads, queries, keys};
    setInts(b.apply("Transpose", {k}, {n, heads, size, keys}, true), "perm", {0, 1, 3, 2});
    b.apply("MatMul", {q, b.last()}, scores);
    for (int64_t i = b.pick(0, 2); i > 0; --i) {
        const GraphValue below = b.last();
        const GraphValue mask =
            b.addConstant(b.chance(50) ? std::vector<int64_t>{heads, queries, keys}
                                       : std::vector<int64_t>{n, 1, 1, keys});
        b.apply("Add", b.chance(50) ? std::vector{below, mask} : std::vector{mask, below}, scores);
    }
    setInt(b.apply("Softmax", {b.last()}, scores), "axis", -1);
    b.apply("MatMul", {b.last(), v}, q.shape);
}

void rotate(GraphBuilder& b)
{
    if (b.opset() < 23) return local(b);
    const int64_t n = b.pick(1, 2), heads = b.pick(1, 3), length = b.pick(1, 4),
                  half = b.pick(1, 3);
    const GraphValue x = b.addInput({n, heads, length, 2 * half});
    setInt(b.apply("RotaryEmbedding",
                   {x, b.addConstant({n, length, half}), b.addConstant({n, length, half})},
                   x.shape),
           "interleaved", b.chance(50));
}

} // namespace

void addNormalizationNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {layer,   layer,     instance,   group,  local, byLength,
                                          moments, attention, spelledOut, masked, rotate};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
