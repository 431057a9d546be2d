// SPDX-License-Identifier: Apache-2.0
// `x.squeeze(axis)` of an open size is exported as "if the size is 1, squeeze, else x", whose ranks
// differ.
#include "compiler/frontend/onnx/graph/squeezed_branch.h"

#include "compiler/ops/ops.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {

using namespace core;

namespace {

/// The only size that the value holds.
std::optional<Dim> sizeIn(const NodeRecord& node)
{
    if (node.kind == NodeKind::Constant)
        return node.constant->size() == 1 ? std::optional<Dim>(node.constant->integer(0))
                                          : std::nullopt;
    if (!isOp(node, sizesOp)) return std::nullopt;
    const std::vector<std::string> sizes = node.attrs.strings("sizes", {});
    if (sizes.size() != 1) return std::nullopt;
    const auto dim = parseDim(sizes[0]);
    return dim ? std::optional<Dim>(*dim) : std::nullopt;
}

/// What the value is computed from by nothing but moves.
const NodeRecord& origin(const Module& module, ValueRef value)
{
    const NodeRecord* node = &module.node(value.node);
    while (isOp(*node, reshapeOp) || isOp(*node, squeezeOp) || isOp(*node, expandDimsOp))
        node = &module.node(node->operands.at(0).node);
    return *node;
}

bool isSqueezeOf(const Module& module, const NodeRecord& node, const Dim& size)
{
    if (!isOp(node, squeezeOp)) return false;
    const ValueRef data = node.operands.at(0);
    const Shape& shape = module.node(data.node).types.at(data.index).shape;
    const std::vector<int64_t> axes = node.attrs.integers("axis", {});
    return std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
        return axis >= 0 && shape.at(static_cast<size_t>(axis)) == size;
    });
}

} // namespace

std::optional<Dim> sizeComparedToOne(const Module& module, ValueRef condition)
{
    const NodeRecord& node = origin(module, condition);
    if (!isOp(node, equalOp)) return std::nullopt;
    const auto a = sizeIn(origin(module, node.operands.at(0)));
    const auto b = sizeIn(origin(module, node.operands.at(1)));
    if (!a || !b) return std::nullopt;
    if (*a == Dim(1)) return b;
    if (*b == Dim(1)) return a;
    return std::nullopt;
}

bool removesAxis(const Module& module, FunctionId body, const Dim& size)
{
    const GraphFunction& function = module.function(body);
    std::set<NodeId> needed;
    for (const ValueRef& result : function.results) needed.insert(result.node);
    for (auto id = function.order.rbegin(); id != function.order.rend(); ++id) {
        if (!needed.contains(*id)) continue;
        const NodeRecord& node = module.node(*id);
        if (isSqueezeOf(module, node, size)) return true;
        for (const ValueRef& operand : node.operands) needed.insert(operand.node);
    }
    return false;
}

} // namespace tenon::compiler
