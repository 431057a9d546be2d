// SPDX-License-Identifier: Apache-2.0
// Both factors of a sum through the same permutation: the sum stays, its order turns.
#include "compiler/compare/reversed_sums.h"

#include "compiler/ops/ops.h"
#include "core/ir/change_set.h"

#include <optional>
#include <utility>

namespace tenon::compiler {
namespace {

/// The axes of both factors that a node sums over; indices count on through the groups.
struct SummedAxes
{
    int64_t first = 0;
    int64_t second = 0;
    int64_t groups = 1;
};

/// The summed axis of a matrix of at least two axes, of which `fromEnd` is counted backwards.
int64_t matrixAxis(const Module& module, ValueRef value, int64_t fromEnd)
{
    return static_cast<int64_t>(module.type(value).shape.size()) - fromEnd;
}

std::optional<SummedAxes> summedAxes(const Module& module, const NodeRecord& node)
{
    if (isOneOf(node, convOp, conv2dOp)) return SummedAxes{1, 1, node.attrs.integer("groups", 1)};
    if (isOp(node, conv2dTransposeOp)) return SummedAxes{1, 0, node.attrs.integer("groups", 1)};
    if (isOp(node, denseOp)) return SummedAxes{1, 1, 1};
    if (!isOp(node, matmulOp)) return std::nullopt;
    const ValueRef a = node.operands[0], b = node.operands[1];
    if (module.type(a).shape.size() < 2 || module.type(b).shape.size() < 2) return std::nullopt;
    return SummedAxes{matrixAxis(module, a, node.attrs.integer("transpose_a", 0) != 0 ? 2 : 1),
                      matrixAxis(module, b, node.attrs.integer("transpose_b", 0) != 0 ? 1 : 2), 1};
}

/// Writes the main function anew, with a permutation in front of every factor.
class Reverser
{
public:
    explicit Reverser(const Module& imported)
        : m_out(imported)
        , m_main(imported.main())
    {
        m_main.order.clear();
        for (const NodeId id : imported.main().order) {
            reverse(imported.node(id));
            m_main.order.push_back(id);
        }
        m_out.setFunction(std::move(m_main));
    }

    Module take() { return std::move(m_out); }

private:
    void reverse(const NodeRecord& node)
    {
        const auto axes = summedAxes(m_out, node);
        if (!axes) return;
        const auto first = extentOf(node.operands[0], axes->first);
        const auto second = extentOf(node.operands[1], axes->second);
        if (!first || !second || *first <= axes->groups) return;
        NodeRecord changed = node;
        // a convolution's weight has the channels of one group on its axis
        const int64_t each = *first / axes->groups;
        changed.operands[0] = turned(node.operands[0], axes->first, *first, each);
        changed.operands[1] = turned(node.operands[1], axes->second, *second, each);
        m_out.setNode(std::move(changed));
    }

    std::optional<int64_t> extentOf(ValueRef value, int64_t axis) const
    {
        return m_out.type(value).shape[static_cast<size_t>(axis)].constant();
    }

    /// The value with every `each` elements of its axis from the end to the start.
    ValueRef turned(ValueRef value, int64_t axis, int64_t extent, int64_t each)
    {
        std::vector<int64_t> indices(static_cast<size_t>(extent));
        for (int64_t i = 0; i < extent; ++i)
            indices[static_cast<size_t>(i)] = i / each * each + (each - 1 - i % each);
        const ValueRef order =
            add(newConstantNode(m_out, Tensor::of(kInt64, {extent}, indices), "from_the_end"));
        NodeRecord take =
            newOpNode(m_out, std::string(takeOp.name), {value, order}, {{"axis", axis}});
        take.types = {m_out.type(value)};
        return add(std::move(take));
    }

    ValueRef add(NodeRecord node)
    {
        const NodeId id = node.id;
        m_main.order.push_back(id);
        m_out.setNode(std::move(node));
        return {id, 0};
    }

    Module m_out;
    GraphFunction m_main;
};

} // namespace

Module reversedSums(const Module& imported) { return Reverser(imported).take(); }

} // namespace tenon::compiler
