// SPDX-License-Identifier: Apache-2.0
// The exchange of a factor's last two axes goes into the product.
#include "compiler/passes/transposed_factor.h"

#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The axes of a transposition without its exchange of the last two; empty for one that has none.
std::vector<int64_t> withoutExchange(const NodeRecord& transposition)
{
    std::vector<int64_t> axes = transposition.attrs.integers("axes", {});
    const size_t rank = axes.size();
    for (int64_t& axis : axes) axis = normalizedAxis(axis, rank);
    // Rows that lay side by side are what a product reads best.
    if (rank < 2 || axes[rank - 2] != static_cast<int64_t>(rank) - 1) return {};
    std::swap(axes[rank - 2], axes[rank - 1]);
    return axes;
}

} // namespace

std::optional<Patch> untransposeFactor(const Module& module, const GraphFunction& function,
                                       const NodeRecord& node)
{
    if (!isOp(node, matmulOp) || node.attrs.integer("transpose_b", 0) != 0) return std::nullopt;
    const NodeRecord& transposition = module.node(node.operands[1].node);
    if (transposition.kind != NodeKind::Op || !isOp(transposition, transposeOp) ||
        constantOf(module, transposition.operands[0]))
        return std::nullopt;
    const std::vector<int64_t> axes = withoutExchange(transposition);
    if (axes.empty()) return std::nullopt;
    PatchWriter patch(module, function.id, "untranspose-factor",
                      "the product reads rows of its second factor", {node.id});
    NodeRecord product = node;
    product.operands[1] =
        std::is_sorted(axes.begin(), axes.end())
            ? transposition.operands[0]
            : patch.op(transposeOp, {transposition.operands[0]}, {{"axes", axes}});
    product.attrs.set("transpose_b", int64_t{1});
    patch.change(std::move(product));
    return patch.take();
}

} // namespace tenon::compiler
