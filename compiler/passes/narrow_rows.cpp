// SPDX-License-Identifier: Apache-2.0
// NarrowRows: where of [B, S, C], the result of a chain of operators, some rows are read only (a
// classifier reads one token, [B, 1, C], of its last layer), the chain computes those.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/row_demand.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

/// Operators that compute less, and the rows that are left of each.
struct Region
{
    std::vector<NodeId> nodes; ///< readers first
    std::map<NodeId, Rows> rows;
    std::map<NodeId, RowDemand> demands;
    bool isWorthIt = false; ///< some operator does much more than to move its data
};

class RowNarrower
{
public:
    RowNarrower(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (size_t at = 0; at < m_function.order.size(); ++at) {
            const NodeRecord& node = m_module.node(m_function.order[at]);
            const auto rows = selectedRows(m_module, node);
            if (!rows) continue;
            const Region region = regionOf(at, *rows);
            if (region.isWorthIt) patches.push_back(patchOf(node, *rows, region));
        }
        return patches;
    }

private:
    /// From the selection at m_function.order[at] upwards.
    Region regionOf(size_t at, const Rows& rows) const
    {
        Region region;
        const NodeId selection = m_function.order[at];
        region.rows[m_module.node(selection).operands[0].node] = rows;
        while (at-- > 0) {
            const NodeRecord& node = m_module.node(m_function.order[at]);
            const auto wanted = region.rows.find(node.id);
            if (wanted == region.rows.end() || !isReadFor(node, selection, wanted->second, region))
                continue;
            auto demand = rowDemandOf(m_module, node, wanted->second);
            if (!demand) continue;
            region.nodes.push_back(node.id);
            region.isWorthIt =
                region.isWorthIt || isOneOf(node, denseOp, qnnDenseOp, attentionOp, layerNormOp);
            for (size_t i = 0; i < node.operands.size(); ++i)
                if (demand->operands[i])
                    region.rows.emplace(node.operands[i].node, *demand->operands[i]);
            region.demands.emplace(node.id, *std::move(demand));
        }
        return region;
    }

    /// True when every reader wants just these rows of the node's result.
    bool isReadFor(const NodeRecord& node, NodeId selection, const Rows& rows,
                   const Region& region) const
    {
        if (m_uses.isResult(node.id)) return false;
        for (const NodeId user : m_uses.users(node.id)) {
            if (user == selection) continue;
            const auto found = region.demands.find(user);
            if (found == region.demands.end()) return false;
            const std::vector<ValueRef>& operands = m_module.node(user).operands;
            for (size_t i = 0; i < operands.size(); ++i)
                if (operands[i].node == node.id && found->second.operands[i] != rows) return false;
        }
        return true;
    }

    Patch patchOf(const NodeRecord& selection, const Rows& rows, const Region& region) const
    {
        const int64_t all = knownShape(m_module, selection.operands[0])->at(rows.axis);
        std::vector<NodeId> from(region.nodes.rbegin(), region.nodes.rend());
        from.push_back(selection.id);
        PatchWriter patch(m_module, m_function.id, "narrow-rows",
                          nodeLabel(m_module, selection) + " reads " + std::to_string(rows.count) +
                              " of " + std::to_string(all) + " rows",
                          from);
        for (auto id = region.nodes.rbegin(); id != region.nodes.rend(); ++id) {
            NodeRecord record = m_module.node(*id);
            const RowDemand& demand = region.demands.at(*id);
            for (size_t i = 0; i < record.operands.size(); ++i)
                if (demand.operands[i] && !region.demands.count(record.operands[i].node))
                    record.operands[i] =
                        sliceOf(patch, record.operands[i], *demand.operands[i], selection);
            record.attrs = demand.attrs;
            record.types.clear();
            patch.change(std::move(record));
        }
        // What selected the rows has nothing left to choose from.
        NodeRecord rest = selection;
        rest.op = reshapeOp.name;
        rest.operands = {selection.operands[0]};
        rest.attrs = {{"newshape", *knownShape(m_module, {selection.id, 0})}};
        patch.change(std::move(rest));
        return patch.take();
    }

    /// The rows of a value that others read whole.
    ValueRef sliceOf(PatchWriter& patch, ValueRef value, const Rows& rows,
                     const NodeRecord& selection) const
    {
        NodeRecord slice =
            newOpNode(m_module, std::string(stridedSliceOp.name), {value},
                      {{"axes", std::vector<int64_t>{static_cast<int64_t>(rows.axis)}},
                       {"begin", std::vector<int64_t>{rows.begin}},
                       {"end", std::vector<int64_t>{rows.begin + rows.count}}});
        slice.origin = selection.origin;
        const NodeId id = slice.id;
        patch.change(std::move(slice));
        return {id, 0};
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runNarrowRows(const Module& module, const PassContext&)
{
    return rewriteFunctions<RowNarrower>(module);
}

} // namespace tenon::compiler
