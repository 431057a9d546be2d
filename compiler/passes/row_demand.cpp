// SPDX-License-Identifier: Apache-2.0
// For each kind of operator, which rows of its operands some rows of its result need.
#include "compiler/passes/row_demand.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon::compiler {
namespace {

using Extents = std::vector<int64_t>;

/// Position of the queries among an attention's batch, head, position and element.
constexpr int64_t kQueries = 2;

RowDemand sameOperator(const NodeRecord& node)
{
    return {node.attrs, std::vector<std::optional<Rows>>(node.operands.size())};
}

/// Shapes are aligned at their last dimensions; what has one element is repeated.
std::optional<RowDemand> throughBroadcast(const Module& module, const NodeRecord& node,
                                          const Rows& rows, const Extents& result)
{
    RowDemand demand = sameOperator(node);
    for (size_t i = 0; i < node.operands.size(); ++i) {
        if (!node.operands[i].node.isValid()) continue; // absent: a default
        const auto shape = knownShape(module, node.operands[i]);
        if (!shape || shape->size() > result.size()) return std::nullopt;
        const size_t missing = result.size() - shape->size();
        if (rows.axis < missing || shape->at(rows.axis - missing) == 1) continue;
        demand.operands[i] = Rows{rows.axis - missing, rows.begin, rows.count};
    }
    return demand;
}

int64_t product(const Extents& shape, size_t end)
{
    return std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(end),
                           int64_t{1}, std::multiplies<>());
}

/// The dimension of the operand with as many elements before and in it.
std::optional<RowDemand> throughReshape(const Module& module, const NodeRecord& node,
                                        const Rows& rows, Extents result)
{
    const auto from = knownShape(module, node.operands[0]);
    if (!from || node.attrs.has("sizes")) return std::nullopt;
    const int64_t before = product(result, rows.axis);
    for (size_t d = 0; d < from->size(); ++d) {
        if (from->at(d) != result[rows.axis] || product(*from, d) != before) continue;
        RowDemand demand = sameOperator(node);
        result[rows.axis] = rows.count;
        demand.attrs.set("newshape", std::move(result));
        demand.operands[0] = Rows{d, rows.begin, rows.count};
        return demand;
    }
    return std::nullopt;
}

/// Queries do not know of each other. Those in one value with the keys or the values are read from
/// a later begin on.
std::optional<RowDemand> throughAttention(const Module& module, const NodeRecord& node,
                                          const Rows& rows)
{
    const Extents order = node.attrs.integers("out_axes", {0, 1, 2, 3});
    Extents axes = node.attrs.integers("q_axes", {0, 1, 2, 3});
    Extents extents = node.attrs.integers("extents", {});
    const auto shape = knownShape(module, node.operands[0]);
    const auto dim =
        static_cast<size_t>(std::find(axes.begin(), axes.end(), kQueries) - axes.begin());
    if (order[rows.axis] != kQueries || !shape || dim >= axes.size()) return std::nullopt;
    RowDemand demand = sameOperator(node);
    if (node.operands.size() > 3 && node.operands[3].node.isValid()) {
        const auto mask = knownShape(module, node.operands[3]);
        if (!mask) return std::nullopt;
        if (mask->size() > 1 && mask->at(mask->size() - 2) != 1)
            demand.operands[3] = Rows{mask->size() - 2, rows.begin, rows.count};
    }
    Extents begin = node.attrs.integers("q_begin", {});
    begin.resize(axes.size(), 0);
    const bool isShared = node.operands[0] == node.operands[1] ||
                          node.operands[0] == node.operands[2] ||
                          shape->at(dim) != extents[kQueries];
    if (isShared) {
        begin[dim] += rows.begin;
        demand.attrs.set("q_begin", std::move(begin));
    } else {
        demand.operands[0] = Rows{dim, rows.begin, rows.count};
    }
    extents[kQueries] = rows.count;
    demand.attrs.set("extents", std::move(extents));
    return demand;
}

/// Elementwise operators without parameters of one dimension, of numbers and of integers that
/// stand for them.
bool isBroadcast(const NodeRecord& node)
{
    const OpDef* op = findOp(node.op);
    return op && op->family == Family::Elementwise && !node.attrs.has("axis") &&
           (op->pattern == Pattern::Elementwise || op->pattern == Pattern::Broadcast);
}

/// A row of results, looked up for each element.
std::optional<RowDemand> throughTable(const Module& module, const NodeRecord& node,
                                      const Rows& rows)
{
    const auto table = knownShape(module, node.operands[0]);
    if (!table || table->size() != 1) return std::nullopt;
    RowDemand demand = sameOperator(node);
    demand.operands[1] = rows;
    return demand;
}

} // namespace

std::optional<RowDemand> rowDemandOf(const Module& module, const NodeRecord& node, const Rows& rows)
{
    const auto result = knownShape(module, {node.id, 0});
    if (node.kind != NodeKind::Op || node.types.size() != 1 || !result) return std::nullopt;
    const size_t last = result->size() - 1;
    const auto ofFirst = [&](size_t axis) {
        RowDemand demand = sameOperator(node);
        demand.operands[0] = Rows{axis, rows.begin, rows.count};
        return demand;
    };
    if (isOp(node, reshapeOp)) return throughReshape(module, node, rows, *result);
    if (isOp(node, attentionOp)) return throughAttention(module, node, rows);
    if (isOp(node, transposeOp)) {
        const Extents order = node.attrs.integers("axes", {});
        if (order.size() != result->size()) return std::nullopt;
        return ofFirst(static_cast<size_t>(normalizedAxis(order[rows.axis], order.size())));
    }
    if (isOneOf(node, denseOp, qnnDenseOp) && rows.axis == 0) return ofFirst(0);
    if (convertsByOneScale(module, node)) return ofFirst(rows.axis);
    if (isOp(node, takeOp)) return throughTable(module, node, rows);
    if (isOp(node, layerNormOp) && rows.axis < last) return ofFirst(rows.axis);
    if (isOp(node, softmaxOp) &&
        normalizedAxis(node.attrs.integer("axis", -1), last + 1) != static_cast<int64_t>(rows.axis))
        return ofFirst(rows.axis);
    if (isBroadcast(node)) return throughBroadcast(module, node, rows, *result);
    return std::nullopt;
}

std::optional<Rows> selectedRows(const Module& module, const NodeRecord& node)
{
    if (!isOp(node, takeOp) && !isOp(node, stridedSliceOp)) return std::nullopt;
    const auto shape = knownShape(module, node.operands[0]);
    const auto result = knownShape(module, {node.id, 0});
    if (!shape || !result) return std::nullopt;
    Rows rows;
    if (isOp(node, takeOp)) {
        const auto index = scalarOf(module, node.operands[1]);
        rows.axis =
            static_cast<size_t>(normalizedAxis(node.attrs.integer("axis", 0), shape->size()));
        if (!index) return std::nullopt;
        rows.begin = static_cast<int64_t>(*index);
        rows.count = 1;
        if (rows.begin < 0 && node.attrs.string("mode", "fast") == "fast")
            rows.begin += shape->at(rows.axis);
    } else {
        const Extents axes = node.attrs.integers("axes", {});
        const Extents begin = node.attrs.integers("begin", {});
        if (axes.size() != 1 || node.attrs.integers("strides", {1}) != Extents{1})
            return std::nullopt;
        rows.axis = static_cast<size_t>(normalizedAxis(axes[0], shape->size()));
        rows.begin = begin[0] < 0 ? begin[0] + shape->at(rows.axis) : begin[0];
        rows.count = result->at(rows.axis);
    }
    const bool isInside = rows.begin >= 0 && rows.count > 0 &&
                          rows.begin + rows.count <= shape->at(rows.axis) &&
                          rows.count < shape->at(rows.axis);
    return isInside ? std::optional(rows) : std::nullopt;
}

} // namespace tenon::compiler
